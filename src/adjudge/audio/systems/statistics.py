"""What can be said of systems before anybody judges: as MIREX reported it, and about hubs.

How many of the nearest documents are of the query's genre, artist and album; how often the most frequent document
appears; how many never do; how often the triangle inequality holds: MIREX's task of audio music similarity derived
these from the distance matrices of participants, besides having people judge some of the lists.

Hubs are documents in far more lists than others. With N the number of lists of k that a document is in, they show in
the skewness of N: 0 where lists are spread evenly, above 1 where few documents fill many lists.

References: https://www.music-ir.org/mirex/wiki/2013:Audio_Music_Similarity_and_Retrieval; Radovanović, Nanopoulos,
Ivanović: Hubs in space: popular nearest neighbors in high-dimensional data, Journal of Machine Learning Research 11,
2487-2531, 2010, https://jmlr.org/papers/v11/radovanovic10a.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems.base import BASELINES, Distances, Sounds
from adjudge.audio.systems.chance import keys_of
from adjudge.audio.systems.distances import blocks
from adjudge.audio.systems.labels import Labels
from adjudge.audio.systems.ranking import nearest_by
from adjudge.checks import check_whole
from adjudge.errors import AdjudgeError
from adjudge.processes import Progress

if TYPE_CHECKING:
    import polars as pl

    from adjudge.model.runs import Run, Runs

CUTOFFS = (5, 10, 20, 50)
"""Lengths of lists in MIREX's statistics."""
LABELS = ("genre", "artist", "album")
FILTERED, PLAIN, GIVEN = "artist filter", "all artists", "as given"
_TRIANGLE_DOCUMENTS = 150  # of which all triples are looked at: 551,300


@dataclass(frozen=True)
class Shared:
    """How many of the first documents share a label with the query, in the mean over queries.

    ``share`` is of the ``cutoff`` first, ``of_possible`` of as many as there are, where these are fewer; NaN where
    nothing could be shared. ``n_queries`` have the label.
    """

    label: str
    cutoff: int
    share: float
    of_possible: float
    n_queries: int


@dataclass(frozen=True, eq=False)
class Occurrences:
    """In how many lists of ``cutoff`` documents each document is; ``counts`` in the order of the documents."""

    cutoff: int
    counts: Ints
    n_lists: int

    @property
    def skewness(self) -> float:
        """Third standardised moment of the counts; NaN where all are equal.

        >>> round(Occurrences(1, np.array([4, 0, 0, 0]), 4).skewness, 3)
        1.155
        """
        centred = self.counts - self.counts.mean()
        variance = float((centred**2).mean())
        return float((centred**3).mean() / variance**1.5) if variance > 0 else float("nan")

    @property
    def hub(self) -> int:
        """Place of the document that is in most lists."""
        return int(self.counts.argmax())

    @property
    def largest(self) -> int:
        """Number of lists that this document is in."""
        return int(self.counts.max(initial=0))

    @property
    def n_hubs(self) -> int:
        """Documents that are in more than five times as many lists as the mean, and in more than five."""
        return int((self.counts > self.usual_most).sum())

    @property
    def usual_most(self) -> float:
        """Five times the mean number of lists that a document is in, or five; what is in more is called a hub."""
        return 5.0 * max(float(self.counts.mean()), 1.0)

    @property
    def never(self) -> float:
        """Share of documents in no list: anti-hubs."""
        return float((self.counts == 0).mean())

    @property
    def coverage(self) -> float:
        """Share of documents in at least one list."""
        return 1.0 - self.never


@dataclass(frozen=True, eq=False)
class ListStatistics:
    """Of the lists of one system, made in one way: with the artist filter, without, or as they were given."""

    system: str
    lists: str
    shared: tuple[Shared, ...]
    occurrences: tuple[Occurrences, ...]
    triangle: float | None

    def at(self, cutoff: int) -> Occurrences:
        """Occurrences in lists of one length."""
        return next(one for one in self.occurrences if one.cutoff == cutoff)

    def sharing(self, label: str, cutoff: int) -> Shared | None:
        """What was found of a label, if anything."""
        return next((one for one in self.shared if (one.label, one.cutoff) == (label, cutoff)), None)


