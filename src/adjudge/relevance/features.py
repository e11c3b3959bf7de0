"""Features of pairs: what runs, metadata, judgments and similarity say of the relevance of a document (thesis 7.2.3).

*Output-based* features need runs and metadata only. *Judgment-based* ones are means of what was judged so far, on the
scale of relevance (grade / highest grade, 0 to 1). Others need the similarity of documents, aSIM judgments too. A
feature is NaN where it is not defined: no metadata, unknown to the similarity, not retrieved by any system, nothing
judged that would count. Two names with a colon between them are their product. Machine opinions are features too, by
their own names. A pair is left out of its own judgment-based features. The published models were fitted with it inside,
so that a document alone of its artist had its own judgment for a feature; ``own=True`` computes them so.

Similarity is also a Gaussian effect, the cluster hypothesis (Hearst and Pedersen 1996, doi:10.1145/243199.243216):
within a query, the relevance of two documents varies together as far as they are similar. Similarities S of the
documents of a query become a covariance K. Centring, K = H S H with H = I - 11'/n, takes out what all documents have in
common, which belongs to the query; negative eigenvalues, which a similarity may have and a covariance may not, count as
0. K is kept as loadings, K ≈ L L', of its few largest eigenvalues. Where the last of these would be one of several
equal ones, none of them is kept, for which came first would be chance: documents that are all equally unlike share
nothing. One factor for all queries makes the mean of diagonals 1, so that the variance of the effect is comparable with
others, and a query whose documents are much the same has little of it.

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import SEVERAL
from adjudge.errors import AdjudgeError
from adjudge.model.collection import similarities
from adjudge.model.scales import Scale
from adjudge.registry import Registry, unknown
from adjudge.relevance.candidates import Candidates

_MOST_LEVELS = 11  # scales with more are cut into ten parts


def cut_levels(scale: Scale, wanted: int | None = None) -> tuple[Floats, tuple[float, ...]]:
    """Lower bounds of the levels from the second on, and what each is worth, both as relevance from 0 to 1.

    A scale with more than eleven levels, such as Fine, is cut into ten equal parts (T 7.3.1).

    >>> from adjudge.model.scales import BROAD, FINE
    >>> bounds, worth = cut_levels(BROAD)
    >>> bounds.tolist(), worth
    ([0.25, 0.75], (0.0, 0.5, 1.0))
    >>> cut_levels(FINE)[1][:3]
    (0.05, 0.15, 0.25)
    """
    if wanted is not None:
        SEVERAL.check("levels", wanted)
    own = 0
    if scale.levels is not None:  # those from 0 on, as grades below count as 0
        step = (scale.maximum - scale.minimum) / max(scale.levels - 1, 1)
        own = round(scale.maximum / step) + 1
    if 2 <= own <= _MOST_LEVELS and wanted in (None, own):
        worth = np.arange(own) / (own - 1)
        return (worth[1:] + worth[:-1]) / 2, tuple(worth.tolist())
    n = wanted or 10
    return np.arange(1, n) / n, tuple(((np.arange(n) + 0.5) / n).tolist())


def uniform_moments(scale: Scale) -> tuple[float, float]:
    """Mean and variance of relevance where every grade of the scale is equally likely; grades below 0 count as 0.

    >>> from adjudge.model.scales import BROAD, FINE
    >>> mean, variance = uniform_moments(FINE)
    >>> round(100 * mean, 6), round(100**2 * variance, 6)
    (50.0, 850.0)
    >>> round(2**2 * uniform_moments(BROAD)[1], 6)
    0.666667
    """
    if scale.levels is None:
        share = scale.maximum / (scale.maximum - scale.minimum)  # of grades above 0
        return share / 2, share / 3 - (share / 2) ** 2
    grades = np.linspace(scale.minimum, scale.maximum, scale.levels)
    relevance = np.maximum(grades, 0.0) / scale.maximum
    return float(relevance.mean()), float(relevance.var())


@dataclass(frozen=True, eq=False)
class Known:
    """Judgments so far: which pairs, their relevance (0 where unknown), whether a pair counts in its own features."""

    judged: Mask
    relevance: Floats
    own: bool = False


@dataclass(frozen=True)
class Feature:
    """A registered feature: what it says in one sentence, how it is computed, whether judgments enter it."""

    name: str
    about: str
    compute: Callable[[Evidence, Known], Floats]
    judged: bool


FEATURES: Registry[Feature] = Registry("feature")
Compute = TypeVar("Compute", bound=Callable[..., Floats])


def feature(name: str, *, judged: bool = False) -> Callable[[Compute], Compute]:
    """Register a feature under its name, with the first line of its docstring; the function comes back unchanged."""

    def register(compute: Compute) -> Compute:
        FEATURES.add(name, Feature(name, (compute.__doc__ or "").partition("\n")[0], compute, judged))
        return compute

    return register


class Evidence:
    """The features of candidates. Groups are numbered once, so that new judgments cost a few counts.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
    >>> evidence = Evidence(candidates(aj.read(runs, {"q": {"y": 2, "z": 1}}, scale="broad"), cutoff=2))
    >>> evidence.table(["fSYS", "OV", "fSYS:OV"]).tolist()
    [[0.5, 0.75, 0.375], [1.0, 0.75, 0.75], [0.5, 0.75, 0.375]]
    >>> evidence.column("aSYS").tolist()
    [1.0, 0.5, 1.0]
    """

    def __init__(self, candidates: Candidates) -> None:
        for name in candidates.opinions:
            if name in FEATURES or ":" in name:
                reason = "has a colon in it" if ":" in name else "is the name of a feature"
                raise AdjudgeError(f"The opinion {name!r} needs another name: {name!r} {reason}.")
        self.candidates = candidates
        self._fixed: dict[str, Floats] = {}

    def column(self, name: str, relevance: Floats | None = None, *, own: bool = False) -> Floats:
        """One feature of every pair; ``relevance`` is that of the candidates by default."""
        return self.table([name], relevance, own=own)[:, 0]

    def table(self, terms: Sequence[str], relevance: Floats | None = None, *, own: bool = False) -> Floats:
        """Features of every pair, pairs x terms; ``relevance`` has NaN where a pair is not judged (yet)."""
        values = self.candidates.relevance if relevance is None else relevance
        known = Known(~np.isnan(values), np.nan_to_num(values), own)
        done: dict[str, Floats] = {}
        for name in (name for term in terms for name in term.split(":")):
            if name not in done:
                done[name] = self._column(name, known)
        columns = [np.prod([done[name] for name in term.split(":")], axis=0) for term in terms]
        return np.stack(columns, axis=1) if columns else np.empty((len(self.candidates), 0))

    def _column(self, name: str, known: Known) -> Floats:
        if name in self.candidates.opinions:
            return self.candidates.opinions[name]
        if name not in FEATURES:
            raise unknown("feature", name, [*FEATURES, *self.candidates.opinions])
        chosen = FEATURES[name]
        if chosen.judged:
            return chosen.compute(self, known)
        if name not in self._fixed:
            self._fixed[name] = chosen.compute(self, known)
        return self._fixed[name]

    @cached_property
    def retrieved(self) -> Mask:
        """Pairs that some system retrieved; the others were only judged."""
        return np.asarray(self.candidates.n_retrieving > 0)

    @cached_property
    def genre_groups(self) -> Ints:
        """Number of the (query, genre) of each pair; -1 where the genre is not known."""
        return self._groups(self.candidates.genre)

    @cached_property
    def artist_groups(self) -> Ints:
        """Number of the (query, artist) of each pair; -1 where the artist is not known."""
        return self._groups(self.candidates.artist)

    @cached_property
    def alike(self) -> tuple[Floats, ...]:
        """Similarity of the documents of each query, (1 + pairs) x (1 + pairs), the query itself first.

        NaN in rows and columns of documents that it does not know; everywhere where the candidates have no similarity.
        """
        c = self.candidates
        names = [[query, *c.document[c.rows(q)]] for q, query in enumerate(c.queries)]
        if c.similarity is None:
            return tuple(np.full((len(each), len(each)), np.nan) for each in names)
        return tuple(similarities(c.similarity, each) for each in names)

    def _groups(self, label: Ints) -> Ints:
        groups = np.full(len(label), -1, dtype=np.int64)
        has = label >= 0
        keys = self.candidates.query[has] * (int(label.max(initial=0)) + 1) + label[has]
        groups[has] = np.unique(keys, return_inverse=True)[1]
        return groups


# Output-based


@feature("fSYS")
def f_sys(evidence: Evidence, known: Known) -> Floats:
    """Share of systems that retrieved the document for the query."""
    return evidence.candidates.n_retrieving / evidence.candidates.n_systems


@feature("fTEAM")
def f_team(evidence: Evidence, known: Known) -> Floats:
    """Share of teams with a system that retrieved the document; several systems of a team count once."""
    c = evidence.candidates
    n_teams = int(c.team.max(initial=-1)) + 1
    pair_team = np.unique(c.entry_pair * n_teams + c.team[c.entry_system])
    return np.bincount(pair_team // n_teams, minlength=len(c)) / n_teams


@feature("OV")
def overlap(evidence: Evidence, known: Known) -> Floats:
    """Pairs that were retrieved / (cutoff x systems x queries): 1 where no two systems agree; the same for all."""
    c = evidence.candidates
    return np.full(len(c), evidence.retrieved.sum() / (c.cutoff * c.n_systems * c.n_queries))


@feature("aRANK")
def a_rank(evidence: Evidence, known: Known) -> Floats:
    """Mean rank at which systems retrieved the document."""
    c = evidence.candidates
    return _ratio(_sums(c.entry_pair, c.entry_rank, len(c)), c.n_retrieving)


@feature("sGEN")
def s_gen(evidence: Evidence, known: Known) -> Floats:
    """1 where the genre of the document is that of the query, 0 where it is another."""
    c = evidence.candidates
    of_query = c.query_genre[c.query]
    return np.where((c.genre >= 0) & (of_query >= 0), (c.genre == of_query).astype(np.float64), np.nan)


@feature("fGEN")
def f_gen(evidence: Evidence, known: Known) -> Floats:
    """Share of the documents retrieved for the query, among those of known genre, that have the document's genre."""
    return _share(evidence, evidence.genre_groups)


