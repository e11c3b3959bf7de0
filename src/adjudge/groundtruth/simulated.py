"""Simulated experts, whose true groups are known: to see what constructions recover, and to test.

The documents of a query fall into true groups. Groups lie on a line, at distances drawn from an exponential
distribution with mean 1 from one to the next; all documents of a group are at the same place. An expert sees each
document at its place plus normal noise, of a deviation of their own (log-normal around ``noise``: people differ by a
third or so), and ranks what they see. What lies furthest is left unranked, by each expert a share of their own around
``unranked``; documents seen nearer to one another than ``ties`` may be tied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.groundtruth.rankings import RankedQuery, Rankings

_PEOPLE_DIFFER = 0.3  # deviation of the logarithm of an expert's noise


@dataclass(frozen=True)
class SimulatedRankings:
    """Rankings, and what nobody knows of real ones: the list that the documents truly make."""

    rankings: Rankings
    truth: PartialLists


def simulate_rankings(
    *,
    queries: int = 11,
    documents: int = 25,
    experts: int = 35,
    groups: int = 10,
    noise: float = 1.0,
    unranked: float = 0.2,
    ties: float = 0.0,
    seed: int = 0,
) -> SimulatedRankings:
    """Rankings of ``documents`` by ``experts`` for each query, the same experts for all.

    >>> simulated = simulate_rankings(queries=2, documents=5, experts=3, groups=2)
    >>> simulated.rankings, [len(one.groups) for one in simulated.truth.values()]
    (Rankings(2 queries, 3 experts, 27 ranks), [2, 2])
    """
    _check(queries, documents, experts, groups, noise=noise, unranked=unranked, ties=ties)
    people = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    deviation = noise * np.exp(_PEOPLE_DIFFER * people.normal(size=experts))
    made = []
    for place in range(queries):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, place)))
        group = np.sort(np.concatenate([np.arange(groups), rng.integers(groups, size=documents - groups)]))
        at = np.cumsum(rng.exponential(size=groups))[group]
        ranks = _ranks(at, deviation, unranked=unranked, ties=ties, rng=rng)
        made.append(_named(f"q{place + 1:0{len(str(queries))}d}", group, ranks, rng))
    ranked, truth = zip(*made, strict=True)
    return SimulatedRankings(Rankings(tuple(ranked)), PartialLists(tuple(truth)))


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


def _named(query: str, group: Ints, ranks: Floats, rng: np.random.Generator) -> tuple[RankedQuery, PartialList]:
    """Names that say nothing of the order: documents are numbered at random."""
    n_experts, n = ranks.shape
    names = [f"d{number + 1:0{len(str(n))}d}" for number in rng.permutation(n)]
    order = np.argsort(names)
    experts = tuple(f"e{number + 1:0{len(str(n_experts))}d}" for number in range(n_experts))
    asked = RankedQuery(query, tuple(names[i] for i in order), experts, ranks[:, order]).counted()
    groups = tuple(tuple(sorted(names[i] for i in np.flatnonzero(group == one))) for one in range(group[-1] + 1))
    return asked, PartialList(query, groups)


def recovered(lists: PartialLists, truth: PartialLists) -> Floats:
    """For each list of ``truth``, the share of pairs of documents that stand as they truly do: before, after, alike.

    Documents of the truth that are in no list are last and alike, as they are for a measure.

    >>> truth = PartialLists.from_groups({"q": [["a"], ["b", "c"]]})
    >>> recovered(PartialLists.from_groups({"q": [["a"], ["b"], ["c"]]}), truth).round(3).tolist()
    [0.667]
    """
    shares = []
    for one in truth.values():
        found = dict(zip(lists[one.query].documents, lists[one.query].group_numbers, strict=True))
        ours = np.array([found.get(name, len(found)) for name in one.documents])
        true = np.array(one.group_numbers)
        first, second = np.triu_indices(len(true), 1)
        same = np.sign(ours[first] - ours[second]) == np.sign(true[first] - true[second])
        shares.append(float(same.mean()) if len(same) else 1.0)
    return np.array(shares)


def _check(queries: int, documents: int, experts: int, groups: int, **shares: float) -> None:
    """Refuse what cannot be simulated."""
    if queries < 1 or documents < 2 or experts < 1:
        raise AdjudgeError(
            "Simulated experts: expected at least 1 query, 2 documents and 1 expert, "
            f"got {queries}, {documents} and {experts}"
        )
    if not 1 <= groups <= documents:
        raise AdjudgeError(f"Simulated experts: expected from 1 to {documents} groups of documents, got {groups}")
    for name, value in shares.items():
        if not (0 <= value < 1 if name == "unranked" else 0 <= value < np.inf):
            raise AdjudgeError(f"Simulated experts: {name} must be {_RANGES.get(name, '0 or more')}, got {value:g}")


_RANGES = {"unranked": "a share from 0 to below 1"}