@dataclass(frozen=True, eq=False)
class Statistics:
    """Statistics of systems, with the ``documents`` that they are about; ``cutoffs`` are the lengths of lists."""

    documents: tuple[str, ...]
    n_queries: int
    cutoffs: tuple[int, ...]
    found: tuple[ListStatistics, ...]
    known: dict[str, int]

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in order."""
        return tuple(dict.fromkeys(one.system for one in self.found))

    @property
    def ways(self) -> tuple[str, ...]:
        """Ways in which lists were made; the first is that of runs."""
        return tuple(dict.fromkeys(one.lists for one in self.found))

    def of(self, system: str, lists: str) -> ListStatistics | None:
        """Those of one system and way, if they were made."""
        return next((one for one in self.found if (one.system, one.lists) == (system, lists)), None)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for each system, way and length of lists; shares from 0 to 1."""
        return [self._row(one, counted) for one in self.found for counted in one.occurrences]

    def _row(self, one: ListStatistics, counted: Occurrences) -> dict[str, Any]:
        row: dict[str, Any] = {
            "system": one.system, "lists": one.lists, "cutoff": counted.cutoff, "queries": self.n_queries,
            "documents": len(self.documents),
        }  # fmt: skip
        for label in LABELS:
            shared = one.sharing(label, counted.cutoff)
            row[f"same_{label}"] = None if shared is None else shared.share
            row[f"same_{label}_of_possible"] = None if shared is None else shared.of_possible
        return row | {
            "skewness": counted.skewness,
            "hub": self.documents[counted.hub],
            "hub_lists": counted.largest,
            "hub_share": counted.largest / max(1, counted.n_lists),
            "hubs": counted.n_hubs,
            "never": counted.never,
            "coverage": counted.coverage,
            "triangle": one.triangle,
        }


def describe(
    sounds: Sounds,
    systems: Sequence[str] | None = None,
    *,
    cutoffs: Sequence[int] = CUTOFFS,
    progress: Progress | None = None,
) -> Statistics:
    """Statistics of registered systems, all by default, with every document as a query.

    Lists are made with and without the artist filter, from one pass over the distances; only without, where no artist
    is known, or all documents are by one. ``cutoffs`` are lengths of lists; those longer than there are other documents
    are left out.
    """
    names = list(dict.fromkeys(BASELINES if systems is None else systems))
    started = [BASELINES[name] for name in names]
    n = len(sounds)
    if n < 3:
        raise AdjudgeError(f"expected at least 3 documents for statistics, got {n}")
    lengths = _lengths(cutoffs, n - 1)
    labels = {label: Labels(sounds.tracks, label) for label in LABELS}
    everywhere = np.arange(n)
    ways = {FILTERED: labels["artist"], PLAIN: None} if _can_filter(labels["artist"]) else {PLAIN: None}
    possible = {way: _possible(labels, everywhere, artists) for way, artists in ways.items()}
    found = []
    for done, system in enumerate(started, start=1):
        distances = system.start(sounds)
        filters = tuple(ways.values())
        both = nearest_by(distances, sounds, everywhere, lengths[-1], about=system.name, filters=filters)
        triangle = triangle_share(distances, _sample(sounds))
        for way, (lists, _) in zip(ways, both, strict=True):
            shared = _shared(lists, everywhere, lengths, labels, possible[way], without=way == FILTERED)
            found.append(ListStatistics(system.name, way, shared, _occurrences(lists, n, lengths), triangle))
        if progress is not None:
            progress(done, len(started))
    return Statistics(sounds.documents, n, lengths, tuple(found), {name: one.n_known for name, one in labels.items()})


def describe_runs(runs: Runs, tracks: pl.DataFrame, *, cutoffs: Sequence[int] = CUTOFFS) -> Statistics:
    """Statistics of runs as they are, whoever made them, with what a table says of documents.

    ``tracks`` has a column ``document`` and some of genre, artist and album, and names the whole collection: what is in
    no list of any system is there, too. Queries that are no documents share nothing that is known. Where runs lack
    queries that others have, these are lists without documents. Runs in which no list has a document by the query's
    artist are taken to have been filtered: such documents do not count among what they could have found.
    """
    import polars as pl

    depth = runs.depth
    if depth == 0:
        raise AdjudgeError("expected runs with documents, got none")
    asked = sorted({int(code) for run in runs for code in np.unique(run.query_codes)})
    queries = [runs.queries[code] for code in asked]
    retrieved = pl.Series(list(runs.documents), dtype=pl.String)
    names = pl.concat([tracks["document"].cast(pl.String), retrieved]).unique(maintain_order=True)
    table = names.to_frame("document").join(tracks, on="document", how="left", maintain_order="left")
    index = {name: place for place, name in enumerate(names)}
    places = np.array([index.get(query, -1) for query in queries], dtype=np.int64)
    lengths = _lengths(cutoffs, depth)
    labels = {label: Labels(table, label) for label in LABELS}
    is_document = places >= 0
    asked_places = places[is_document]
    possible = {way: _possible(labels, asked_places, labels["artist"] if way else None) for way in (False, True)}
    code_to_place = np.array([index[name] for name in runs.documents], dtype=np.int64)
    found = []
    for run in runs:
        lists = _lists_of(run, asked, code_to_place, lengths[-1])
        filtered = not _has_own_artist(lists[is_document], asked_places, labels["artist"])
        shared = _shared(lists[is_document], asked_places, lengths, labels, possible[filtered], without=False)
        found.append(ListStatistics(run.system, GIVEN, shared, _occurrences(lists, len(index), lengths), None))
    known = {label: one.n_known for label, one in labels.items()}
    return Statistics(tuple(names), len(queries), lengths, tuple(found), known)


