"""What can be said of systems before anybody judges: as MIREX reported it, and about hubs.

How many of the nearest documents are of the query's genre, artist and album; how often the most frequent document
appears; how many never do; how often the triangle inequality holds: MIREX's task of audio music similarity derived
these from the distance matrices of participants, besides having people judge some of the lists.

Hubs are documents in far more lists than others. With N the number of lists of k that a document is in, they show in
the skewness of N: 0 where lists are spread evenly, above 1 where few documents fill many lists.

References: https://www.music-ir.org/mirex/wiki/2013:Audio_Music_Similarity_and_Retrieval; Radovanović, Nanopoulos,
Ivanović: Hubs in space: popular nearest neighbors in high-dimensional data, Journal of Machine Learning Research 11,
2487-2531, 2010, https://jmlr.org/papers/v11/radovanovic10a.html

Statistics of systems in sentences: who has hubs, what becomes of them, who finds the genre.

A report of what can be said of systems before anybody judges: hubs, coverage, neighbours of the same genre.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems.base import BASELINES, Distances, Labels, Sounds, keys_of
from adjudge.audio.systems.distances import blocks
from adjudge.audio.systems.ranking import nearest_by
from adjudge.checks import CUTOFF
from adjudge.errors import AdjudgeError
from adjudge.processes import Progress
from adjudge.reporting.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import PALETTE, canvas
from adjudge.text import listed, number

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

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
    wanted = sorted({CUTOFF.check("cutoff", cutoff) for cutoff in cutoffs})
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


AFTER_PROXIMITY = {"timbre": "timbre-mp"}
"""Systems, and the same after mutual proximity."""


def sentences(statistics: Statistics) -> list[str]:
    """What people want to know first, a sentence or two each, about the shortest lists."""
    k = statistics.cutoffs[0]
    shown = [one for one in statistics.found if one.lists == statistics.ways[0]]
    return [_about(statistics), *_hubs(statistics, shown, k), *_never(shown, k), *_genres(shown, k), *_triangle(shown)]


def _about(statistics: Statistics) -> str:
    n, asked = len(statistics.documents), statistics.n_queries
    lists = "All are queries" if asked == n else f"{asked:,} {'is a query' if asked == 1 else 'are queries'}"
    if any(one.lists == GIVEN for one in statistics.found):
        lists = f"There {'is' if asked == 1 else 'are'} {asked:,} quer{'y' if asked == 1 else 'ies'}"
    some = [f"the {name} of {count:,}" for name, count in statistics.known.items() if 0 < count < n]
    none = [name for name, count in statistics.known.items() if count == 0]
    known = f" Known are only {listed(some)}." if some else ""
    return f"{n:,} documents. {lists}.{known}" + (f" No {listed(none, 'or')} is known." if none else "")


def _hubs(statistics: Statistics, shown: list[ListStatistics], k: int) -> list[str]:
    found = []
    for one in shown:
        counted = one.at(k)
        if counted.n_hubs == 0:
            continue
        name, share = statistics.documents[counted.hub], counted.largest / max(1, counted.n_lists)
        others = f" (and {counted.n_hubs - 1:,} more)" if counted.n_hubs > 1 else ""
        text = f"{one.system} has a hub{others}: {name} is in {counted.largest:,} of {counted.n_lists:,} top-{k} lists"
        after = statistics.of(AFTER_PROXIMITY.get(one.system, ""), one.lists)
        if after is not None:
            now = int(after.at(k).counts[counted.hub])
            text += f"; mutual proximity {'brings it down to' if now < counted.largest else 'leaves it in'} {now:,}"
            found.append(f"{text}.")
        else:
            found.append(f"{text} ({share:.0%}).")
    without = [one for one in shown if one.at(k).n_hubs == 0]
    if without:
        most = max(one.at(k).largest for one in without)
        names = listed([one.system for one in without])
        has, whose = ("has", "its") if len(without) == 1 else ("have", "their")
        found.append(f"{names} {has} no hub: no document is in more than {most:,} of {whose} lists.")
    return found


def _never(shown: list[ListStatistics], k: int) -> list[str]:
    parts = [f"{one.system} {one.at(k).never:.0%}" for one in sorted(shown, key=lambda one: one.at(k).never)]
    return [f"Documents in no top-{k} list: {listed(parts)}."]


def _genres(shown: list[ListStatistics], k: int) -> list[str]:
    found = [(shared.share, one.system) for one in shown if (shared := one.sharing("genre", k)) is not None]
    if not found:
        return []
    parts = [f"{system} {share:.0%}" for share, system in sorted(found, reverse=True)]
    way = ", without the query's artist" if shown[0].lists == FILTERED else ""
    return [f"Of the query's genre among the first {k}{way}: {listed(parts)}."]


def _triangle(shown: list[ListStatistics]) -> list[str]:
    parts = [
        f"{one.system} {one.triangle:.1%}"
        for one in shown
        if one.triangle is not None and one.triangle < 0.9995
    ]  # fmt: skip
    return [f"Triples for which the triangle inequality holds: {listed(parts)}."] if parts else []


_COLOURS = ("accent", "warm", "ink", "soft", "muted")
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)))
_SYSTEM = Column("System", "left", "documents of the query's artist are left out, unless all artists are named")


def statistics_sections(statistics: Statistics) -> tuple[Section, ...]:
    """Sentences, hubs, MIREX's numbers by length of list, neighbours that share a label, and the figure."""
    said = tuple(Paragraph(text) for text in sentences(statistics))
    blocks: list[Block] = [*said, hub_table(statistics), occurrence_figure(statistics)]
    if len(statistics.cutoffs) > 1:
        blocks.append(length_table(statistics))
    shared = tuple(table for label in LABELS if (table := shared_table(statistics, label)) is not None)
    sections = [Section("hubs", "Hubs and coverage", tuple(blocks))]
    if shared:
        sections.append(Section("neighbours", "What neighbours share", shared))
    return tuple(sections)


