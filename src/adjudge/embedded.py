"""A small evaluation of music similarity, made by code: runs, judgments and metadata to try everything on.

It has the shape of the Audio Music Similarity task of MIREX. The collection holds 3,000 invented tracks: 12 by each of
25 artists in each of 10 genres. Queries are tracks of the collection, as many of one genre as of another, and systems
may return neither the query nor anything by its artist. Twelve systems of five teams answer; every track they return is
judged on the Fine scale (0 to 100) and again on the Broad one (0, 1, 2).

Behind it is a latent space. A track is the centre of its genre, plus an offset of its artist, plus one of its own; two
tracks are as similar as they are near. A team hears that space through its own distortion: some dimensions too loud,
every track misplaced, a few badly. A system of the team adds a small error. So the systems of a team return much the
same tracks and fail on the same queries. The baseline hears next to nothing.

What a listener hears is the true similarity, moved by how easy the query is. Eight assessors differ in severity and in
care. One judges a query; three judge every fifth. The Broad grade is another answer, with another slip, cut where that
assessor draws the lines: it follows the Fine grade, but is no function of it.

The sizes of these effects are chosen so that CG@5 varies as it does in MIREX (2011: system .18, query .51, residual .30
of the variance). Queries differ more than systems do; that is what makes systems hard to compare, and a demo without it
would flatter every method. The easiness of queries is dealt from even quantiles, not drawn, so that few queries vary as
many do. Every part has a random stream of its own, and every query one for its judgments: a deeper pool keeps the
grades of the shallower one.

>>> tables = demo_tables(queries=10, depth=5)
>>> tables.runs.shape, tables.runs.columns
((600, 5), ['system', 'query', 'document', 'score', 'team'])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit, ndtri

from adjudge.arrays import Floats, Ints
from adjudge.checks import SEED, Whole, checked
from adjudge.errors import AdjudgeError, shown
from adjudge.model.collection import Collection, Table, build_collection
from adjudge.model.provenance import Provenance
from adjudge.model.scales import BROAD, FINE
from adjudge.seeds import Seed, as_seed

GENRES = (
    "Baroque", "Blues", "Classical", "Country", "Electronica", "Hip-Hop", "Jazz", "Metal", "Rock", "Romantic"
)  # fmt: skip
N_ARTISTS, N_TRACKS = 25, 12  # artists of a genre, tracks of an artist
N_DOCUMENTS = len(GENRES) * N_ARTISTS * N_TRACKS
MOST_DEPTH = N_DOCUMENTS - N_TRACKS  # everything but the query's artist

# The latent space: standard deviations in each of its dimensions.
N_DIMENSIONS = 10
GENRE_SPREAD, ARTIST_SPREAD, TRACK_SPREAD = 1.0, 0.6, 0.6

# The listeners, in Fine points before they are squashed into the scale.
N_ASSESSORS, PANEL, PANEL_EVERY = 8, 3, 5
MIDDLE_DISTANCE, POINTS_PER_DISTANCE = 3.1, 28.0  # a track this far away earns 50; what one unit nearer adds
EASINESS, SEVERITY = 17.5, 6.0  # standard deviations between queries, between assessors
SLIP, SCALE_SLIP = 8.0, 6.0  # standard deviations of the error in a pair: common to both scales, and own to each
BROAD_LIMITS, LIMIT_SPREAD = (32.0, 68.0), 6.0  # where Broad 1 and 2 begin, and how assessors differ about it
SOFTNESS = 18.0  # how slowly grades approach 0 and 100

# fmt: off
GIVEN = ("Ada", "Åse", "Bo", "Chloë", "Dario", "Edda", "Eli", "Iñaki", "Jun", "Kaja", "Łucja", "Milo", "Otis", "Renée")
HEADS = ("Bra", "Cor", "Dal", "Esk", "Fen", "Göl", "Hul", "Iv", "Jan", "Kre", "Lun", "Mør", "Nol", "Ost", "Pra", "Sil")
TAILS = ("bek", "dal", "ério", "far", "gre", "hä", "ick", "mon", "nay", "or", "pić", "quist", "rel", "søe", "ta", "vík")
MOODS = ("Amber", "Blue", "Broken", "Early", "Golden", "Hidden", "Last", "Little", "Old", "Quiet", "Red", "Slow")
THINGS = ("Café", "Chaconne", "Étude", "Fjord", "Garden", "Mañana", "Mirror", "Prélude", "River", "Straße", "Waltz")
# fmt: on


class Team(NamedTuple):
    """A team: how far it misplaces tracks, in latent units, and how much each of its systems adds to that."""

    code: str
    error: float
    system_errors: tuple[float, ...]


TEAMS = (
    Team("KLN", 0.28, (0.18, 0.10, 0.28)),
    Team("BSS", 0.36, (0.10, 0.18, 0.30)),
    Team("HVQ", 0.44, (0.30, 0.20, 0.12)),
    Team("TRW", 0.52, (0.12, 0.35)),
    Team("ZX", 3.5, (0.30,)),  # the baseline, next to random
)
COLOURING = 0.35  # sd of the logarithm of the weight that a team gives to a dimension
MISHEARING = 0.95  # sd of the logarithm of a team's error in a track: most tracks are placed well, a few badly

_NAMES, _SPACE, _QUERIES, _PEOPLE, _ANSWERS, _TEAMS = range(6)  # the random streams


@dataclass(frozen=True)
class DemoTables:
    """The demo collection as plain tables.

    ``runs`` has ``system, query, document, score, team``: lists from best to worst, scores strictly decreasing.
    ``judgments`` has ``query, document, grade, assessor`` on the Fine scale, ``broad`` the same pairs and assessors on
    the Broad scale. ``metadata`` has ``document, artist, genre, title``.
    """

    runs: pl.DataFrame
    judgments: pl.DataFrame
    broad: pl.DataFrame
    metadata: pl.DataFrame


@checked("demo", seed=SEED, queries=Whole(1, N_DOCUMENTS), depth=Whole(1, MOST_DEPTH))
def demo_tables(seed: int = 2012, *, queries: int = 60, depth: int = 10) -> DemoTables:
    """Make the demo collection: ``queries`` queries, and the top ``depth`` of twelve systems for each, all judged.

    The same seed gives the same tables. Up to 3,000 queries and a depth of 2,988, all that an artist filter leaves.

    >>> demo_tables(queries=10, depth=3000)
    Traceback (most recent call last):
    adjudge.errors.ParameterError: demo: 'depth' must be a whole number from 1 to 2,988, got 3000
    """
    metadata = _metadata(_stream(seed, _NAMES))
    ids = metadata["document"]
    space = _latent_space(_stream(seed, _SPACE))
    query_docs = _choose_queries(_stream(seed, _QUERIES), queries)
    runs, pools = [], []
    for number, team in enumerate(TEAMS):
        for system, view in _views_of(team, space, _stream(seed, _TEAMS, number)):
            ranked, scores = _rank(view, query_docs, depth)
            columns = {"query": ids.gather(np.repeat(query_docs, depth)), "document": ids.gather(ranked.ravel())}
            table = pl.DataFrame({**columns, "score": scores.ravel()})
            runs.append(table.select(pl.lit(system).alias("system"), pl.all(), pl.lit(team.code).alias("team")))
            pools.append(ranked)
    judgments, broad = _judge(seed, ids, space, query_docs, np.hstack(pools))
    return DemoTables(pl.concat(runs), judgments, broad, metadata)


@checked("demo", seed=SEED)
def demo_space(seed: int = 2012) -> tuple[list[str], Floats]:
    """Where the demo's tracks are: their ids, and documents x dimensions in the latent space of the same seed.

    Tracks are ordered by genre, then artist, then track. Two of them are as similar as they are near.

    >>> ids, space = demo_space()
    >>> ids[0], ids[-1], space.shape
    ('baroque-01-01', 'romantic-25-12', (3000, 10))
    """
    return _document_ids(), _latent_space(_stream(seed, _SPACE))


def demo_judgments(documents: Sequence[str], seed: int = 2012) -> pl.DataFrame:
    """What the demo's listeners say of every pair of these documents by different artists, each as the query in turn.

    A table ``query, document, grade, assessor`` on the Fine scale: the truth for systems that hear the demo's music.

    >>> demo_judgments(["jazz-01-01", "jazz-01-02", "metal-01-01"])["query"].unique(maintain_order=True).to_list()
    ['jazz-01-01', 'jazz-01-02', 'metal-01-01']
    """
    ids, space = demo_space(seed)
    places = {document: place for place, document in enumerate(ids)}
    for document in documents:
        if document not in places:
            raise AdjudgeError(f"demo: no document is called {shown(document)}; they go from {ids[0]} to {ids[-1]}")
    chosen = np.array([places[document] for document in documents], dtype=np.int64)
    judged, _ = _judge(seed, pl.Series(ids), space, chosen, np.tile(chosen, (len(chosen), 1)))
    asked, heard = (pl.col(name).str.head(-3) for name in ("query", "document"))  # without the number of the track
    return judged.filter(asked != heard)


def _stream(seed: int, *part: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=part))


def _document_ids() -> list[str]:
    return [
        f"{genre.replace('-', '').lower()}-{artist:02}-{track:02}"
        for genre in GENRES
        for artist in range(1, N_ARTISTS + 1)
        for track in range(1, N_TRACKS + 1)
    ]


def _metadata(rng: np.random.Generator) -> pl.DataFrame:
    """Short ids that never change, and names and titles that nobody bears, some beyond ASCII."""
    n_artists = len(GENRES) * N_ARTISTS
    surnames = rng.permutation([head + tail for head in HEADS for tail in TAILS])[:n_artists]
    artists = [f"{given} {surname}" for given, surname in zip(rng.choice(GIVEN, n_artists), surnames, strict=True)]
    names = np.array([f"{mood} {thing}" for mood in MOODS for thing in THINGS])
    titles = [title for _ in artists for title in rng.choice(names, N_TRACKS, replace=False).tolist()]
    genre_of = [genre for genre in GENRES for _ in range(N_ARTISTS)]
    of_tracks = {"artist": np.repeat(artists, N_TRACKS).tolist(), "genre": np.repeat(genre_of, N_TRACKS).tolist()}
    return pl.DataFrame({"document": _document_ids(), **of_tracks, "title": titles})


def _latent_space(rng: np.random.Generator) -> Floats:
    """Where the tracks are: documents x dimensions. Genres lie equally far from one another."""
    directions = np.linalg.qr(rng.normal(size=(N_DIMENSIONS, len(GENRES))))[0].T
    centres = GENRE_SPREAD * np.sqrt(N_DIMENSIONS) * directions
    artists = ARTIST_SPREAD * rng.normal(size=(len(GENRES) * N_ARTISTS, N_DIMENSIONS))
    tracks = TRACK_SPREAD * rng.normal(size=(N_DOCUMENTS, N_DIMENSIONS))
    placed: Floats = np.repeat(centres, N_ARTISTS * N_TRACKS, axis=0) + np.repeat(artists, N_TRACKS, axis=0) + tracks
    return placed


def _choose_queries(rng: np.random.Generator, n_queries: int) -> Ints:
    """Documents to serve as queries, genre by genre, the first genres having one more where they cannot be even."""
    of_genre = N_ARTISTS * N_TRACKS
    each, extra = divmod(n_queries, len(GENRES))
    chosen = [
        genre * of_genre + np.sort(rng.permutation(of_genre)[: each + (genre < extra)]) for genre in range(len(GENRES))
    ]
    return np.concatenate(chosen).astype(np.int64)


def _views_of(team: Team, space: Floats, rng: np.random.Generator) -> list[tuple[str, Floats]]:
    """Name and space of each system of a team: the space as the team hears it, and the system's own error on top."""
    weights = np.exp(COLOURING * rng.normal(size=N_DIMENSIONS))
    error = team.error * np.exp(MISHEARING * rng.normal(size=(len(space), 1)))
    heard = space * weights + error * rng.normal(size=space.shape)
    return [
        (f"{team.code}{number}", heard + own * rng.normal(size=space.shape))
        for number, own in enumerate(team.system_errors, start=1)
    ]


