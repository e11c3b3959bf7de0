"""Traps: questions whose answer is known, to tell who listens.

Judgments suggest them; the organiser should listen to every one before it is used, and delete those whose answer is
not plain. A trap that careful people get wrong costs good participants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import LIST_LENGTH, SEED, TRAPS, checked
from adjudge.errors import AdjudgeError, warn
from adjudge.preferences.generation import JudgmentsByScale, Material, material
from adjudge.preferences.questions import Questions
from adjudge.seeds import Seed, as_seed

GOOD_FROM = 2 / 3
"""Share of the highest grade from which on a document is plainly good: 67 on Fine, *very similar* on Broad."""
BAD_TO = 0.2
"""Share of the highest grade up to which a document is plainly bad: 20 on Fine, *not similar* on Broad."""
APART = 0.5
"""Least difference between the mean grades of the two lists of a trap whose answer is one of them."""

_LOOKED_AT = 2000  # queries, taken at random where there are more
_Maker = Callable[[int], tuple[Ints, Ints] | None]


@checked(per_choice=TRAPS, k=LIST_LENGTH, seed=SEED)
def make_traps(
    judgments: JudgmentsByScale, *, per_choice: int = 5, k: int = 5, strict: bool = True, seed: Seed = 0
) -> Questions:
    """Propose ``per_choice`` traps of each kind, named t1, t2, …, the kinds taking turns.

    ============= ============================================================= ==================
    kind          lists                                                         expected
    ============= ============================================================= ==================
    a, b          the best documents of a query, and its worst                  the better one
    both good     documents graded at least :data:`GOOD_FROM`, dealt evenly     good
    both bad      documents graded at most :data:`BAD_TO`, dealt evenly         bad
    the same      one list twice                                                good or bad
    ============= ============================================================= ==================

    *Both good* and *both bad* expect that one answer only: if a preference passed as well, three of four blind guesses
    would. But the lists differ, and somebody may honestly like one better: they are dealt so that their mean grades
    are as near as can be, and ``strict=False`` makes a preference right, too (only the opposite is wrong then). Lists
    of queries with too few such documents are the same documents in another order. In *the same* any preference is
    wrong, whatever the documents.

    Grades are shares of the highest one, their mean where there are several scales. A query gives one trap as long as
    there are others. Kinds that the judgments do not allow are left out with a warning; with none of the first three
    there is an error. The same seed makes the same traps.

    >>> from adjudge.formats.reading import read_judgments
    >>> grades = {f"d{i}": 100 - 10 * i for i in range(11)}
    >>> traps = make_traps(read_judgments({"q": grades}, scale="fine"), per_choice=1, k=2)
    >>> [("|".join(sorted(one.expected)), one.a, one.b) for one in traps.questions][:2]
    [('a', ('d0', 'd1'), ('d9', 'd10')), ('b', ('d9', 'd10'), ('d0', 'd1'))]
    """
    seed = as_seed(seed)
    stuff = material(judgments, None, k)
    proposals = _Proposals(stuff, _shares(stuff), np.random.default_rng(seed))
    either = frozenset({"a", "b"})
    kinds: dict[str, tuple[frozenset[str], Iterator[tuple[int, Ints]]]] = {
        "a": (frozenset({"a"}), proposals.of(proposals.apart)),
        "b": (frozenset({"b"}), proposals.of(proposals.apart_swapped)),
        "both good": (frozenset({"good"}) | (frozenset() if strict else either), proposals.of(proposals.both_good)),
        "both bad": (frozenset({"bad"}) | (frozenset() if strict else either), proposals.of(proposals.both_bad)),
        "the same": (frozenset({"good", "bad"}), proposals.of(proposals.the_same)),
    }
    found: dict[str, list[tuple[int, Ints, frozenset[str]]]] = {kind: [] for kind in kinds}
    for _ in range(per_choice):
        for kind, (expected, makes) in kinds.items():
            if (made := next(makes, None)) is not None:
                found[kind].append((*made, expected))
    _check(found, per_choice)
    turns = [made[turn] for turn in range(per_choice) for made in found.values() if turn < len(made)]
    return stuff.questions(
        np.array([query for query, _, _ in turns], dtype=np.int64),
        np.stack([lists for _, lists, _ in turns]),
        names=[f"t{i}" for i in range(1, len(turns) + 1)],
        expected=[expected for _, _, expected in turns],
    )


def _check(found: dict[str, list[tuple[int, Ints, frozenset[str]]]], per_choice: int) -> None:
    """Refuse what has no plain answer at all; say what there is little of."""
    if not any(made for kind, made in found.items() if kind != "the same"):
        raise AdjudgeError(
            f"expected lists with a plain answer (mean grades {APART:.0%} of the scale apart, or every document graded "
            f"at least {GOOD_FROM:.0%} or at most {BAD_TO:.0%} of it), got none: these judgments allow no traps"
        )
    few = [f"{len(made)} of {per_choice} for {kind}" for kind, made in found.items() if len(made) < per_choice]
    if few:
        warn(f"The judgments allow fewer traps than asked: {', '.join(few)}.", stacklevel=3)


def _shares(stuff: Material) -> Floats:
    """Grade of each document as a share of the highest, mean over scales: (queries, width), NaN past the end."""
    shares: Floats = np.mean([np.maximum(stuff.shares(scale), 0.0) for scale in stuff.grades], axis=0)
    return shares


@dataclass
class _Proposals:
    """Pairs of lists of each kind; a query that has been used comes last."""

    stuff: Material
    shares: Floats
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.used = np.zeros(len(self.stuff))
        noise = self.rng.random(self.shares.shape) * 1e-6  # equal grades in random order
        self.order = np.argsort(-(self.shares + noise), axis=1)  # best first, NaN last
        self.turn = self.rng.permutation(len(self.stuff))
        self.seen: set[tuple[int, ...]] = set()

    def of(self, make: _Maker) -> Iterator[tuple[int, Ints]]:
        """Query and lists (2, k), as long as there are any that are new."""
        able = [query for query in np.flatnonzero(self.turn < _LOOKED_AT).tolist() if make(query) is not None]
        misses = 0
        while able and misses < 20:
            query = min(able, key=lambda one: (self.used[one], self._rank(make, one)))
            made = make(query)
            self.used[query] += 1
            key = (query, *(() if made is None else np.concatenate(made).tolist()))
            misses = misses + 1 if key in self.seen else 0
            if made is not None and key not in self.seen:
                self.seen.add(key)
                yield query, np.stack(made)

    def _rank(self, make: _Maker, query: int) -> float:
        """What makes a query come first: the largest difference, or enough documents for two lists; then luck."""
        if make in (self.apart, self.apart_swapped):
            top, bottom = self._ends(query)
            return -float(self.shares[query, top].mean() - self.shares[query, bottom].mean())
        made = make(query) if make in (self.both_good, self.both_bad) else None
        few = made is not None and set(made[0].tolist()) == set(made[1].tolist())
        return float(self.turn[query]) + len(self.stuff) * few

    def _ends(self, query: int) -> tuple[Ints, Ints]:
        k, size = self.stuff.k, int(self.stuff.sizes[query])
        return self.order[query, :k], self.order[query, size - k : size]

    def apart(self, query: int) -> tuple[Ints, Ints] | None:
        """The best documents, then the worst."""
        top, bottom = self._ends(query)
        return (top, bottom) if self.shares[query, top].mean() - self.shares[query, bottom].mean() >= APART else None

    def apart_swapped(self, query: int) -> tuple[Ints, Ints] | None:
        """The worst documents, then the best."""
        made = self.apart(query)
        return None if made is None else (made[1], made[0])

    def both_good(self, query: int) -> tuple[Ints, Ints] | None:
        """Two lists of good documents."""
        return self._dealt(query, self.shares[query] >= GOOD_FROM - 1e-9)

    def both_bad(self, query: int) -> tuple[Ints, Ints] | None:
        """Two lists of bad documents."""
        return self._dealt(query, self.shares[query] <= BAD_TO + 1e-9)

    def _dealt(self, query: int, fit: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[Ints, Ints] | None:
        """Documents dealt to two lists, as 1 2 2 1 1 2 2 1, or the same ones in two orders where they are few."""
        k = self.stuff.k
        able = self.order[query][fit[self.order[query]]]
        if len(able) < k or k == 1 == len(able):
            return None
        if len(able) < 2 * k:
            able = able[:k]
            return able, able[::-1].copy()
        start = int(self.rng.integers(len(able) - 2 * k + 1))
        hand = able[start : start + 2 * k]
        first = np.isin(np.arange(2 * k) % 4, (0, 3))
        return (hand[first], hand[~first]) if first.sum() == k else (hand[::2], hand[1::2])

    def the_same(self, query: int) -> tuple[Ints, Ints] | None:
        """One list of random documents, twice."""
        chosen = self.rng.permutation(int(self.stuff.sizes[query]))[: self.stuff.k]
        return chosen, chosen
