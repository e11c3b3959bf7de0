"""From distances to runs: the nearest documents of each query, without the query and its artist's own.

Queries are all documents, some drawn by chance and balanced over genres, or those named (:func:`choose_queries`).
:func:`make_runs` ranks the other documents of each, and :func:`write_runs` writes TREC files.

:func:`write_matrix` writes all distances of a system, block by block: a million pairs are never in memory at once.
``npy`` is for NumPy, in single precision, with the documents of rows and columns in a text file beside it. ``mirex`` is
the text that MIREX asked of systems for audio music similarity: the name of the system, numbered documents, a line
``Q/R`` with the numbers of the columns, and one row of distances per document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems.base import (
    BASELINES,
    Distances,
    Labels,
    Sounds,
    fold_label,
    hash_names,
    hash_pairs,
)
from adjudge.audio.systems.distances import split_places
from adjudge.checks import COUNT, CUTOFF, SEED, WORKERS, checked
from adjudge.errors import AdjudgeError, InputError, reason, shown, warn
from adjudge.io import whole_file
from adjudge.model.runs import Runs
from adjudge.parallel import Progress
from adjudge.seeds import Seed, as_seed
from adjudge.text import listed

if TYPE_CHECKING:
    import polars as pl

    from adjudge.audio.library.folder import Library

LIST_LENGTH = 5
"""Documents retrieved for a query, as in MIREX."""
_EXCLUDED = np.uint64(0xFFFFFFFFFFFFFFFF)
MatrixForm = Literal["npy", "mirex"]
MATRIX_FOLDER = "matrices"
_SUFFIXES = {"npy": ".npy", "mirex": ".txt"}


@checked(number=COUNT, per_genre=COUNT)
def choose_queries(
    sounds: Sounds, number: int | None = None, *, per_genre: int | None = None, documents: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Documents to be queries: all, a ``number`` of them, a number ``per_genre``, or the ``documents`` named.

    The draw depends on the seed of ``sounds``. A number is spread over genres as evenly as these allow; documents of
    unknown genre count as one more genre. With ``per_genre`` these are left out, and genres with fewer documents give
    all they have. Documents that come or go change little of the draw. Queries are in the order of the library, named
    ones in the order given.

    >>> import polars as pl
    >>> tracks = pl.DataFrame({"genre": ["a"] * 4 + ["b"] * 2 + ["c"] * 4})
    >>> sounds = Sounds(tuple("0123456789"), {}, tracks)
    >>> len(choose_queries(sounds)), choose_queries(sounds, documents=["3", "1"])
    (10, ('3', '1'))
    >>> [sum(query in part for query in choose_queries(sounds, 8)) for part in ("0123", "45", "6789")]
    [3, 2, 3]
    """
    if sum(choice is not None for choice in (number, per_genre, documents)) > 1:
        raise AdjudgeError("expected one way to choose queries, got several: a number, per genre, or documents")
    if documents is not None:
        wanted, known = tuple(dict.fromkeys(documents)), set(sounds.documents)
        if missing := [shown(name) for name in wanted if name not in known]:
            came = listed(missing, most=1)
            raise AdjudgeError(f"expected queries that are documents of the library, got {came}")
        if not wanted:
            raise AdjudgeError("expected queries, got none")
        return wanted
    if per_genre is not None:
        places = _draw_per_genre(sounds, per_genre)
    elif number is not None:
        if number > len(sounds):
            raise AdjudgeError(f"expected at most {len(sounds):,} queries, as there are documents, got {number:,}")
        groups = _group_by_genre(sounds)
        rounds = (place for turn in zip_longest(*groups.values()) for place in turn if place is not None)
        places = np.sort(np.fromiter(rounds, dtype=np.int64, count=len(sounds))[:number])
    else:
        return sounds.documents
    return tuple(sounds.documents[place] for place in places)


def _draw_per_genre(sounds: Sounds, number: int) -> Ints:
    groups = _group_by_genre(sounds)
    unknown = groups.pop("", [])
    if not groups:
        raise AdjudgeError("expected genres for queries of each, got none; give a number of queries instead")
    if unknown:
        several = "documents of unknown genre are no queries"
        warn(f"{len(unknown):,} {several if len(unknown) > 1 else 'document of unknown genre is no query'}.", 4)
    short = sum(len(group) < number for group in groups.values())
    if short:
        warn(f"{short} of {len(groups)} genres have fewer than {number} documents: all of these are queries.", 4)
    return np.sort(np.array([place for group in groups.values() for place in group[:number]], dtype=np.int64))


