"""What can be said of systems before anybody judges: neighbours of the same genre, hubs, coverage.

MIREX's task of audio music similarity derived these from the distance matrices of participants, besides having people
judge some of the lists: how many of the nearest documents are of the query's genre, artist and album; how often the
most frequent document appears; how many never do; how often the triangle inequality holds.

Hubs are documents that are in far more lists than others. With N the number of lists of k that a document is in, they
show in the skewness of N: 0 where lists are spread evenly, above 1 where few documents fill many lists.

:func:`describe_systems` and :func:`describe_runs` count, :func:`sentences` puts the result in words, and
:func:`statistics_sections` is the report with tables and the figure.

References: https://www.music-ir.org/mirex/wiki/2013:Audio_Music_Similarity_and_Retrieval; Radovanović, Nanopoulos,
Ivanović: Hubs in space: popular nearest neighbors in high-dimensional data, Journal of Machine Learning Research 11,
2487-2531, 2010, https://jmlr.org/papers/v11/radovanovic10a.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems.base import BASELINES, Distances, Labels, Sounds, hash_names
from adjudge.audio.systems.distances import split_places
from adjudge.audio.systems.ranking import find_nearest
from adjudge.checks import CUTOFF
from adjudge.errors import AdjudgeError
from adjudge.parallel import Progress
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column, Result, figure
from adjudge.tables import Heading
from adjudge.text import counted, listed, number, percent

if TYPE_CHECKING:
    import polars as pl

    from adjudge.model.runs import Runs

CUTOFFS = (5, 10, 20, 50)
"""Lengths of lists in MIREX's statistics."""
LABELS = ("genre", "artist", "album")
FILTERED, PLAIN, GIVEN = "artist filter", "all artists", "as given"
_TRIANGLE_DOCUMENTS = 150  # of which all triples are looked at: 551,300
AFTER_PROXIMITY = {"timbre": "timbre-mp"}
"""Systems, and the same systems after mutual proximity."""
_SYSTEM = Heading("System", "left", "documents of the query's artist are left out, unless all artists are named")