def _distances(space: Floats, queries: Ints) -> Floats:
    """Euclidean distance from each query to each document: queries x documents."""
    square = np.sum(space**2, axis=1)
    apart: Floats = np.sqrt(np.maximum(square[queries, None] + square - 2 * space[queries] @ space.T, 0))
    return apart


def _rank(view: Floats, queries: Ints, depth: int) -> tuple[Ints, Floats]:
    """Retrieve the nearest documents by other artists and their scores, both queries x depth.

    A score is the negated distance to six decimals; what that would tie goes one millionth below its predecessor.
    """
    distances = _distances(view, queries)
    artist = np.arange(len(view)) // N_TRACKS  # documents are numbered by genre, then artist, then track
    distances[artist[queries, None] == artist] = np.inf
    ranked = np.argsort(distances, axis=1, kind="stable")[:, :depth]
    millionths = np.rint(-1e6 * np.take_along_axis(distances, ranked, axis=1))
    ranks = np.arange(depth)
    return ranked, (np.minimum.accumulate(millionths + ranks, axis=1) - ranks) / 1e6


def _judge(seed: int, ids: pl.Series, space: Floats, queries: Ints, pools: Ints) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Fine and Broad judgments of every pooled document (``pools`` is queries x retrieved, with repetitions)."""
    rng = _stream(seed, _PEOPLE)
    easiness = EASINESS * _dealt_normal(rng, len(queries))
    heard = 50 + POINTS_PER_DISTANCE * (MIDDLE_DISTANCE - _distances(space, queries)) + easiness[:, None]
    leniency = SEVERITY * _dealt_normal(rng, N_ASSESSORS)
    carelessness = rng.uniform(0.6, 1.4, N_ASSESSORS)
    limits = BROAD_LIMITS + LIMIT_SPREAD * rng.normal(size=(N_ASSESSORS, 2))
    mains = rng.permutation(len(queries)) % N_ASSESSORS
    rows = []
    for number, pool in enumerate(pools):
        rng = _stream(seed, _ANSWERS, number)
        others = 1 + rng.permutation(N_ASSESSORS - 1)[: PANEL - 1]
        panel = (mains[number] + np.array([0, *others])) % N_ASSESSORS
        slips = rng.normal(size=(3, PANEL, heard.shape[1])) * carelessness[panel, None]
        appraised = heard[number] + leniency[panel, None] + SLIP * slips[0]
        fine = np.rint(100 * expit((appraised + SCALE_SLIP * slips[1] - 50) / SOFTNESS))
        reached = (appraised + SCALE_SLIP * slips[2])[..., None] >= limits[panel, None]
        grades = np.stack([fine, reached.sum(axis=2)]).astype(np.int64)  # scales x panel x documents
        asked, pooled = PANEL if number % PANEL_EVERY == 0 else 1, np.unique(pool)
        pairs = np.meshgrid(queries[number], panel[:asked], pooled, indexing="ij")
        rows.append(np.vstack([np.ravel(column) for column in (*pairs, *grades[:, :asked, pooled])]))
    query, who, document, fine, broad = np.hstack(rows)
    return _judgment_table(ids, query, document, fine, who), _judgment_table(ids, query, document, broad, who)


def _dealt_normal(rng: np.random.Generator, size: int) -> Floats:
    """Shuffle the even quantiles of a standard normal distribution."""
    return rng.permutation(ndtri((np.arange(size) + 0.5) / size))


def _judgment_table(ids: pl.Series, query: Ints, document: Ints, grade: Ints, assessor: Ints) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "query": ids.gather(query),
            "document": ids.gather(document),
            "grade": grade.astype(np.float64),
            "assessor": pl.Series([f"A{number}" for number in range(1, N_ASSESSORS + 1)]).gather(assessor),
        }
    )


@checked("demo", scale=Literal["fine", "broad"])
def demo(
    seed: Seed = 2012, *, queries: int = 60, depth: int = 10, scale: Literal["fine", "broad"] = "fine"
) -> Collection:
    """The demo as a collection, judged on the ``fine`` or the ``broad`` scale.

    >>> demo(queries=10, depth=5)
    Collection(Runs(12 systems, 600 documents retrieved), Judgments(...), Metadata(3,000 documents: artist, genre,
    title))
    """
    seed = as_seed(seed)
    tables = demo_tables(seed, queries=queries, depth=depth)
    judgments = tables.judgments if scale == "fine" else tables.broad
    settings = {"demo": True, "demo_seed": seed, "queries": queries, "ranks": depth, "scale": scale}
    return build_collection(
        [Table(tables.runs, "demo runs")],
        [Table(judgments, "demo judgments")],
        Table(tables.metadata, "demo metadata"),
        scale=FINE if scale == "fine" else BROAD,
        provenance=Provenance(settings=settings),
    )
