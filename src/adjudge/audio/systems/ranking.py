"""From distances to runs: the nearest documents of each query, without the query and what its artist made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats, Ints, Keys
from adjudge.audio.systems.base import BASELINES, Distances, Sounds
from adjudge.audio.systems.chance import key_rows, keys_of
from adjudge.audio.systems.distances import blocks
from adjudge.audio.systems.labels import Labels
from adjudge.audio.systems.queries import choose_queries
from adjudge.checks import check_whole
from adjudge.errors import AdjudgeError, reason, warn
from adjudge.model.runs import Runs
from adjudge.processes import Progress

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

    from adjudge.audio.library.folder import Library

__all__ = ["choose_queries", "make_runs", "nearest", "sounds_of", "write_runs"]

LIST_LENGTH = 5
"""Documents retrieved for a query, as in MIREX."""
_NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)


def sounds_of(
    library: Library,
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Sounds:
    """What systems need of a library: its documents, tags, and the audio features that the named systems look at.

    Without names, those of all. Features are computed where they are not there yet, over ``workers`` processes.
    """
    chosen = [BASELINES[name] for name in (BASELINES if names is None else names)]
    needs = list(dict.fromkeys(need for system in chosen for need in system.needs))
    features: dict[str, Floats] = {}
    if needs and len(library):
        from adjudge.audio.features.extracting import library_features

        features = library_features(library, needs, workers=workers, progress=progress)
    return Sounds(library.documents, features, library.tracks, seed)


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

    The query itself is never retrieved, and with ``artist_filter`` nothing of its artist either: who asks for similar
    music knows the artist already, and systems are good at telling the recording studio. Where the artist is not
    known nothing is filtered, which is said. Equal distances are ordered by chance, anew for each query and system.

    Scores are distances with their sign changed, in single precision, and strictly descending: what is written to a
    file and read by any tool is in this order. ``progress`` is told how many systems are done.
    """
    from adjudge.model.collection import Table, build_collection

    names = list(dict.fromkeys(BASELINES if systems is None else systems))
    started = [BASELINES[name] for name in names]
    check_whole("k", k, 1)
    asked = sounds.documents if queries is None else choose_queries(sounds, documents=queries)
    if len(sounds) < 2 or not names:
        raise AdjudgeError(f"expected systems and at least 2 documents, got {len(names)} and {len(sounds)}")
    index = {document: place for place, document in enumerate(sounds.documents)}
    places = np.array([index[document] for document in asked], dtype=np.int64)
    artists = Labels(sounds.tracks, "artist") if artist_filter else None
    _say_filter(artists, places)
    tables, most = [], min(k, len(sounds) - 1)
    for done, system in enumerate(started, start=1):
        found, distance = nearest(system.start(sounds), sounds, places, most, about=system.name, artists=artists)
        if done == 1:
            _say_short(found, k)
        tables.append(Table(_frame(sounds, system.name, places, found, distance), system.name))
        if progress is not None:
            progress(done, len(started))
    return build_collection(tables).runs


def _say_filter(artists: Labels | None, places: Ints) -> None:
    if artists is None:
        return
    unknown = int((~artists.known[places]).sum())
    if unknown == len(places):
        warn("The artist of no query is known: nothing is filtered by artist.", stacklevel=3)
    elif unknown:
        warn(f"The artist of {unknown:,} of {len(places):,} queries is not known: nothing is filtered for these.", 3)


def _say_short(found: Ints, k: int) -> None:
    left = (found >= 0).sum(axis=1)
    if not left.any():
        raise AdjudgeError("expected documents by other artists than the queries', got none; see --no-artist-filter")
    if (short := int((left < k).sum())) > 0:
        empty = int((left == 0).sum())
        none = f", {empty:,} of them none" if empty else ""
        warn(f"{short:,} of {len(left):,} queries have fewer than {k:,} documents to retrieve{none}.", stacklevel=3)