@dataclass(frozen=True)
class SharedLabels:
    """How many of the first documents share a label with the query, in the mean over queries.

    ``share`` is of the first ``cutoff`` documents, ``of_possible`` of those that could share it where these are fewer;
    NaN where none could. ``n_queries`` queries have the label.
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
    def hub_share(self) -> float:
        """Share of lists that this document is in."""
        return self.largest / max(1, self.n_lists)

    @property
    def n_hubs(self) -> int:
        """Documents that are in more than five times as many lists as the mean, and in more than five."""
        return int((self.counts > 5.0 * max(float(self.counts.mean()), 1.0)).sum())

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
    """Statistics of the lists of one system, made with the artist filter, without it, or as given."""

    system: str
    lists: str
    shared: tuple[SharedLabels, ...]
    occurrences: tuple[Occurrences, ...]
    triangle: float | None

    def at(self, cutoff: int) -> Occurrences:
        """Occurrences in lists of one length."""
        return next(counted for counted in self.occurrences if counted.cutoff == cutoff)

    def sharing(self, label: str, cutoff: int) -> SharedLabels | None:
        """The shares of one label at one cutoff, if the label is known."""
        return next((shared for shared in self.shared if (shared.label, shared.cutoff) == (label, cutoff)), None)


class StatisticsRow(TypedDict):
    """Statistics of one system, one way of making lists and one length of them; shares are from 0 to 1."""

    system: Annotated[str, Column("the system", key=True)]
    lists: Annotated[str, Column("how lists were made", key=True)]
    cutoff: Annotated[int, Column("length of the lists", "d", key=True)]
    queries: Annotated[int, Column("queries", ",d", shown=False)]
    documents: Annotated[int, Column("documents", ",d", shown=False)]
    same_genre: Annotated[float | None, Column("share of documents of the genre of the query", ".3f")]
    same_genre_of_possible: Annotated[float | None, Column("the same, of what was possible", ".3f", shown=False)]
    same_artist: Annotated[float | None, Column("share of documents by the artist of the query", ".3f")]
    same_artist_of_possible: Annotated[float | None, Column("the same, of what was possible", ".3f", shown=False)]
    same_album: Annotated[float | None, Column("share of documents of the album of the query", ".3f")]
    same_album_of_possible: Annotated[float | None, Column("the same, of what was possible", ".3f", shown=False)]
    skewness: Annotated[float, Column("skewness of how often documents occur", ".2f")]
    hub: Annotated[str, Column("the document that occurs most often", shown=False)]
    hub_lists: Annotated[int, Column("lists that it is in", ",d", shown=False)]
    hub_share: Annotated[float, Column("share of lists that it is in", ".3f")]
    hubs: Annotated[int, Column("documents that occur far too often", ",d")]
    never: Annotated[float, Column("share of documents that never occur", ".3f")]
    coverage: Annotated[float, Column("share of documents that occur", ".3f", shown=False)]
    triangle: Annotated[float | None, Column("share of triples that keep the triangle inequality", ".3f", shown=False)]


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(Result):
    """Statistics of systems: one entry per system and way of making lists.

    ``documents`` are the collection, ``cutoffs`` the lengths of lists, ``known`` counts documents by known label.
    """

    documents: tuple[str, ...]
    n_queries: int
    cutoffs: tuple[int, ...]
    entries: tuple[ListStatistics, ...]
    known: dict[str, int]

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in order."""
        return tuple(dict.fromkeys(entry.system for entry in self.entries))

    @property
    def ways(self) -> tuple[str, ...]:
        """Ways in which lists were made; the first is that of runs."""
        return tuple(dict.fromkeys(entry.lists for entry in self.entries))

    @figure("occurrences")
    def _occurrences(self) -> FigureBlock:
        """The number-of-times-similar curve of MIREX: documents by the number of lists that they are in."""
        k = self.cutoffs[0]
        panels = []
        for way in self.ways:
            counted = [
                (entry.system, np.sort(entry.at(k).counts)[::-1]) for entry in self.entries if entry.lists == way
            ]
            lines = [Curve(name, np.arange(1.0, len(n) + 1), n.astype(np.float64)) for name, n in counted]
            panels.append(Panel(way, tuple(lines)))
        alt = "; ".join(
            f"{system}: at most {found.largest:,} lists, {percent(found.never, 0)} of documents in none"
            for system, found in ((entry.system, entry.at(k)) for entry in self.entries if entry.lists == self.ways[0])
        )
        data = Curves("documents, the most frequent first", f"top-{k} lists", tuple(panels), log_x=True)
        caption = f"In how many top-{k} lists documents are, the most frequent first; a steep start is a hub."
        return FigureBlock("occurrences", caption, f"Number of top-{k} lists by document. {alt}.", data, curves)

    def of(self, system: str, lists: str) -> ListStatistics | None:
        """Statistics of one system and way, if there are any."""
        return next((entry for entry in self.entries if (entry.system, entry.lists) == (system, lists)), None)

    row_type = StatisticsRow

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Statistics of {counted(len(self.systems), 'system')} over {counted(self.n_queries, 'query')}"

    def __repr__(self) -> str:
        return f"<Statistics: {counted(len(self.systems), 'system')}, {counted(self.n_queries, 'query')}>"

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each system, way and length of lists."""
        return [self._row(entry, occurrences) for entry in self.entries for occurrences in entry.occurrences]

    def _row(self, entry: ListStatistics, counted: Occurrences) -> dict[str, Any]:
        row: dict[str, Any] = {
            "system": entry.system, "lists": entry.lists, "cutoff": counted.cutoff, "queries": self.n_queries,
            "documents": len(self.documents),
        }  # fmt: skip
        for label in LABELS:
            shared = entry.sharing(label, counted.cutoff)
            row[f"same_{label}"] = None if shared is None else shared.share
            row[f"same_{label}_of_possible"] = None if shared is None else shared.of_possible
        return row | {
            "skewness": counted.skewness, "hub": self.documents[counted.hub], "hub_lists": counted.largest,
            "hub_share": counted.hub_share, "hubs": counted.n_hubs, "never": counted.never,
            "coverage": counted.coverage, "triangle": entry.triangle,
        }  # fmt: skip


def describe_systems(
    sounds: Sounds,
    systems: Sequence[str] | None = None,
    *,
    cutoffs: Sequence[int] = CUTOFFS,
    progress: Progress | None = None,
) -> Statistics:
    """Statistics of registered systems, all by default, with every document as a query.

    Lists are made with and without the artist filter, in one pass over the distances; only without it where no artist
    is known or all documents are by one. ``cutoffs`` are lengths of lists; those longer than there are other documents
    are left out.
    """
    baselines = [BASELINES[name] for name in dict.fromkeys(BASELINES if systems is None else systems)]
    n = len(sounds)
    if n < 3:
        raise AdjudgeError(f"expected at least 3 documents for statistics, got {n}")
    lengths = _select_lengths(cutoffs, n - 1)
    labels = {label: Labels(sounds.tracks, label) for label in LABELS}
    artists, everywhere = labels["artist"], np.arange(n)
    has_others = any(artists.same(part).nnz < len(part) * n for part in split_places(everywhere, n))
    ways = {FILTERED: artists, PLAIN: None} if artists.n_known and has_others else {PLAIN: None}
    possible = {way: _count_possible(labels, everywhere, without) for way, without in ways.items()}
    drawn = np.argsort(hash_names(sounds.documents, seed=sounds.seed, about="triangles"), kind="stable")
    corners = np.sort(drawn[:_TRIANGLE_DOCUMENTS]).astype(np.int64)
    entries = []
    for done, system in enumerate(baselines, start=1):
        distances = system.start(sounds)
        filters = tuple(ways.values())
        both = find_nearest(distances, sounds, everywhere, lengths[-1], about=system.name, filters=filters)
        triangle = triangle_share(distances, corners)
        for way, (lists, _) in zip(ways, both, strict=True):
            shared = _measure_shared(lists, everywhere, lengths, labels, possible[way], without=way == FILTERED)
            entries.append(ListStatistics(system.name, way, shared, _count_occurrences(lists, n, lengths), triangle))
        if progress is not None:
            progress(done, len(baselines))
    known = {label: column.n_known for label, column in labels.items()}
    return Statistics(sounds.documents, n, lengths, tuple(entries), known)


def describe_runs(runs: Runs, tracks: pl.DataFrame, *, cutoffs: Sequence[int] = CUTOFFS) -> Statistics:
    """Statistics of given runs, with the labels that a table has of documents.

    ``tracks`` has a column ``document`` and some of genre, artist and album. It names the whole collection, documents
    in no list included. Queries that are no documents have no labels. Queries that a run lacks count as empty lists.
    Runs in which no list has a document by the query's artist are taken as filtered: such documents do not count among
    those that could have been found.
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
    lengths = _select_lengths(cutoffs, depth)
    labels = {label: Labels(table, label) for label in LABELS}
    is_document = places >= 0
    asked_places = places[is_document]
    possible = {way: _count_possible(labels, asked_places, labels["artist"] if way else None) for way in (False, True)}
    code_to_place = np.array([index[name] for name in runs.documents], dtype=np.int64)
    entries = []
    for run in runs:
        lists = np.full((len(asked), lengths[-1]), -1, dtype=np.int64)
        for row, code in zip(lists, asked, strict=True):
            if code + 1 < len(run.offsets):
                first = run.documents[run.offsets[code] : run.offsets[code + 1]][: lengths[-1]]
                row[: len(first)] = code_to_place[first]
        of_documents = lists[is_document]
        filtered = not _has_own_artist(of_documents, asked_places, labels["artist"])
        shared = _measure_shared(of_documents, asked_places, lengths, labels, possible[filtered], without=False)
        entries.append(ListStatistics(run.system, GIVEN, shared, _count_occurrences(lists, len(index), lengths), None))
    known = {label: column.n_known for label, column in labels.items()}
    return Statistics(tuple(names), len(queries), lengths, tuple(entries), known)