def _group_by_genre(sounds: Sounds) -> dict[str, list[int]]:
    """Places of documents by genre, genres and documents in random order; the unknown genre is called ''."""
    column = sounds.tracks["genre"].to_list() if "genre" in sounds.tracks.columns else [None] * len(sounds)
    groups: dict[str, list[int]] = {}
    for place in np.argsort(hash_names(sounds.documents, seed=sounds.seed, about="queries"), kind="stable"):
        groups.setdefault(fold_label(column[place] or ""), []).append(int(place))
    order = np.argsort(hash_names(groups, seed=sounds.seed, about="genres"), kind="stable")
    names = list(groups)
    return {names[place]: groups[names[place]] for place in order}


@checked(seed=SEED, workers=WORKERS)
def sounds_of(
    library: Library,
    names: Sequence[str] | None = None,
    *,
    seed: Seed = 0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Sounds:
    """What systems need of a library: its documents, its tags, and the audio features of the named systems.

    Without names, those of all systems. Features that are missing are computed, over ``workers`` processes.
    """
    seed = as_seed(seed)
    chosen = [BASELINES[name] for name in (BASELINES if names is None else names)]
    needs = list(dict.fromkeys(need for system in chosen for need in system.needs))
    features: Mapping[str, Floats] = {}
    if needs and len(library):
        from adjudge.audio.features.extract import extract_library

        features = extract_library(library, needs, workers=workers, progress=progress).values
    return Sounds(library.documents, features, library.tracks, seed)


@checked(k=CUTOFF)
def make_runs(
    sounds: Sounds,
    systems: Sequence[str] | None = None,
    queries: Sequence[str] | None = None,
    *,
    k: int = LIST_LENGTH,
    artist_filter: bool = True,
    progress: Progress | None = None,
) -> Runs:
    """The ``k`` nearest documents of each query by each system, all by default.

    The query itself is never retrieved, and with ``artist_filter`` nothing by its artist either: people who ask for
    similar music know the artist already, and systems are good at recognising the recording studio. Where the artist
    is unknown nothing is filtered, and a warning says so. Equal distances are ordered by chance, for each query and
    system again.

    Scores are negative distances in single precision, strictly descending, so every tool reads the run in this order.
    ``progress`` is told how many systems are done.
    """
    from adjudge.model.collection import Table, build_collection

    names = list(dict.fromkeys(BASELINES if systems is None else systems))
    baselines = [BASELINES[name] for name in names]
    query_documents = sounds.documents if queries is None else choose_queries(sounds, documents=queries)
    if len(sounds) < 2 or not names:
        raise AdjudgeError(f"expected systems and at least 2 documents, got {len(names)} and {len(sounds)}")
    index = {document: place for place, document in enumerate(sounds.documents)}
    places = np.array([index[document] for document in query_documents], dtype=np.int64)
    artists = Labels(sounds.tracks, "artist") if artist_filter else None
    unknown = 0 if artists is None else int((~artists.known[places]).sum())
    if unknown == len(places):
        warn("The artist of no query is known: nothing is filtered by artist.", stacklevel=2)
    elif unknown:
        warn(f"The artist of {unknown:,} of {len(places):,} queries is not known: nothing is filtered for these.", 2)
    tables, most = [], min(k, len(sounds) - 1)
    for done, system in enumerate(baselines, start=1):
        started = system.start(sounds)
        ((lists, distances),) = find_nearest(started, sounds, places, most, about=system.name, filters=(artists,))
        if done == 1:
            _warn_about_short_lists(lists, k)
        tables.append(Table(_build_table(sounds, system.name, places, lists, distances), system.name))
        if progress is not None:
            progress(done, len(baselines))
    return build_collection(tables).runs


def _warn_about_short_lists(lists: Ints, k: int) -> None:
    left = (lists >= 0).sum(axis=1)
    if not left.any():
        raise AdjudgeError("expected documents by other artists than the queries', got none; see --no-artist-filter")
    if (short := int((left < k).sum())) > 0:
        empty = int((left == 0).sum())
        none = f", {empty:,} of them none" if empty else ""
        warn(f"{short:,} of {len(left):,} queries have fewer than {k:,} documents to retrieve{none}.", stacklevel=3)


def _build_table(sounds: Sounds, system: str, places: Ints, lists: Ints, distances: Floats) -> pl.DataFrame:
    """Rows ``system, query, document, score`` of one system."""
    import polars as pl

    left = lists >= 0
    names = pl.Series(list(sounds.documents), dtype=pl.String)
    return pl.DataFrame(
        {
            "query": names.gather(np.repeat(places, left.sum(axis=1))),
            "document": names.gather(lists[left]),
            "score": make_descending_scores(distances)[left],
        }
    ).select(pl.lit(system).alias("system"), pl.all())


def find_nearest(
    distances: Distances, sounds: Sounds, places: Ints, k: int, *, about: str, filters: Sequence[Labels | None]
) -> list[tuple[Ints, Floats]]:
    """Places of the ``k`` nearest documents of those at ``places``, nearest first, and their distances, by filter.

    A filter leaves out documents that share an artist with the query, None leaves out nothing; distances are computed
    once for all. Where fewer than ``k`` are left, -1 and infinity fill the list. Distances are compared in single
    precision, so that copies tie; ties are broken by the seed, the two documents and ``about``, so that no document
    wins all of them.
    """
    keys = hash_names(sounds.documents, seed=sounds.seed, about=f"ties of {about}")
    shape = (len(places), k)
    nearest = [(np.full(shape, -1, dtype=np.int64), np.full(shape, np.inf)) for _ in filters]
    start = 0
    for part in split_places(places, 2 * len(sounds)):
        rows = distances.rows(part)
        order = (
            (rows + 0.0).astype(np.float32).view(np.uint32).astype(np.uint64)
        )  # floats of 0 or more sort by their bits
        order <<= np.uint64(32)
        order |= hash_pairs(keys, part) >> np.uint64(33)
        order[np.arange(len(part)), part] = _EXCLUDED
        here = slice(start, start + len(part))
        for (lists, list_distances), artists in zip(nearest, filters, strict=True):
            allowed = order
            if artists is not None:
                allowed = order.copy()
                allowed[artists.same(part).tocoo().coords] = _EXCLUDED
            most = min(k, len(sounds))
            first = np.argpartition(allowed, most - 1, axis=1)[:, :most]
            smallest = np.take_along_axis(allowed, first, axis=1)
            by = np.argsort(smallest, axis=1, kind="stable")
            is_excluded = np.take_along_axis(smallest, by, axis=1) == _EXCLUDED
            first = np.where(is_excluded, -1, np.take_along_axis(first, by, axis=1))
            lists[here, : first.shape[1]] = first
            first_distances = np.take_along_axis(rows, np.maximum(first, 0), axis=1)
            list_distances[here, : first.shape[1]] = np.where(first >= 0, first_distances, np.inf)
        start += len(part)
    return nearest


def make_descending_scores(distances: Floats) -> Floats:
    """Negative distances in single precision, each less than the one before it; lists x ranks.

    In a tie, the later score is lower by a ten-millionth, or by the least that single precision can express. Written
    as decimals, scores are as short as they can be.

    >>> make_descending_scores(np.array([[0.0, 0.0, 0.25, 0.25]]))
    array([[ 0.000000e+00, -1.000000e-07, -2.500000e-01, -2.500001e-01]])
    """
    scores = -distances.astype(np.float32)
    for rank in range(1, scores.shape[1]):
        before = scores[:, rank - 1]
        below = np.minimum(np.nextafter(before, np.float32(-np.inf)), before - np.float32(1e-7))
        scores[:, rank] = np.minimum(scores[:, rank], below)
    return np.asarray(scores.astype(str).astype(np.float64) + 0.0)


def write_runs(runs: Runs, folder: Path) -> tuple[Path, ...]:
    """Write each system's run as a TREC file, ``<system>.txt``, into a folder, which is created if needed."""
    from adjudge.formats import write

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AdjudgeError(f"{folder}: cannot be made: {reason(error)}") from None
    paths = []
    for run in runs:
        path = folder / f"{run.system}.txt"
        write(Runs((run,), runs.queries, runs.documents, runs.cut_at), path, format="trec")
        paths.append(path)
    return tuple(paths)


@checked(form=MatrixForm)
def write_matrix(
    sounds: Sounds, system: str, folder: Path, *, form: MatrixForm = "npy", progress: Progress | None = None
) -> Path:
    """Write the distances of a system between all documents to ``<system>.npy`` or ``<system>.txt`` in a folder.

    The file appears when it is complete, and an older one stays until then. With ``npy`` the documents are in
    ``<system>.documents.txt``, one per line. ``progress`` is told how many rows are done.
    """
    import polars as pl

    distances, n = BASELINES[system].start(sounds), len(sounds)
    target = folder / f"{system}{_SUFFIXES[form]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if form == "npy":
            with whole_file(folder / f"{system}.documents.txt") as file:
                file.write("".join(f"{name}\n" for name in sounds.documents).encode())
        with whole_file(target) as file:
            if form == "npy":
                np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n, n)})
            else:
                numbered = "".join(f"{number}\t{name}\n" for number, name in enumerate(sounds.documents, start=1))
                columns = "\t".join(str(number) for number in range(1, n + 1))
                file.write(f"{system}\n{numbered}Q/R\t{columns}\n".encode())
            for part in split_places(np.arange(n), n if form == "npy" else 4 * n):
                rows = distances.rows(part).astype("<f4")
                if form == "npy":
                    file.write(rows.tobytes())
                else:
                    table = pl.DataFrame(rows)
                    table.insert_column(0, pl.Series("number", part + 1))
                    table.write_csv(file, separator="\t", include_header=False)
                if progress is not None:
                    progress(int(part[-1]) + 1, n)
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", source=str(target)) from None
    return target
