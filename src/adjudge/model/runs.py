"""Runs: what each system retrieved for each query, in rank order, as integer codes; and the pools that they make.

One rule each, for every measure:

ties
    Documents are ranked by score, highest first, and equal scores by document identifier, last in byte order first, as
    trec_eval does. Scores are kept in double precision and compared in single, as trec_eval 9 does, or in double, as
    trec_eval 10 does. Without scores the order given is the ranking.
duplicates
    A document that comes twice in one ranking keeps its best rank; the others are dropped with a warning.

Systems find the same documents, so that m systems pooled at cutoff k need fewer than k m judgments per query.
:func:`overlap` tells from existing runs how many fewer, for any number of systems.

>>> import adjudge as aj
>>> runs = aj.read({"A": {"q1": list("abc"), "q2": list("ab")}, "B": {"q1": list("abd"), "q2": list("ca")}}).runs
>>> print(overlap(runs, cutoffs=[1, 2]))
Pools, 2 systems x 2 queries
cutoff  documents  share
     1        1.5  0.750
     2        2.5  0.625
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Codes, Floats, Ints, Mask
from adjudge.checks import COUNT, Precision, Whole, checked
from adjudge.errors import AdjudgeError, shown
from adjudge.model.vocabulary import Vocabulary
from adjudge.text import counted, listed

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Run:
    """The rankings of one system, query after query.

    ``documents[offsets[q]:offsets[q + 1]]`` is the ranking for the query with code q; codes past the end have none.
    ``precision`` is the one in which scores are compared.
    """

    system: str
    team: str | None
    offsets: Ints
    documents: Codes
    scores: Floats | None
    precision: Precision = "single"

    @property
    def lengths(self) -> Ints:
        """Number of documents retrieved for each query code."""
        return np.diff(self.offsets)

    @property
    def query_codes(self) -> Codes:
        """Query code of each retrieved document."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), self.lengths)

    def keep(self, mask: Mask) -> Run:
        """The same run with only the documents under the mask."""
        kept = np.concatenate([[0], np.cumsum(mask)])[self.offsets]
        scores = None if self.scores is None else self.scores[mask]
        return replace(self, offsets=kept, documents=self.documents[mask], scores=scores)

    def compared_scores(self) -> npt.NDArray[np.floating] | None:
        """Scores in the precision of comparison: documents with equal scores are tied."""
        return None if self.scores is None else in_precision(self.scores, self.precision)

    def cut(self, depth: int) -> Run:
        """The same run with at most the first ``depth`` documents of every ranking."""
        rank = np.arange(len(self.documents)) - np.repeat(self.offsets[:-1], self.lengths)
        return self if (self.lengths <= depth).all() else self.keep(rank < depth)


@dataclass(frozen=True)
class Runs(Sequence[Run]):
    """Runs of several systems with the same vocabularies; ``cut_at`` is the depth at which they were cut, if any."""

    runs: tuple[Run, ...]
    queries: Vocabulary
    documents: Vocabulary
    cut_at: int | None = None

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, index: int) -> Run:  # type: ignore[override]
        return self.runs[index]

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __repr__(self) -> str:
        retrieved = sum(len(run.documents) for run in self)
        return f"Runs({counted(len(self), 'system')}, {counted(retrieved, 'document')} retrieved)"

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in order of appearance."""
        return tuple(run.system for run in self)

    @property
    def teams(self) -> dict[str, str]:
        """Team of each system that has one."""
        return {run.system: run.team for run in self if run.team is not None}

    @property
    def depth(self) -> int:
        """Length of the longest ranking."""
        return max((int(run.lengths.max(initial=0)) for run in self), default=0)

    def to_polars(self) -> pl.DataFrame:
        """Table ``system, query, document[, score][, team]`` in rank order; scores where every system has them."""
        import polars as pl

        scored = all(run.scores is not None for run in self)
        if not scored and any(run.scores is not None for run in self):
            raise AdjudgeError("Runs with and without scores do not fit in one table; write them separately.")
        parts = [
            pl.DataFrame(
                {"query": self.queries.decode(run.query_codes), "document": self.documents.decode(run.documents)}
            )
            .with_columns(pl.Series("score", run.scores) if scored else [])
            .select(
                pl.lit(run.system).alias("system"), pl.all(), *([pl.lit(run.team).alias("team")] if self.teams else [])
            )
            for run in self
        ]
        return pl.concat(parts, how="vertical_relaxed")


def encode_run(
    frame: pl.DataFrame,
    *,
    system: str,
    team: str | None,
    queries: Vocabulary,
    documents: Vocabulary,
    precision: Precision = "single",
) -> tuple[Run, int, str]:
    """Code, rank and check one system's rows ``query, document[, score | rank]``.

    Also tells how many documents came twice, and which was the first.
    """
    query = _encode_sorted(frame["query"], queries)
    document = documents.encode(frame["document"])
    scores = frame["score"].to_numpy() if "score" in frame.columns else None
    if scores is not None and not np.isfinite(scores).all():
        raise AdjudgeError(f"System {shown(system)}: expected finite scores, got {scores[~np.isfinite(scores)][0]}")
    by = scores if scores is not None else -frame["rank"].to_numpy() if "rank" in frame.columns else None
    by = None if by is None else in_precision(by, precision)
    order = _ranking(query, by, document, documents if scores is not None else None)
    if order is not None:
        query, document = query[order], document[order]
        scores = scores[order] if scores is not None else None
    offsets = np.searchsorted(query, np.arange(len(queries) + 1)).astype(np.int64)
    run = Run(system, team, offsets, document, scores, precision)
    again = _repeats(run)
    if again is None:
        return run, 0, ""
    i = int(np.flatnonzero(again)[0])
    first = f"{shown(documents[document[i]])} for query {shown(queries[query[i]])} of {shown(system)}"
    return run.keep(~again), int(again.sum()), first


def in_precision(scores: npt.NDArray[np.floating], precision: Precision) -> npt.NDArray[np.floating]:
    """Scores in a precision; those too large for single precision become infinite, and tie."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32) if precision == "single" else scores