def _named(statistics: Statistics, one: ListStatistics) -> str:
    """The system, and how its lists were made where that is not the usual way."""
    return f"{one.system}, {one.lists}" if one.lists == PLAIN and len(statistics.ways) > 1 else one.system


def hub_table(statistics: Statistics) -> TableBlock:
    """A row a system and way: how uneven the shortest lists are."""
    k = statistics.cutoffs[0]
    has_triangle = any(one.triangle is not None for one in statistics.found)
    columns = (
        _SYSTEM,
        Column("Skewness", about=f"of the number of top-{k} lists that documents are in; 0 where all are alike"),
        Column("Largest hub", about=f"most top-{k} lists that a document is in"),
        Column("% of lists"),
        Column("Hubs", about="documents in more than five times as many lists as the mean"),
        Column("Never %", about="documents in no list"),
        Column("Coverage %", about="documents in any list"),
        *([Column("Triangle %", about="triples of documents for which that inequality holds")] if has_triangle else []),
        Column("Hub", "left", "the document that is in most lists"),
    )
    rows = tuple(_hub_row(statistics, one, one.at(k)) for one in statistics.found)
    records = [row for row in statistics.to_dicts() if row["cutoff"] == k]
    return TableBlock("hubs", f"Hubs in top-{k} lists.", columns, rows, records)


def _hub_row(statistics: Statistics, one: ListStatistics, counted: Occurrences) -> tuple[str, ...]:
    return (
        _named(statistics, one),
        number(counted.skewness, 2),
        f"{counted.largest:,}",
        percent(counted.largest / max(1, counted.n_lists)),
        f"{counted.n_hubs:,}",
        percent(counted.never),
        percent(counted.coverage),
        *([] if one.triangle is None else [percent(one.triangle)]),
        statistics.documents[counted.hub],
    )