def _has_own_artist(lists: Ints, places: Ints, artists: Labels) -> bool:
    """Whether any list has a document by the query's artist, other than the query itself."""
    query = np.repeat(places, lists.shape[1])
    document = lists.ravel()
    there = (document >= 0) & (document != query)
    return bool(artists.match(query[there], document[there]).any())


def _select_lengths(cutoffs: Sequence[int], most: int) -> tuple[int, ...]:
    wanted = sorted({CUTOFF.check("cutoff", cutoff) for cutoff in cutoffs})
    if not wanted:
        raise AdjudgeError("expected lengths of lists, got none")
    return tuple(cutoff for cutoff in wanted if cutoff <= most) or (most,)


def _count_possible(labels: dict[str, Labels], places: Ints, without: Labels | None) -> dict[str, Ints]:
    """For each query, how many other documents share each label; ``without`` leaves out those of its artist."""
    possible = {}
    for name, column in labels.items():
        counts = []
        for part in split_places(places, len(column.known)):
            same = column.same(part)
            total = same.sum(axis=1)
            if without is None:
                counts.append(total - same[np.arange(len(part)), part])
            else:  # the query itself is of its artist, where that is known
                both = same.multiply(without.same(part))
                itself = same[np.arange(len(part)), part] - both[np.arange(len(part)), part]
                counts.append(total - both.sum(axis=1) - itself)
        possible[name] = np.concatenate(counts).astype(np.int64) if counts else np.zeros(0, dtype=np.int64)
    return possible