@feature("fART")
def f_art(evidence: Evidence, known: Known) -> Floats:
    """Share of the documents retrieved for the query, among those of known artist, that have the document's artist."""
    return _share(evidence, evidence.artist_groups)


# Judgment-based


@feature("aSYS", judged=True)
def a_sys(evidence: Evidence, known: Known) -> Floats:
    """Mean, over the systems that retrieved the document, of the mean relevance of their judged documents."""
    c = evidence.candidates
    counts = known.judged[c.entry_pair].astype(np.float64)
    relevance = known.relevance[c.entry_pair]
    total = _sums(c.entry_system, relevance, c.n_systems)[c.entry_system]
    number = _sums(c.entry_system, counts, c.n_systems)[c.entry_system]
    if not known.own:
        total, number = total - relevance, number - counts
    defined = number > 0
    means = np.where(defined, total, 0.0) / np.maximum(number, 1.0)
    n_defined = _sums(c.entry_pair, defined, len(c))
    return _ratio(_sums(c.entry_pair, means, len(c)), n_defined)


@feature("aDOC", judged=True)
def a_doc(evidence: Evidence, known: Known) -> Floats:
    """Mean relevance of the other documents judged for the query."""
    return _mean_of_group(evidence.candidates.query, Known(known.judged, known.relevance))  # "the other", in the thesis