def length_table(statistics: Statistics) -> TableBlock:
    """A row a system and way: the most frequent document and what is never retrieved, by length of list."""
    lengths = statistics.cutoffs
    columns = (
        _SYSTEM,
        *(Column(f"Most @{k}", about=f"most top-{k} lists that a document is in") for k in lengths),
        *(Column(f"Never % @{k}", about=f"documents in no top-{k} list") for k in lengths),
        *(Column(f"Skewness @{k}") for k in lengths),
    )
    rows = tuple(
        (
            _named(statistics, one),
            *(f"{one.at(k).largest:,}" for k in lengths),
            *(percent(one.at(k).never) for k in lengths),
            *(number(one.at(k).skewness, 2) for k in lengths),
        )
        for one in statistics.found
    )
    return TableBlock(
        "lengths", "Always and never similar, by the length of lists.", columns, rows, statistics.to_dicts()
    )


def shared_table(statistics: Statistics, label: str) -> TableBlock | None:
    """A row a system and way: % of neighbours that share a label, and of those that could; None where none is known."""
    lengths = statistics.cutoffs
    columns = (
        _SYSTEM,
        *(Column(f"% @{k}") for k in lengths),
        *(Column(f"of possible @{k}", about="where fewer than so many share it, % of those") for k in lengths),
    )
    rows, records = [], []
    for one in statistics.found:
        found = [shared for k in lengths if (shared := one.sharing(label, k)) is not None]
        if found:
            cells = [percent(shared.share) for shared in found] + [percent(shared.of_possible) for shared in found]
            rows.append((_named(statistics, one), *cells))
            records += [{"system": one.system, "lists": one.lists, **asdict(shared)} for shared in found]
    if not rows:
        return None
    n_known = f"known of {statistics.known[label]:,} of {len(statistics.documents):,} documents"
    return TableBlock(
        f"same-{label}", f"Neighbours of the query's {label}, in percent ({n_known}).", columns, tuple(rows), records
    )


def percent(share: float) -> str:
    """A share in percent, with a decimal; a dash where there is none."""
    return "–" if np.isnan(share) else f"{100 * share:.1f}"


@dataclass(frozen=True)
class OccurrenceCurves:
    """Numbers of lists that documents are in, most first, one curve a system, one panel a way of making lists."""

    cutoff: int
    panels: tuple[str, ...]
    systems: tuple[tuple[str, ...], ...]
    counts: tuple[tuple[Ints, ...], ...]


def occurrence_figure(statistics: Statistics) -> FigureBlock:
    """The number-of-times-similar curve of MIREX: documents by the number of lists that they are in."""
    k = statistics.cutoffs[0]
    ways = statistics.ways
    by_way = [[one for one in statistics.found if one.lists == way] for way in ways]
    data = OccurrenceCurves(
        k,
        ways,
        tuple(tuple(one.system for one in part) for part in by_way),
        tuple(tuple(np.sort(one.at(k).counts)[::-1] for one in part) for part in by_way),
    )
    alt = "; ".join(
        f"{one.system}: at most {one.at(k).largest:,} lists, {one.at(k).never:.0%} of documents in none"
        for one in by_way[0]
    )
    caption = f"In how many top-{k} lists documents are, the most frequent first; a steep start is a hub."
    return FigureBlock("occurrences", caption, f"Number of top-{k} lists by document. {alt}.", data, occurrence_curves)


def occurrence_curves(data: OccurrenceCurves) -> Figure:
    """A curve a system: rank of the document against the number of lists."""
    figure, panels = canvas(3.2, len(data.panels))
    for axes, way, systems, curves in zip(panels, data.panels, data.systems, data.counts, strict=True):
        for i, (system, counts) in enumerate(zip(systems, curves, strict=True)):
            style: dict[str, Any] = {"linestyle": _DASHES[(i // len(_COLOURS)) % len(_DASHES)], "linewidth": 1.4}
            axes.step(
                np.arange(1, len(counts) + 1), counts, where="mid", color=PALETTE[_COLOURS[i % len(_COLOURS)]],
                label=system, **style,
            )  # fmt: skip
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("documents, the most frequent first")
        axes.set_title(way, fontsize=9, loc="left")
        axes.grid()
        axes.set_axisbelow(True)
    panels[0].set_ylabel(f"top-{data.cutoff} lists")
    panels[0].set_ylim(bottom=0)
    panels[-1].legend(frameon=False, fontsize=8, loc="upper right")
    return figure