def _lengths(cutoffs: Sequence[int], most: int) -> tuple[int, ...]:
    wanted = sorted({check_whole("cutoff", cutoff, 1) for cutoff in cutoffs})
    if not wanted:
        raise AdjudgeError("expected lengths of lists, got none")
    return tuple(cutoff for cutoff in wanted if cutoff <= most) or (most,)


def _lists_of(run: Run, asked: Sequence[int], place: Ints, depth: int) -> Ints:
    """Places of the first documents of each query's ranking, -1 where there are fewer."""
    lists = np.full((len(asked), depth), -1, dtype=np.int64)
    for row, code in zip(lists, asked, strict=True):
        if code + 1 < len(run.offsets):
            there = run.documents[run.offsets[code] : run.offsets[code + 1]][:depth]
            row[: len(there)] = place[there]
    return lists


def _has_own_artist(lists: Ints, places: Ints, artists: Labels) -> bool:
    """Whether any list has a document by the query's artist, other than the query itself."""
    query = np.repeat(places, lists.shape[1])
    document = lists.ravel()
    there = (document >= 0) & (document != query)
    return bool(artists.match(query[there], document[there]).any())


def _can_filter(artists: Labels) -> bool:
    """Whether artists are known, and there are documents by others."""
    n = len(artists.known)
    return artists.n_known > 0 and any(artists.same(part).nnz < len(part) * n for part in blocks(np.arange(n), n))


def _possible(labels: dict[str, Labels], places: Ints, without: Labels | None) -> dict[str, Ints]:
    """For each query, how many other documents share each label, those of its artist ``without``."""
    found = {}
    for name, one in labels.items():
        counts = []
        for part in blocks(places, len(one.known)):
            same = one.same(part)
            total = same.sum(axis=1)
            if without is None:
                counts.append(total - same[np.arange(len(part)), part])
            else:  # the query itself is of its artist, where that is known
                both = same.multiply(without.same(part))
                itself = same[np.arange(len(part)), part] - both[np.arange(len(part)), part]
                counts.append(total - both.sum(axis=1) - itself)
        found[name] = np.concatenate(counts).astype(np.int64) if counts else np.zeros(0, dtype=np.int64)
    return found


def _shared(
    lists: Ints,
    places: Ints,
    cutoffs: tuple[int, ...],
    labels: dict[str, Labels],
    possible: dict[str, Ints],
    *,
    without: bool,
) -> tuple[Shared, ...]:
    """Shares of each label at each cutoff; nothing of artists where these were filtered."""
    found = []
    for name, one in labels.items():
        known = one.known[places] if len(places) else np.zeros(0, dtype=np.bool_)
        if not known.any() or (without and name == "artist"):
            continue
        rows, queries, there = lists[known], places[known], possible[name][known]
        hits = one.match(np.repeat(queries, rows.shape[1]), np.maximum(rows, 0).ravel()).reshape(rows.shape)
        running = np.cumsum(hits & (rows >= 0), axis=1)
        for cutoff in cutoffs:
            within = running[:, cutoff - 1]
            best = np.minimum(there, cutoff)
            can = best > 0
            of_possible = float((within[can] / best[can]).mean()) if can.any() else float("nan")
            found.append(Shared(name, cutoff, float(within.mean() / cutoff), of_possible, int(known.sum())))
    return tuple(found)


def _occurrences(lists: Ints, n_documents: int, cutoffs: tuple[int, ...]) -> tuple[Occurrences, ...]:
    found = []
    for cutoff in cutoffs:
        first = lists[:, :cutoff]
        counts = np.bincount(first[first >= 0], minlength=n_documents).astype(np.int64)
        found.append(Occurrences(cutoff, counts, len(lists)))
    return tuple(found)


def _sample(sounds: Sounds) -> Ints:
    """Places of documents drawn by the seed, or all."""
    order = np.argsort(keys_of(sounds.documents, seed=sounds.seed, about="triangles"), kind="stable")
    return np.sort(order[:_TRIANGLE_DOCUMENTS]).astype(np.int64)


def triangle_share(distances: Distances, places: Ints) -> float:
    """Share of triples of these documents for which the longest distance is at most the sum of the other two.

    Rounding is forgiven. NaN for fewer than three documents.

    >>> class Squares:
    ...     def rows(self, places): return (np.arange(3.0)[places, None] - np.arange(3.0)) ** 2
    >>> triangle_share(Squares(), np.arange(3))
    0.0
    """
    among: Floats = distances.rows(places)[:, places]
    n, holds, total = len(places), 0, 0
    for x in range(n - 2):
        side = among[x, x + 1 :]
        opposite = among[x + 1 :, x + 1 :]
        row, column = np.triu_indices(len(side), 1)
        a, b, c = side[row], side[column], opposite[row, column]
        holds += int((2 * np.maximum(np.maximum(a, b), c) <= (a + b + c) * (1 + 1e-9)).sum())
        total += len(row)
    return holds / total if total else float("nan")