@feature("aGEN", judged=True)
def a_gen(evidence: Evidence, known: Known) -> Floats:
    """Mean relevance of the documents of the same genre judged for the query."""
    return _mean_of_group(evidence.genre_groups, known)


@feature("aART", judged=True)
def a_art(evidence: Evidence, known: Known) -> Floats:
    """Mean relevance of the documents by the same artist judged for the query."""
    return _mean_of_group(evidence.artist_groups, known)


# Similarity-based


@feature("sSIM")
def s_sim(evidence: Evidence, known: Known) -> Floats:
    """Similarity of the document and the query; the similarity must know the query as a document."""
    return np.concatenate([block[0, 1:] for block in evidence.alike])


@feature("aSIM", judged=True)
def a_sim(evidence: Evidence, known: Known) -> Floats:
    """Level of relevance whose judged documents of the query are on average most similar to the document.

    Levels are those of the scale, ten on Fine (.05, .15, … .95), as in the thesis; the lower one of two that are
    exactly as similar. Documents that the similarity does not know count for nothing.
    """
    c = evidence.candidates
    bounds, worth = cut_levels(c.scale)
    nearest_level = np.full(len(c), np.nan)
    level = np.searchsorted(bounds, known.relevance, side="right")
    for query in np.unique(c.query[known.judged]):
        rows = c.rows(query)
        nearest = _nearest(evidence.alike[query][1:, 1:], level[rows], known.judged[rows], len(worth), own=known.own)
        nearest_level[rows] = np.append(worth, np.nan)[nearest]
    return nearest_level


def _nearest(alike: Floats, level: Ints, judged: Mask, n_levels: int, *, own: bool) -> Ints:
    """Level most similar on average to each document of a query; -1 where there is none."""
    heard = ~np.isnan(np.diagonal(alike))
    counted = np.zeros((len(level), n_levels))
    counted[np.arange(len(level)), level] = judged & heard
    total = np.where(np.isnan(alike), 0.0, alike) @ counted
    number = np.broadcast_to(counted.sum(axis=0), total.shape)
    if not own:
        total, number = total - np.nan_to_num(np.diagonal(alike))[:, None] * counted, number - counted
    means = np.where((number > 0) & heard[:, None], total / np.maximum(number, 1), -np.inf)
    return np.where(np.isneginf(means).all(axis=1), -1, means.argmax(axis=1))