def _measure_shared(
    lists: Ints,
    places: Ints,
    cutoffs: tuple[int, ...],
    labels: dict[str, Labels],
    possible: dict[str, Ints],
    *,
    without: bool,
) -> tuple[SharedLabels, ...]:
    """Shares of each label at each cutoff; nothing of artists where these were filtered."""
    shared = []
    for name, column in labels.items():
        known = column.known[places] if len(places) else np.zeros(0, dtype=np.bool_)
        if not known.any() or (without and name == "artist"):
            continue
        rows, queries, there = lists[known], places[known], possible[name][known]
        hits = column.match(np.repeat(queries, rows.shape[1]), np.maximum(rows, 0).ravel()).reshape(rows.shape)
        running = np.cumsum(hits & (rows >= 0), axis=1)
        for cutoff in cutoffs:
            within = running[:, cutoff - 1]
            best = np.minimum(there, cutoff)
            can = best > 0
            of_possible = float((within[can] / best[can]).mean()) if can.any() else float("nan")
            shared.append(SharedLabels(name, cutoff, float(within.mean() / cutoff), of_possible, int(known.sum())))
    return tuple(shared)


def _count_occurrences(lists: Ints, n_documents: int, cutoffs: tuple[int, ...]) -> tuple[Occurrences, ...]:
    occurrences = []
    for cutoff in cutoffs:
        first = lists[:, :cutoff]
        counts = np.bincount(first[first >= 0], minlength=n_documents).astype(np.int64)
        occurrences.append(Occurrences(cutoff, counts, len(lists)))
    return tuple(occurrences)


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


def statistics_sections(statistics: Statistics) -> tuple[Section, ...]:
    """Sentences, hubs, MIREX's numbers by length of list, neighbours that share a label, and the figure."""
    said = tuple(Paragraph(text) for text in sentences(statistics))
    blocks: list[Block] = [*said, hub_table(statistics), statistics.figure()]
    if len(statistics.cutoffs) > 1:
        blocks.append(length_table(statistics))
    shared = tuple(table for label in LABELS if (table := shared_table(statistics, label)) is not None)
    sections = [Section("hubs", "Hubs and coverage", tuple(blocks))]
    if shared:
        sections.append(Section("neighbours", "What neighbours share", shared))
    return tuple(sections)


def sentences(statistics: Statistics) -> list[str]:
    """What people want to know first about the shortest lists, one or two sentences each."""
    k = statistics.cutoffs[0]
    shown = [entry for entry in statistics.entries if entry.lists == statistics.ways[0]]
    said = [_say_documents(statistics), *_say_hubs(statistics, shown, k)]
    ordered = sorted(shown, key=lambda entry: entry.at(k).never)
    never = listed([f"{entry.system} {percent(entry.at(k).never, 0)}" for entry in ordered])
    said.append(f"Documents in no top-{k} list: {never}.")
    shares = [(shared.share, entry.system) for entry in shown if (shared := entry.sharing("genre", k)) is not None]
    if shares:
        way = ", without the query's artist" if shown[0].lists == FILTERED else ""
        genres = listed([f"{system} {percent(share, 0)}" for share, system in sorted(shares, reverse=True)])
        said.append(f"Of the query's genre among the first {k}{way}: {genres}.")
    triangles = [(entry.system, entry.triangle) for entry in shown if entry.triangle is not None]
    broken = [f"{system} {percent(share, 1)}" for system, share in triangles if share < 0.9995]
    if broken:
        said.append(f"Triples for which the triangle inequality holds: {listed(broken)}.")
    return said


def _say_documents(statistics: Statistics) -> str:
    n, asked = len(statistics.documents), statistics.n_queries
    lists = "All are queries" if asked == n else f"{asked:,} {'is a query' if asked == 1 else 'are queries'}"
    if any(entry.lists == GIVEN for entry in statistics.entries):
        lists = f"There {'is' if asked == 1 else 'are'} {counted(asked, 'query')}"
    some = [f"the {name} of {count:,}" for name, count in statistics.known.items() if 0 < count < n]
    none = [name for name, count in statistics.known.items() if count == 0]
    known = f" Known are only {listed(some)}." if some else ""
    unknown = f" No {listed(none, 'or')} is known." if none else ""
    return f"{n:,} documents. {lists}.{known}{unknown}"