def _encode_sorted(column: pl.Series, queries: Vocabulary) -> Codes:
    """Query codes; rows of one query are mostly together, so only the first of each stretch is looked up."""
    stretches = column.rle().struct
    return np.repeat(queries.encode(stretches.field("value")), stretches.field("len").to_numpy())


def _ranking(
    query: Codes, scores: npt.NDArray[np.floating] | None, document: Codes, documents: Vocabulary | None
) -> npt.NDArray[np.intp] | None:
    """Order of the rows by query, score and identifier; None if they are in that order already."""
    grouped = bool((query[1:] >= query[:-1]).all())
    if scores is None:
        return None if grouped else np.argsort(query, kind="stable")
    same_query = query[1:] == query[:-1]
    order = None
    if not grouped or bool((same_query & (scores[1:] > scores[:-1])).any()):
        order = np.lexsort((-scores, query))
        query, scores, document = query[order], scores[order], document[order]
        same_query = query[1:] == query[:-1]
    tied = same_query & (scores[1:] == scores[:-1])
    if documents is None or not tied.any():
        return order
    fixed = _break_ties(tied, document, documents)
    return fixed if order is None else order[fixed]


def _break_ties(tied: Mask, document: Codes, documents: Vocabulary) -> npt.NDArray[np.intp]:
    """Order that sorts stretches of tied rows by identifier, descending; ``tied[i]`` links rows i and i + 1."""
    order = np.arange(len(document))
    rows = np.flatnonzero(np.concatenate([tied, [False]]) | np.concatenate([[False], tied]))
    group = np.cumsum(~np.concatenate([[False], tied]))[rows]
    codes, inverse = np.unique(document[rows], return_inverse=True)
    place = documents.decode(codes).rank("ordinal", descending=True).to_numpy()[inverse]
    order[rows] = rows[np.lexsort((place, group))]
    return order


def _repeats(run: Run) -> Mask | None:
    """Which rows repeat a document of the same ranking at a better rank; None if no row does."""
    lengths = run.lengths
    if run.documents.size == 0 or not _has_repeats(run, lengths):
        return None
    keys = (run.query_codes.astype(np.int64) << 32) | run.documents
    _, firsts = np.unique(keys, return_index=True)
    mask = np.ones(len(keys), dtype=np.bool_)
    mask[firsts] = False
    return mask


def _has_repeats(run: Run, lengths: Ints) -> bool:
    """Sort each ranking by code and look for equal neighbours: cheap where rankings are of like length."""
    longest, filled = int(lengths.max()), lengths[lengths > 0]
    if longest * len(filled) > 2 * len(run.documents):
        keys = np.sort((run.query_codes.astype(np.int64) << 32) | run.documents)
        return bool((keys[1:] == keys[:-1]).any())
    if (filled == longest).all():
        rows = np.sort(run.documents.reshape(-1, longest), axis=1)
    else:
        rows = np.tile(-1 - np.arange(longest, dtype=np.int32), (len(filled), 1))
        rows[np.arange(longest) < filled[:, None]] = run.documents
        rows.sort(axis=1)
    return bool((rows[:, 1:] == rows[:, :-1]).any())


_BLOCK = 1 << 17  # retrieved documents sorted at a time: memory stays low, whatever the runs