def _sums(code: Ints, values: Floats | Ints | Mask, n: int = 0) -> Floats:
    """Sum of the values under each code."""
    return np.asarray(np.bincount(code, weights=values, minlength=n), dtype=np.float64)


def _ratio(total: Floats, number: Floats | Ints) -> Floats:
    """Quotient, NaN where there is nothing to average."""
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _share(evidence: Evidence, group: Ints) -> Floats:
    """Of the retrieved documents of the query that are in some group, the share in the group of each pair."""
    c = evidence.candidates
    counted = (evidence.retrieved & (group >= 0)).astype(np.float64)
    in_group = _sums(group + 1, counted)[group + 1]  # + 1: the first place is for those in no group
    of_query = _sums(c.query, counted)[c.query]
    return np.where(group >= 0, _ratio(in_group, of_query), np.nan)


def _mean_of_group(group: Ints, known: Known) -> Floats:
    """Mean relevance of what is judged in the group of each pair, without the pair itself unless it counts."""
    counts, place = known.judged.astype(np.float64), group + 1
    total = _sums(place, known.relevance)[place]
    number = _sums(place, counts)[place]
    if not known.own:
        total, number = total - known.relevance, number - counts
    return np.where(group >= 0, _ratio(total, number), np.nan)


MOST_EFFECTS = 6
"""Most effects of similarity within a query."""
_LEAST = 1e-9  # eigenvalues below this, or this share of the largest, are rounding: similarities go up to 1
_EQUAL = 1e-6  # eigenvalues that differ by less than this share are equal
_STEPS = 4  # the part of the diagonal that loadings leave is rounded to quarters: few variances are quick to draw from


@dataclass(frozen=True, eq=False)
class SoundEffects:
    """Effects of similarity: ``value[e]`` is how much pair ``pair[e]`` has of effect ``number[e]`` of its query.

    ``own`` is the part of the diagonal of K that effects leave to each pair, in quarters; 1 for pairs that it does
    not know, which are like nothing else. ``heard`` says which it knows.
    """

    pair: Ints
    number: Ints
    value: Floats
    own: Floats
    heard: Mask


def sound_effects(evidence: Evidence, *, most: int = MOST_EFFECTS) -> SoundEffects:
    """Effects of similarity of all pairs."""
    n, offsets = len(evidence.candidates), evidence.candidates.offsets
    heard, diagonal = np.zeros(n, dtype=np.bool_), np.zeros(n)
    blocks = []  # pairs with sound, and their loadings, of each query
    for query, alike in enumerate(evidence.alike):
        places = 1 + np.flatnonzero(~np.isnan(np.diagonal(alike)[1:]))
        pairs = places - 1 + int(offsets[query])
        loadings = _loadings(alike[np.ix_(places, places)])
        heard[pairs], diagonal[pairs] = True, (loadings**2).sum(axis=1)
        sizes = (loadings**2).sum(axis=0)
        if len(sizes) > most:  # without those that are as large as the next
            loadings = loadings[:, :most][:, sizes[:most] > (1 + _EQUAL) * sizes[most]]
        blocks.append((pairs, loadings))
    scale = float(diagonal[heard].mean()) if heard.any() else 0.0
    root = np.sqrt(scale) if scale > 0 else 1.0
    own = np.ones(n)
    for pairs, loadings in blocks:
        left = (diagonal[pairs] - (loadings**2).sum(axis=1)) / root**2
        own[pairs] = np.round(_STEPS * np.clip(left, 0.0, None)) / _STEPS
    return SoundEffects(
        np.concatenate([np.repeat(pairs, loadings.shape[1]) for pairs, loadings in blocks]),
        np.concatenate([np.tile(np.arange(loadings.shape[1]), len(loadings)) for _, loadings in blocks]),
        np.concatenate([loadings.ravel() for _, loadings in blocks]) / root,
        own,
        heard,
    )


def _loadings(alike: Floats) -> Floats:
    """Loadings L with H S H = L L', documents x effects, the largest first; none where there are fewer than two."""
    if len(alike) < 2:
        return np.zeros((len(alike), 0))
    centred = alike - alike.mean(axis=0) - alike.mean(axis=1)[:, None] + alike.mean()
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    kept = np.flatnonzero(values > _LEAST * max(values[-1], 1.0))[::-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