def _say_hubs(statistics: Statistics, shown: list[ListStatistics], k: int) -> list[str]:
    said = []
    for entry in shown:
        found = entry.at(k)
        if found.n_hubs == 0:
            continue
        others = f" (and {found.n_hubs - 1:,} more)" if found.n_hubs > 1 else ""
        lists = f"{found.largest:,} of {found.n_lists:,} top-{k} lists"
        after = statistics.of(AFTER_PROXIMITY.get(entry.system, ""), entry.lists)
        if after is None:
            then = f" ({percent(found.hub_share, 0)})"
        else:
            now = int(after.at(k).counts[found.hub])
            then = f"; mutual proximity {'brings it down to' if now < found.largest else 'leaves it in'} {now:,}"
        said.append(f"{entry.system} has a hub{others}: {statistics.documents[found.hub]} is in {lists}{then}.")
    without = [entry for entry in shown if entry.at(k).n_hubs == 0]
    if without:
        most = max(entry.at(k).largest for entry in without)
        names = listed([entry.system for entry in without])
        has, whose = ("has", "its") if len(without) == 1 else ("have", "their")
        said.append(f"{names} {has} no hub: no document is in more than {most:,} of {whose} lists.")
    return said


def hub_table(statistics: Statistics) -> TableBlock:
    """One row per system and way: how uneven the shortest lists are."""
    k = statistics.cutoffs[0]
    triangle = Heading("Triangle %", about="triples of documents for which that inequality holds")
    columns = (
        _SYSTEM,
        Heading("Skewness", about=f"of the number of top-{k} lists that documents are in; 0 where all are alike"),
        Heading("Largest hub", about=f"most top-{k} lists that a document is in"),
        Heading("% of lists"),
        Heading("Hubs", about="documents in more than five times as many lists as the mean"),
        Heading("Never %", about="documents in no list"),
        Heading("Coverage %", about="documents in any list"),
        *([triangle] if any(entry.triangle is not None for entry in statistics.entries) else []),
        Heading("Hub", "left", "the document that is in most lists"),
    )
    rows = []
    for entry in statistics.entries:
        found = entry.at(k)
        triangles = [] if entry.triangle is None else [_percent(entry.triangle)]
        rows.append((
            _name_row(statistics, entry), number(found.skewness, 2), f"{found.largest:,}", _percent(found.hub_share),
            f"{found.n_hubs:,}", _percent(found.never), _percent(found.coverage), *triangles,
            statistics.documents[found.hub],
        ))  # fmt: skip
    records = [row for row in statistics.to_dicts() if row["cutoff"] == k]
    return TableBlock("hubs", f"Hubs in top-{k} lists.", columns, tuple(rows), records)


def _name_row(statistics: Statistics, entry: ListStatistics) -> str:
    """The system, and how its lists were made where that is not the usual way."""
    return f"{entry.system}, {entry.lists}" if entry.lists == PLAIN and len(statistics.ways) > 1 else entry.system


def _percent(share: float) -> str:
    return number(100 * share, 1)


def length_table(statistics: Statistics) -> TableBlock:
    """One row per system and way: the most frequent document and what is never retrieved, by length of list."""
    lengths = statistics.cutoffs
    columns = (
        _SYSTEM,
        *(Heading(f"Most @{k}", about=f"most top-{k} lists that a document is in") for k in lengths),
        *(Heading(f"Never % @{k}", about=f"documents in no top-{k} list") for k in lengths),
        *(Heading(f"Skewness @{k}") for k in lengths),
    )
    rows = []
    for entry in statistics.entries:
        found = [entry.at(k) for k in lengths]
        cells = [[f"{x.largest:,}" for x in found], [_percent(x.never) for x in found]]
        cells.append([number(x.skewness, 2) for x in found])
        rows.append((_name_row(statistics, entry), *(cell for group in cells for cell in group)))
    caption = "Always and never similar, by the length of lists."
    return TableBlock("lengths", caption, columns, tuple(rows), statistics.to_dicts())


def shared_table(statistics: Statistics, label: str) -> TableBlock | None:
    """One row per system and way: % of neighbours that share a label, and of those that could; None if unknown."""
    lengths = statistics.cutoffs
    columns = (
        _SYSTEM,
        *(Heading(f"% @{k}") for k in lengths),
        *(Heading(f"of possible @{k}", about="where fewer documents than that share it, % of those") for k in lengths),
    )
    rows, records = [], []
    for entry in statistics.entries:
        known = [shared for k in lengths if (shared := entry.sharing(label, k)) is not None]
        if known:
            cells = [_percent(shared.share) for shared in known] + [_percent(shared.of_possible) for shared in known]
            rows.append((_name_row(statistics, entry), *cells))
            records += [{"system": entry.system, "lists": entry.lists, **asdict(shared)} for shared in known]
    if not rows:
        return None
    n_known = f"known of {statistics.known[label]:,} of {len(statistics.documents):,} documents"
    caption = f"Neighbours of the query's {label}, in percent ({n_known})."
    return TableBlock(f"same-{label}", caption, columns, tuple(rows), records)