@dataclass(frozen=True, eq=False)
class Overlap:
    """How many documents per query must be judged, by number of systems and cutoff, according to existing runs.

    ``incidence[c, j - 1]`` is the number of pairs of query and document that exactly j of the ``n_systems`` systems
    have in their top ``cutoffs[c]``, over the ``n_queries`` queries that at least one system answered.
    """

    cutoffs: tuple[int, ...]
    n_systems: int
    n_queries: int
    incidence: Ints

    def pool_size(self, cutoff: int, systems: int | None = None) -> float:
        """Mean number of different documents per query in the top k = ``cutoff`` of m = ``systems`` systems, or all.

        With n systems at hand and Q_j pairs of query and document that exactly j of them retrieved:

        - m <= n: the mean over all subsets of m systems, Σ_j Q_j (1 - C(n - j, m) / C(n, m)). For m = n it is what was
          observed, S = Σ_j Q_j.
        - m > n: S + Q_0 (1 - (1 - Q_1 / (n Q_0 + Q_1))^(m - n)), with the pairs yet unseen after Chao,
          Q_0 = (n - 1)/n Q_1² / (2 Q_2), or (n - 1)/n Q_1 (Q_1 - 1)/2 where Q_2 = 0; nothing is added where Q_0 = 0.

        Either is then divided by the number of queries. Counts are summed over queries before Q_0 is estimated: what
        is sampled is the system, with all its lists, and a single query often has no document retrieved just twice.
        (From all subsets of 6 systems of MIREX 2011 at k = 1, sizes for 18 are 1 % too low on average; estimated query
        by query, 18 %. With more systems or documents the two agree.)

        The size grows with m, and is never more than k m. It also grows with k: beyond n, where the estimate of one
        cutoff may exceed that of a deeper one by chance, the deeper one takes it over from the ``cutoffs`` measured.

        New systems are taken to be like those at hand, so a prediction is as good as these are typical; and Q_0 is a
        lower bound, so that far beyond n it may be low. From all subsets of 9 systems of MIREX 2011, sizes for 18 at
        k = 5 are 1 % too low on average, with a standard deviation of 11 %: a few systems are much alike, most are not.
        One system says nothing about overlap: then pools of more are refused.

        Colwell, R. K. et al. Models and Estimators Linking Individual-Based and Sample-Based Rarefaction,
        Extrapolation and Comparison of Assemblages. J. Plant Ecology 5(1), 2012. doi:10.1093/jpe/rtr044

        >>> import adjudge as aj
        >>> runs = aj.read({"A": {"q": list("abc")}, "B": {"q": list("abd")}, "C": {"q": list("eaf")}}).runs
        >>> found = overlap(runs, cutoffs=[3])
        >>> [round(found.pool_size(3, systems=m), 2) for m in (1, 2, 3, 4, 6)]
        [3.0, 4.67, 6.0, 7.07, 8.6]
        """
        if cutoff not in self.cutoffs:
            known = listed([str(k) for k in self.cutoffs], most=10)
            raise AdjudgeError(f"Expected a cutoff at which overlap was measured ({known}), got {shown(cutoff)}")
        place = self.cutoffs.index(cutoff)
        m = self.n_systems if systems is None else int(COUNT.check("systems", systems))
        if m > self.n_systems:
            return float(self._extrapolated(m)[place] / self.n_queries)
        kept = [1 - comb(self.n_systems - j, m) / comb(self.n_systems, m) for j in range(1, self.n_systems + 1)]
        return float(self.incidence[place] @ np.array(kept) / self.n_queries)

    def share(self, cutoff: int, systems: int | None = None) -> float:
        """Size of the pool as a share of all that is retrieved, ``pool_size(k, m) / (k m)``: 1 without any overlap.

        It is OV in Urbano's thesis. Lists shorter than k lower it as overlap does.

        >>> import adjudge as aj
        >>> runs = aj.read({"A": {"q": list("ab")}, "B": {"q": list("ca")}}).runs
        >>> overlap(runs, cutoffs=[2]).share(2)
        0.75
        """
        m = self.n_systems if systems is None else systems
        return self.pool_size(cutoff, m) / (int(cutoff) * m)

    def __str__(self) -> str:
        lines = [f"{k:6d}  {self.pool_size(k):9.1f}  {self.share(k):5.3f}" for k in self.cutoffs]
        size = f"{counted(self.n_systems, 'system')} x {counted(self.n_queries, 'query')}"
        return "\n".join([f"Pools, {size}", "cutoff  documents  share", *lines])

    def _extrapolated(self, m: int) -> Floats:
        """Pairs in the pools of m > n systems, for each cutoff (Colwell et al. 2012)."""
        n = self.n_systems
        if n == 1:
            raise AdjudgeError(f"Expected runs of at least 2 systems to tell the pool of {m}, got 1")
        once, twice = self.incidence[:, :2].T.astype(np.float64)
        unseen = (n - 1) / n * np.where(twice > 0, once**2 / np.maximum(2 * twice, 1), once * (once - 1) / 2)
        rate = np.divide(once, n * unseen + once, out=np.zeros_like(once), where=unseen > 0)
        sizes = self.incidence.sum(axis=1) - unseen * np.expm1((m - n) * np.log1p(-rate))
        return np.maximum.accumulate(sizes)