def nearest(
    distances: Distances, sounds: Sounds, places: Ints, k: int, *, about: str, artists: Labels | None = None
) -> tuple[Ints, Floats]:
    """Places of the ``k`` nearest documents of those at ``places``, nearest first, and their distances.

    Where fewer are left, -1 and infinity fill up. With ``artists``, documents that share one with the query are left
    out. Distances are compared in single precision, so that copies tie; ties are broken by the seed, the two
    documents and what it is ``about``, so that no document wins all of them.
    """
    (found,) = nearest_by(distances, sounds, places, k, about=about, filters=(artists,))
    return found


def nearest_by(
    distances: Distances, sounds: Sounds, places: Ints, k: int, *, about: str, filters: Sequence[Labels | None]
) -> list[tuple[Ints, Floats]]:
    """What :func:`nearest` gives under each of several filters, with distances computed once."""
    keys = keys_of(sounds.documents, seed=sounds.seed, about=f"ties of {about}")
    shape = (len(places), k)
    found = [(np.full(shape, -1, dtype=np.int64), np.full(shape, np.inf)) for _ in filters]
    start = 0
    for part in blocks(places, 2 * len(sounds)):
        rows = distances.rows(part)
        order = _sort_keys(rows, key_rows(keys, part))
        order[np.arange(len(part)), part] = _NOTHING
        here = slice(start, start + len(part))
        for (there, distance), artists in zip(found, filters, strict=True):
            first = _first(order if artists is None else _without(order, artists.same(part)), min(k, len(sounds)))
            there[here, : first.shape[1]] = first
            left = np.take_along_axis(rows, np.maximum(first, 0), axis=1)
            distance[here, : first.shape[1]] = np.where(first >= 0, left, np.inf)
        start += len(part)
    return found


def _without(order: Keys, same: csr_array) -> Keys:
    """The same keys, but where documents share an artist nothing is to be found."""
    kept = order.copy()
    kept[same.tocoo().coords] = _NOTHING
    return kept


def _first(order: Keys, k: int) -> Ints:
    """Places of the ``k`` smallest keys of each row, in order; -1 for what is not to be found."""
    first = np.argpartition(order, k - 1, axis=1)[:, :k]
    keys = np.take_along_axis(order, first, axis=1)
    by = np.argsort(keys, axis=1, kind="stable")
    return np.where(np.take_along_axis(keys, by, axis=1) == _NOTHING, -1, np.take_along_axis(first, by, axis=1))


def _sort_keys(distances: Floats, chance: Keys) -> Keys:
    """One whole number for distance and chance: bits of floats of 0 or more are in their order."""
    bits = (distances + 0.0).astype(np.float32).view(np.uint32).astype(np.uint64)
    bits <<= np.uint64(32)
    bits |= chance >> np.uint64(33)
    return bits


def _frame(sounds: Sounds, system: str, places: Ints, found: Ints, distance: Floats) -> pl.DataFrame:
    """Rows ``system, query, document, score`` of one system."""
    import polars as pl

    left = found >= 0
    names = pl.Series(list(sounds.documents), dtype=pl.String)
    return pl.DataFrame(
        {
            "query": names.gather(np.repeat(places, left.sum(axis=1))),
            "document": names.gather(found[left]),
            "score": descending_scores(distance)[left],
        }
    ).select(pl.lit(system).alias("system"), pl.all())


def descending_scores(distance: Floats) -> Floats:
    """Distances with their sign changed, in single precision, each less than the one before it; lists x ranks.

    A tie moves the later one down by a ten-millionth, or as little as single precision can; as decimals they are as
    short as they can be.

    >>> descending_scores(np.array([[0.0, 0.0, 0.25, 0.25]]))
    array([[ 0.000000e+00, -1.000000e-07, -2.500000e-01, -2.500001e-01]])
    """
    scores = -distance.astype(np.float32)
    for rank in range(1, scores.shape[1]):
        before = scores[:, rank - 1]
        below = np.minimum(np.nextafter(before, np.float32(-np.inf)), before - np.float32(1e-7))
        scores[:, rank] = np.minimum(scores[:, rank], below)
    return np.asarray(scores.astype(str).astype(np.float64) + 0.0)


def write_runs(runs: Runs, folder: Path) -> tuple[Path, ...]:
    """Write each system's run as a TREC file, ``<system>.txt``, into a folder, which is made where it is missing."""
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
