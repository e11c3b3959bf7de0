"""Simulated experts, whose true groups are known: to see what constructions recover, and to test.

The documents of a query fall into true groups. Groups lie on a line, at distances drawn from an exponential
distribution with mean 1 from one to the next; all documents of a group are at the same place. An expert sees each
document at its place plus normal noise, of a deviation of their own (log-normal around ``noise``: people differ by a
third or so), and ranks what they see. What lies furthest is left unranked, by each expert a share of their own around
``unranked``; documents seen nearer to one another than ``ties`` may be tied.

Preferences are asked for as a sort asks: all documents against one of them, the pivot, by ``answers`` people per pair;
then those that most people put before the pivot among themselves, and those after it; what most call alike is settled.
Pairs that a sort need not ask about are never asked about. People see documents as above, again for each question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import COUNT, NOT_NEGATIVE, SEED, SEVERAL, SHARE_BELOW_ALL, checked
from adjudge.errors import AdjudgeError
from adjudge.groundtruth.answers import Preferences, PreferredQuery, RankedQuery, Rankings
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.seeds import Seed, as_seed

_SIZES = {"queries": COUNT, "documents": SEVERAL, "experts": COUNT, "groups": COUNT}
_PEOPLE_DIFFER = 0.3  # deviation of the logarithm of an expert's noise


@dataclass(frozen=True)
class SimulatedRankings:
    """Rankings, and what nobody knows of real ones: the list that the documents truly make."""

    rankings: Rankings
    truth: PartialLists


@dataclass(frozen=True)
class SimulatedPreferences:
    """Preferences, and the list that the documents truly make."""

    preferences: Preferences
    truth: PartialLists


@checked(**_SIZES, noise=NOT_NEGATIVE, unranked=SHARE_BELOW_ALL, ties=NOT_NEGATIVE, seed=SEED)
def simulate_rankings(
    *,
    queries: int = 11,
    documents: int = 25,
    experts: int = 35,
    groups: int = 10,
    noise: float = 1.0,
    unranked: float = 0.2,
    ties: float = 0.0,
    seed: Seed = 0,
) -> SimulatedRankings:
    """Rankings of ``documents`` by ``experts`` for each query, the same experts for all.

    >>> simulated = simulate_rankings(queries=2, documents=5, experts=3, groups=2)
    >>> simulated.rankings, [len(true.groups) for true in simulated.truth.values()]
    (Rankings(2 queries, 3 experts, 27 ranks), [2, 2])
    """
    seed = as_seed(seed)
    deviation, ranked, truth = _deviations(experts, noise, seed), list[RankedQuery](), list[PartialList]()
    for query in _names("q", queries):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, len(truth))))
        group, at = _placed(documents, groups, rng)
        ranks = _ranks(at, deviation, unranked=unranked, ties=ties, rng=rng)
        names = _names("d", documents, rng)
        order = np.argsort(names)
        asked = RankedQuery(query, tuple(names[i] for i in order), _names("e", experts), ranks[:, order])
        ranked.append(asked.counted())
        truth.append(_true_list(query, names, group))
    return SimulatedRankings(Rankings(tuple(ranked)), PartialLists(tuple(truth)))


@checked(**_SIZES, answers=COUNT, noise=NOT_NEGATIVE, ties=NOT_NEGATIVE, seed=SEED)
def simulate_preferences(
    *,
    queries: int = 11,
    documents: int = 25,
    experts: int = 35,
    groups: int = 10,
    answers: int = 10,
    noise: float = 1.0,
    ties: float = 0.5,
    seed: Seed = 0,
) -> SimulatedPreferences:
    """Preferences as a sort asks for them: ``answers`` of the ``experts`` say of each pair asked which comes first.

    Documents seen nearer to one another than ``ties`` are called alike.

    >>> simulated = simulate_preferences(queries=2, documents=5, groups=2)
    >>> simulated.preferences, [len(true.groups) for true in simulated.truth.values()]
    (Preferences(2 queries, 100 answers), [2, 2])
    """
    seed = as_seed(seed)
    if answers > experts:
        raise AdjudgeError(f"Simulated experts: expected from 1 to {experts} answers about a pair, got {answers}")
    deviation, asked, truth = _deviations(experts, noise, seed), list[PreferredQuery](), list[PartialList]()
    for query in _names("q", queries):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, len(truth))))
        group, at = _placed(documents, groups, rng)
        names = _names("d", documents, rng)
        rows = _sort_by_asking(at, deviation, answers=answers, ties=ties, rng=rng)
        asked.append(PreferredQuery(query, names, *rows))
        truth.append(_true_list(query, names, group))
    return SimulatedPreferences(Preferences(tuple(asked), _names("e", experts)), PartialLists(tuple(truth)))


def _deviations(experts: int, noise: float, seed: int) -> Floats:
    """How far each expert sees documents from their place."""
    people = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    return noise * np.exp(_PEOPLE_DIFFER * people.normal(size=experts))


def _placed(documents: int, groups: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """The true group of each document, from 0, and where it lies."""
    if groups > documents:
        raise AdjudgeError(f"Simulated experts: expected from 1 to {documents} groups of documents, got {groups}")
    group = np.sort(np.concatenate([np.arange(groups), rng.integers(groups, size=documents - groups)]))
    return group, np.cumsum(rng.exponential(size=groups))[group]


def _sort_by_asking(
    at: Floats, deviation: Floats, *, answers: int, ties: float, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints, Ints]:
    """First and second document, answer and assessor of every question that sorting takes."""
    parts, open_ = [], [rng.permutation(len(at))]
    while open_:
        pivot, *rest = open_.pop().tolist()
        if not rest:
            continue
        others = np.array(rest, dtype=np.int64)
        who = np.stack([rng.permutation(len(deviation))[:answers] for _ in rest])
        seen = deviation[who] * (rng.normal(size=who.shape) - rng.normal(size=who.shape))
        apart = at[others][:, None] - at[pivot] + seen  # above 0: the pivot comes first
        answer = np.where(np.abs(apart) < ties, 0, np.sign(apart)).astype(np.int64)
        is_swapped = rng.random(len(rest)) < 0.5
        sides = np.where(is_swapped, others, pivot), np.where(is_swapped, pivot, others)
        said = np.where(is_swapped[:, None], -answer, answer)
        parts.append((*(np.repeat(side, answers) for side in sides), said.ravel(), who.ravel()))
        votes = np.stack([(answer == value).sum(axis=1) for value in (-1, 0, 1)])
        most = votes == votes.max(axis=0)
        verdict = np.where(most.sum(axis=0) == 1, most.argmax(axis=0) - 1, 0)
        open_ += [side for value in (-1, 1) if len(side := others[verdict == value])]
    first, second, answer, assessor = (np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True))
    return first, second, answer, assessor


def _ranks(at: Floats, deviation: Floats, *, unranked: float, ties: float, rng: np.random.Generator) -> Floats:
    """Experts x documents: what each saw, turned into ranks; at least two documents are always ranked."""
    from scipy.stats import rankdata

    n = len(at)
    seen = at + deviation[:, None] * rng.normal(size=(len(deviation), n))
    if ties > 0:
        seen = np.round(seen / ties)
    share = unranked * rng.uniform(0.0, 2.0, size=(len(deviation), 1))
    kept = np.maximum(np.round(n * (1 - share)), 2)
    ranks: Floats = rankdata(seen, axis=1)
    return np.where(rankdata(seen, axis=1, method="ordinal") <= kept, ranks, np.nan)


def _names(letter: str, n: int, rng: np.random.Generator | None = None) -> tuple[str, ...]:
    """Names with numbers from 1; drawn at random, they say nothing of the order."""
    numbers = range(n) if rng is None else rng.permutation(n)
    return tuple(f"{letter}{number + 1:0{len(str(n))}d}" for number in numbers)


def _true_list(query: str, names: Sequence[str], group: Ints) -> PartialList:
    groups: list[list[str]] = [[] for _ in range(group[-1] + 1)]
    for name, number in sorted(zip(names, group.tolist(), strict=True)):
        groups[number].append(name)
    return PartialList(query, tuple(map(tuple, groups)))


def recovered(lists: PartialLists, truth: PartialLists) -> Floats:
    """For each list of ``truth``, the share of pairs of documents that stand as they truly do: before, after, alike.

    Documents of the truth that are in no list are last and alike, as they are for a measure.

    >>> truth = PartialLists.from_groups({"q": [["a"], ["b", "c"]]})
    >>> recovered(PartialLists.from_groups({"q": [["a"], ["b"], ["c"]]}), truth).round(3).tolist()
    [0.667]
    """
    shares = []
    for query, true_list in truth.items():
        made = dict(zip(lists[query].documents, lists[query].group_numbers, strict=True))
        ours = np.array([made.get(name, len(made)) for name in true_list.documents])
        true = np.array(true_list.group_numbers)
        first, second = np.triu_indices(len(true), 1)
        same = np.sign(ours[first] - ours[second]) == np.sign(true[first] - true[second])
        shares.append(float(same.mean()) if len(same) else 1.0)
    return np.array(shares)