@checked(n_queries=COUNT)
def overlap(runs: Runs, *, cutoffs: Iterable[int], n_queries: int | None = None) -> Overlap:
    """Count how many systems retrieved each document in their top k, for every k of ``cutoffs``.

    ``n_queries`` keeps the queries with the first codes, such as the judged ones, which come first; None keeps all.
    A system without a list for a query, or with one shorter than k, adds what it has. Queries that no system answered
    are left out, not counted as empty pools. Cutoffs deeper than every list are refused: nobody knows what would be
    there.

    >>> import adjudge as aj
    >>> runs = aj.read({"A": {"q1": list("ab"), "q2": list("ab")}, "B": {"q1": list("ba"), "q2": list("cd")}}).runs
    >>> found = overlap(runs, cutoffs=[1, 2])
    >>> found.incidence.tolist()
    [[4, 0], [4, 2]]
    >>> found.pool_size(2), overlap(runs, cutoffs=[2], n_queries=1).pool_size(2)
    (3.0, 2.0)
    """
    wanted = tuple(sorted({int(COUNT.check("cutoffs", cutoff)) for cutoff in cutoffs}))
    if not wanted:
        raise AdjudgeError("Expected at least one cutoff, got none")
    known = len(runs.queries)
    kept = known if n_queries is None else int(Whole(1, known).check("n_queries", n_queries))
    lengths = np.array([np.diff(_offsets(run, 0, kept)) for run in runs], dtype=np.int64).reshape(len(runs), kept)
    depth = int(lengths.max(initial=0))
    if depth == 0:
        raise AdjudgeError("Expected runs with documents for these queries, got none")
    if wanted[-1] > depth:
        why = "where the runs were cut when read" if runs.cut_at == depth else "the depth of the runs"
        raise AdjudgeError(f"Cutoffs must be at most {depth}, {why}, got {wanted[-1]}")
    retrieved = np.minimum(lengths, wanted[-1]).sum(axis=0)
    return Overlap(wanted, len(runs), int(np.count_nonzero(retrieved)), _incidence(runs, wanted, retrieved))


def _incidence(runs: Runs, cutoffs: tuple[int, ...], retrieved: Ints) -> Ints:
    """Pairs of query and document that exactly j systems have in their top k, cutoffs x j.

    One sort serves all cutoffs: with the ranks of a pair in order, the j-th of them tells from which cutoff on at least
    j systems have it. ``retrieved`` is how many documents all systems have for each query, within the cutoffs.
    """
    n, depth = len(runs), cutoffs[-1]
    cut = [run.cut(depth) for run in runs]
    entered = np.searchsorted(cutoffs, np.arange(depth), side="right")
    low = len(cutoffs).bit_length()
    high = low + len(runs.documents).bit_length()
    counts = np.zeros(len(cutoffs) * n, dtype=np.int64)
    for start, stop in _blocks(retrieved):
        keys = np.concatenate([_keys(run, _offsets(run, start, stop), entered, low=low, high=high) for run in cut])
        keys.sort()
        firsts = np.flatnonzero(np.diff(keys >> low, prepend=-1))
        place = np.arange(len(keys)) - np.repeat(firsts, np.diff(firsts, append=len(keys)))
        counts += np.bincount((keys & ((1 << low) - 1)) * n + place, minlength=len(counts))
    at_least = counts.reshape(len(cutoffs), n).cumsum(axis=0)
    return -np.diff(at_least, axis=1, append=0)


def _blocks(retrieved: Ints) -> Iterator[tuple[int, int]]:
    """Stretches of queries, each with about as many retrieved documents as one block."""
    filled = np.cumsum(retrieved)
    edges = np.searchsorted(filled, np.arange(_BLOCK, filled[-1], _BLOCK), side="right")
    yield from pairwise(np.unique(np.concatenate([[0], edges, [len(retrieved)]])).tolist())


def _keys(run: Run, offsets: Ints, entered: Ints, *, low: int, high: int) -> Ints:
    """Query, document and the index of the first cutoff that includes it, as one number per retrieved document."""
    lengths = np.diff(offsets)
    query = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    rank = np.arange(offsets[0], offsets[-1]) - np.repeat(offsets[:-1], lengths)
    keys: Ints = (query << high) | (run.documents[offsets[0] : offsets[-1]].astype(np.int64) << low) | entered[rank]
    return keys


def _offsets(run: Run, start: int, stop: int) -> Ints:
    """Where the lists of some queries begin and the last one ends; query codes past the end of the run have none."""
    return run.offsets[np.minimum(np.arange(start, stop + 1), len(run.offsets) - 1)]
