"""Attention checks, or traps: questions whose answer is known, to tell who listens.

Judgments suggest them; the organiser should listen to each before it is used, and delete those whose answer is not
plain. A trap that careful people get wrong costs good participants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import LIST_LENGTH, SEED, TRAPS, checked
from adjudge.errors import AdjudgeError, warn
from adjudge.preferences.generation import JudgmentsByScale, Material, material
from adjudge.preferences.questions import Questions
from adjudge.seeds import Seed, as_seed
from adjudge.text import percent

GOOD_FROM = 2 / 3
"""Least share of the highest grade of a plainly good document: 67 on Fine, *very similar* on Broad."""
BAD_TO = 0.2
"""Largest share of the highest grade of a plainly bad document: 20 on Fine, *not similar* on Broad."""
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
    would. But the lists differ, and a participant may honestly prefer one: they are dealt so that their mean grades
    are as near as possible, and ``strict=False`` accepts a preference, too (only the opposite is wrong then). Lists
    of queries with too few such documents are the same documents in another order. In *the same* any preference is
    wrong, whatever the documents.

    Grades are shares of the highest one, their mean where there are several scales. A query gives one trap as long as
    there are others. Kinds that the judgments do not allow are left out with a warning; with none of the first three
    there is an error. The same seed makes the same traps.

    >>> from adjudge.formats.reading import read_judgments
    >>> grades = {f"d{i}": 100 - 10 * i for i in range(11)}
    >>> traps = make_traps(read_judgments({"q": grades}, scale="fine"), per_choice=1, k=2)
    >>> [("|".join(sorted(trap.expected)), trap.a, trap.b) for trap in traps.questions][:2]
    [('a', ('d0', 'd1'), ('d9', 'd10')), ('b', ('d9', 'd10'), ('d0', 'd1'))]
    """
    found = _Proposals(material(judgments, None, k), np.random.default_rng(as_seed(seed)))
    also = frozenset[str]() if strict else frozenset({"a", "b"})
    kinds: dict[str, tuple[frozenset[str], Iterator[tuple[int, Ints]]]] = {
        "a": (frozenset({"a"}), found.proposals(found.best_and_worst)),
        "b": (frozenset({"b"}), found.proposals(found.worst_and_best)),
        "both good": (frozenset({"good"}) | also, found.proposals(found.both_good)),
        "both bad": (frozenset({"bad"}) | also, found.proposals(found.both_bad)),
        "the same": (frozenset({"good", "bad"}), found.proposals(found.the_same)),
    }
    made: list[tuple[str, int, Ints]] = []
    for _ in range(per_choice):
        made += [(kind, *trap) for kind, (_, traps) in kinds.items() if (trap := next(traps, None)) is not None]
    counts = Counter(kind for kind, _, _ in made)
    if not set(counts) - {"the same"}:
        raise AdjudgeError(
            f"expected lists with a plain answer (mean grades {percent(APART)} of the scale apart, or every document "
            f"graded at least {percent(GOOD_FROM)} or at most {percent(BAD_TO)} of it), got none: these judgments "
            "allow no traps"
        )
    few = [f"{counts[kind]} of {per_choice} for {kind}" for kind in kinds if counts[kind] < per_choice]
    if few:
        warn(f"The judgments allow fewer traps than asked: {', '.join(few)}.", stacklevel=2)
    return found.material.questions(
        np.array([query for _, query, _ in made], dtype=np.int64),
        np.stack([lists for _, _, lists in made]),
        prefix="t",
        expected=[kinds[kind][0] for kind, _, _ in made],
    )


@dataclass
class _Proposals:
    """Pairs of lists of each kind; a query that has been used comes last."""

    material: Material
    rng: np.random.Generator

    def __post_init__(self) -> None:
        scales = [np.maximum(self.material.shares(scale), 0.0) for scale in self.material.grades]
        self.shares: Floats = np.mean(scales, axis=0)  # (queries, width), NaN past the end
        self.used = np.zeros(len(self.material))
        noise = self.rng.random(self.shares.shape) * 1e-6  # equal grades in random order
        self.order = np.argsort(-(self.shares + noise), axis=1, kind="stable")  # best first, NaN last
        self.turn = self.rng.permutation(len(self.material))
        self.seen: set[tuple[int, ...]] = set()

    def proposals(self, make: _Maker) -> Iterator[tuple[int, Ints]]:
        """Query and lists (2, k), as long as there are any that are new."""
        able = [query for query in np.flatnonzero(self.turn < _LOOKED_AT).tolist() if make(query) is not None]
        misses = 0
        while able and misses < 20:
            query = min(able, key=lambda query: (self.used[query], self._rank(make, query)))
            made = make(query)
            self.used[query] += 1
            key = (query, *(() if made is None else np.concatenate(made).tolist()))
            misses = misses + 1 if key in self.seen else 0
            if made is not None and key not in self.seen:
                self.seen.add(key)
                yield query, np.stack(made)

    def _rank(self, make: _Maker, query: int) -> float:
        """What makes a query come first: the largest difference, or enough documents for two lists; then luck."""
        if make in (self.best_and_worst, self.worst_and_best):
            return -self._apart(query)[2]
        made = make(query) if make in (self.both_good, self.both_bad) else None
        few = made is not None and set(made[0].tolist()) == set(made[1].tolist())
        return float(self.turn[query]) + len(self.material) * few

    def _apart(self, query: int) -> tuple[Ints, Ints, float]:
        """The best documents, the worst, and the difference between their mean grades."""
        k, size = self.material.k, int(self.material.sizes[query])
        best, worst = self.order[query, :k], self.order[query, size - k : size]
        return best, worst, float(self.shares[query, best].mean() - self.shares[query, worst].mean())

    def best_and_worst(self, query: int) -> tuple[Ints, Ints] | None:
        best, worst, difference = self._apart(query)
        return (best, worst) if difference >= APART else None

    def worst_and_best(self, query: int) -> tuple[Ints, Ints] | None:
        made = self.best_and_worst(query)
        return made and (made[1], made[0])

    def both_good(self, query: int) -> tuple[Ints, Ints] | None:
        return self._dealt(query, self.shares[query] >= GOOD_FROM - 1e-9)

    def both_bad(self, query: int) -> tuple[Ints, Ints] | None:
        return self._dealt(query, self.shares[query] <= BAD_TO + 1e-9)

    def the_same(self, query: int) -> tuple[Ints, Ints] | None:
        chosen = self.rng.permutation(int(self.material.sizes[query]))[: self.material.k]
        return chosen, chosen

    def _dealt(self, query: int, fit: Mask) -> tuple[Ints, Ints] | None:
        """Documents dealt to two lists, as 1 2 2 1 1 2 2 1, or the same ones in two orders where they are few."""
        k = self.material.k
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
