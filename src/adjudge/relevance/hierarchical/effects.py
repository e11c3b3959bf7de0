"""Effects of the hierarchical relevance model: which ones each pair has, and how much they vary before any judgment.

Relevance is r_i = h_i'θ + f_i'φ_q + ε_i. Global effects θ are shared by all queries: coefficients β of features, u_s of
systems, t_s of systems in genres. Local effects φ_q belong to one query: b_q of the query itself, a of artists, g of
genres, w_qs of systems in it, how reliable machine opinions are for it, and where there is a similarity
(:mod:`~adjudge.relevance.features`) what documents share that are alike. ε_i belongs to one pair. An artist or genre
that a single document of the query has is no shared effect: its variance goes to that document's ε_i, which is the same
model with fewer effects. A document whose artist (genre) is unknown has one of its own, in the same way.

Features say what to expect before any judgment. Documents that several systems retrieve tend to be relevant, more so if
those systems are unlike each other; and systems that often agree with unlike ones tend to be good (Soboroff, Nicholas
and Cahan 2001, doi:10.1145/383952.383961, rank systems by such agreement alone). What features are worth is not known:
every coefficient is an effect with a prior, which judgments sharpen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError
from adjudge.model.scales import Scale
from adjudge.registry import unknown
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.features import Evidence, sound_effects, uniform_moments
from adjudge.relevance.hierarchical.assessors import PANEL

KINDS = ("query", "artist", "genre", "system_query", "system", "system_genre", "residual")
"""Kinds of effects with a variance of their own."""
WITH_HINTS = (*KINDS, "sound", "system_sound", "opinion_query")
"""The same with those of similarity and of machine opinions."""
_PLAIN = (0.02, 0.0, 0.0, 0.01, 0.003, 0.0, 0.03)
_WITH_METADATA = (0.02, 0.007, 0.012, 0.004, 0.002, 0.01, 0.02)
_HINTS = (0.003, 0.005, 0.0015)
_FINE_VARIANCE = 0.085
_LEAST_RESIDUAL = 1e-6  # of the largest variance that is given
_FAR = 2.0  # standard deviations


@dataclass(frozen=True, eq=False)
class Design:
    """Which effects each pair has.

    ``x`` is pairs x global effects, with their prior mean, prior variance (NaN where it is one of those estimated) and
    kind (index into ``kinds``; -1 for coefficients of features). ``local`` is pairs x (queries · m): effect c of query
    q is column q·m + c, of kind ``local_kind[q, c]``, -1 where the query has fewer than m effects. ``own[i, kind]`` is
    the share of the variance of that kind that belongs to ε_i: 1 or 0, and parts of it for sound. Global effects are
    in units of ``stretch``, above 1 for systems that are unlike the others (:meth:`stretch_for`).
    """

    candidates: Candidates
    names: tuple[str, ...]
    x: Floats
    prior_mean: Floats
    prior_variance: Floats
    kind: Ints
    local: csr_array
    local_kind: Ints
    own: Floats
    kinds: tuple[str, ...] = KINDS
    stretch: Floats | float = 1.0

    @property
    def n_local(self) -> int:
        """Most local effects that a query has."""
        return int(self.local_kind.shape[1])

    @cached_property
    def active(self) -> Mask:
        """Which kinds of effects there are."""
        active: Mask = np.asarray(self.own.any(axis=0), dtype=np.bool_)
        active[self.kind[self.kind >= 0]] = True
        active[self.local_kind[self.local_kind >= 0]] = True
        return active

    def stretch_for(self, theta: Floats, variance: Floats, variances: Floats) -> Floats:
        """Units of global effects with which systems that are unlike the others get a larger prior variance.

        ``theta`` and ``variance`` are expectation and variance of each effect, in units of this design. With v the
        variance of systems, that of system s becomes max(v, E[u_s²] / 4). Its tails are those of Huber's least
        favourable distribution (1964, doi:10.1214/aoms/1177703732): what is far away is not pulled in any more.
        """
        of_systems = variances[self.kinds.index("system")]
        second = (theta**2 + variance) * np.square(self.stretch)
        far = (self.kind == self.kinds.index("system")) & (second > _FAR**2 * of_systems)
        return np.where(far, np.sqrt(np.divide(second, _FAR**2 * of_systems, out=np.ones_like(second), where=far)), 1.0)

    def stretched(self, stretch: Floats) -> Design:
        """The design with global effects in these units."""
        return replace(self, x=self.x * stretch, stretch=stretch)

    def global_variance(self, variances: Floats) -> Floats:
        """Prior variance of each global effect."""
        return np.where(self.kind >= 0, variances[self.kind], self.prior_variance)

    def local_variance(self, variances: Floats) -> Floats:
        """Prior variance of each local effect, queries x m; 0 where there is none."""
        return np.where(self.local_kind >= 0, variances[self.local_kind], 0.0)

    def own_variance(self, variances: Floats) -> Floats:
        """Variance of ε of each pair."""
        return np.asarray(self.own @ variances, dtype=np.float64)

    def relevance_variance(self, variances: Floats) -> float:
        """Mean variance of relevance before any judgment, features being what they are."""
        effects = self.kind >= 0
        shared = self.x[:, effects] ** 2 @ self.global_variance(variances)[effects]
        local = self.local.power(2) @ self.local_variance(variances).ravel()
        return float(np.mean(shared + local + self.own_variance(variances)))


def default_variances(scale: Scale, *, metadata: bool, kinds: tuple[str, ...] = KINDS) -> Floats:
    """Variances by kind before any judgment: those of the Fine scale, times scale variance / .085.

    The scale's variance is that of the uniform distribution on its levels: .25 binary, .167 for three levels. With
    metadata, artists and genres take over part of the variance of systems, queries and the residual. That of
    similarity is small: judgments have to show that it is worth something.
    """
    fine = dict(zip(WITH_HINTS, (*(_WITH_METADATA if metadata else _PLAIN), *_HINTS), strict=True))
    return np.array([fine[kind] for kind in kinds]) * (uniform_moments(scale)[1] / _FINE_VARIANCE)


def kinds_of(candidates: Candidates, *, sound: bool) -> tuple[str, ...]:
    """KINDS, with those of the hints that there are."""
    return (*KINDS, *(["sound", "system_sound"] if sound else []), *(["opinion_query"] if candidates.opinions else []))


def replace_variances(variances: Floats, given: Mapping[str, float], kinds: tuple[str, ...] = KINDS) -> Floats:
    """Variances by kind, with those given by name; those of hints are ignored where there are none."""
    chosen = variances.copy()
    for name, value in given.items():
        if name not in (*WITH_HINTS, *PANEL):
            raise unknown("variance", name, (*WITH_HINTS, *PANEL))
        if not 0 <= value < np.inf or (name in ("residual", "noise") and value == 0):
            wanted = "above 0" if name in ("residual", "noise") else "of at least 0"
            raise AdjudgeError(f"hierarchical: expected a variance {wanted} for {name!r}, got {value}")
        if name in kinds:
            chosen[kinds.index(name)] = value
    least, residual = _LEAST_RESIDUAL * float(chosen.max()), float(chosen[kinds.index("residual")])
    if residual < least:
        raise AdjudgeError(
            f"hierarchical: expected a variance for 'residual' of at least {_LEAST_RESIDUAL:g} of the largest, "
            f"{least:.3g}, got {residual:.3g}"
        )
    return chosen


def design(
    candidates: Candidates, base: Floats | None = None, features: str = "full", *, sound: bool = False
) -> Design:
    """The effects of candidates: features, systems, systems in genres; queries, artists, genres, systems in queries.

    With n_i systems that retrieved pair i, z_is = 1/√n_i for each of them and 0 for others; zbar[q, genre, s] is the
    mean of the shares 1/n_i [s retrieved i] over the documents of that genre. Pairs that nobody retrieved have z = 0.
    Without genres (artists) in the candidates their effects are left out; those of ``sound`` are there when asked for.
    ``base`` and ``features`` are as in :func:`feature_columns`.
    """
    names, values, mean, sd = zip(*feature_columns(candidates, base, features, sound=sound), strict=True)
    n, s = len(candidates), candidates.n_systems
    share = 1.0 / candidates.n_retrieving[candidates.entry_pair]
    z = np.zeros((n, s))
    z[candidates.entry_pair, candidates.entry_system] = np.sqrt(share)
    columns, kinds = [np.column_stack(values), z], [-1] * len(names) + [KINDS.index("system")] * s
    names = (*names, *(f"system {name}" for name in candidates.systems))
    if (candidates.genre >= 0).any():
        columns.append(_genre_shares(candidates, share))
        kinds += [KINDS.index("system_genre")] * s
        names = (*names, *(f"system {name} in genres" for name in candidates.systems))
    if sound:
        columns.append(_alike_shares(candidates, share))
        kinds += [WITH_HINTS.index("system_sound")] * s
        names = (*names, *(f"system {name} in what is alike" for name in candidates.systems))
    n_rest = len(kinds) - len(mean)
    return Design(
        candidates,
        names,
        np.hstack(columns),
        np.concatenate([mean, np.zeros(n_rest)]),
        np.concatenate([np.square(sd), np.full(n_rest, np.nan)]),
        np.array(kinds, dtype=np.int64),
        *_local_effects(candidates, np.sqrt(share), sound=sound),
        kinds_of(candidates, sound=sound),
    )


def _genre_shares(candidates: Candidates, share: Floats) -> Floats:
    """Zbar of each pair: who retrieves its genre for its query, pairs x systems; 0 where the genre is unknown."""
    group = Evidence(candidates).genre_groups
    n_groups = int(group.max()) + 1
    total = np.zeros((n_groups + 1, candidates.n_systems))  # the last row is for pairs without a genre
    np.add.at(total, (group[candidates.entry_pair], candidates.entry_system), share)
    total[:-1] /= np.bincount(group[group >= 0], minlength=n_groups)[:, None]
    total[-1] = 0.0
    return total[group]


def _alike_shares(candidates: Candidates, share: Floats) -> Floats:
    """Who retrieves what is like each pair, pairs x systems: shares 1/n_i as far as effects of similarity tell them.

    Projections on loadings of those effects, as zbar are projections on genres (Mundlak 1978): without them a system
    that retrieves what is relevant and alike everywhere gains in each query by chance, and is thought to be sure.
    """
    effects = sound_effects(Evidence(candidates))
    column = candidates.query[effects.pair] * (int(effects.number.max(initial=0)) + 1) + effects.number
    shape = (len(candidates), int(column.max(initial=0)) + 1)
    size = np.sqrt(np.bincount(column, effects.value**2, minlength=shape[1]))[column]
    loadings = csr_array((effects.value / size, (effects.pair, column)), shape=shape)
    shares = np.zeros((len(candidates), candidates.n_systems))
    shares[candidates.entry_pair, candidates.entry_system] = share
    return np.asarray(loadings @ (loadings.T @ shares), dtype=np.float64)


@dataclass(frozen=True)
class Block:
    """Local effects of one kind: which pairs have which, by number within the query, and by how much."""

    kind: str
    pair: Ints
    number: Ints
    value: Floats


def _local_effects(candidates: Candidates, root_share: Floats, *, sound: bool) -> tuple[csr_array, Ints, Floats]:
    """Local effects as pairs x (queries · m), the kinds of the m effects of each query, and what belongs to ε."""
    n, kinds = len(candidates), kinds_of(candidates, sound=sound)
    own = np.zeros((n, len(kinds)))
    own[:, KINDS.index("residual")] = 1.0
    blocks = [Block("query", np.arange(n), np.zeros(n, dtype=np.int64), np.ones(n))]
    evidence = Evidence(candidates)
    for kind, group in (("artist", evidence.artist_groups), ("genre", evidence.genre_groups)):
        if (group >= 0).any():
            number = _number_shared(candidates.query, group)
            pair = np.flatnonzero(number >= 0)
            own[:, KINDS.index(kind)] = number < 0
            blocks.append(Block(kind, pair, number[pair], np.ones(len(pair))))
    blocks.append(Block("system_query", candidates.entry_pair, candidates.entry_system, root_share))
    if sound:
        heard = sound_effects(evidence)
        own[:, kinds.index("sound")] = heard.own
        blocks.append(Block("sound", heard.pair, heard.number, heard.value))
    if candidates.opinions:
        blocks.append(_reliability(candidates))
    return *assemble(blocks, candidates, kinds), own


def assemble(blocks: list[Block], candidates: Candidates, kinds: tuple[str, ...]) -> tuple[csr_array, Ints]:
    """Blocks side by side within each query: pairs x (queries · m), and the kinds of the m effects of each query."""
    n_queries, used = candidates.n_queries, np.zeros(candidates.n_queries, dtype=np.int64)
    columns = []
    for block in blocks:
        query = candidates.query[block.pair]
        columns.append(used[query] + block.number)
        most = np.zeros(n_queries, dtype=np.int64)
        np.maximum.at(most, query, block.number + 1)
        used = used + most
    m, pair, column = int(used.max()), np.concatenate([block.pair for block in blocks]), np.concatenate(columns)
    kind_of = np.full((n_queries, m), -1, dtype=np.int64)
    kind_of[candidates.query[pair], column] = np.repeat(
        [kinds.index(block.kind) for block in blocks], [len(block.pair) for block in blocks]
    )
    value = np.concatenate([block.value for block in blocks])
    local = csr_array((value, (pair, candidates.query[pair] * m + column)), shape=(len(candidates), n_queries * m))
    local.sort_indices()
    return local, kind_of


def _number_shared(query: Ints, group: Ints) -> Ints:
    """Number of each pair's group (-1 for none) among those of its query with several pairs; -1 where it is alone."""
    known = np.flatnonzero(group >= 0)
    found, first, count = np.unique(group[known], return_index=True, return_counts=True)
    several = count >= 2
    before: Ints = np.cumsum(several) - several  # shared groups up to here, in all queries
    of_query = query[known][first]
    number = np.where(several, before - before[np.searchsorted(of_query, of_query)], -1)
    shared = np.full(len(query), -1, dtype=np.int64)
    shared[known] = number[np.searchsorted(found, group[known])]
    return shared


SETS = ("full", "plain")
_WORTH = ((0.35, 0.2), (0.3, 0.25), (0.0, 0.5))
"""Coefficients of machine opinions of a pair, of its query and of its systems before any judgment, as mean and standard
deviation, in standard deviations of relevance on the scale. Grades of language models correlate with those of people at
about .5 to .65. Judges were made up with correlations of .4 to .7, leniency and reliability of their own for each query
and bias towards systems, on MIREX 2011 and four text-like collections; with everything judged, the coefficients were
.2 to .5, .2 to .8 and -.9 to .1. Bias is not the same for all judges, and is expected to be as wide as that."""
_APART = ((0.0, 0.25),) * 3
"""The same of what one of several opinions says apart from their mean."""
_SIMILAR = ((0.0, 0.25), (0.0, 0.25), (0.0, 0.5))
"""The same of how similar a document is to the query."""
_OPINION_MOST = 4.0  # standard deviations; opinions further out are clipped

Column = tuple[str, Floats, float, float]
"""A feature: name, values, and the mean and standard deviation of its coefficient before any judgment."""


def feature_columns(
    candidates: Candidates, base: Floats | None = None, chosen: str = "full", *, sound: bool = False
) -> list[Column]:
    """Features of a set, or on the expectations of another estimator, and a column for every machine opinion.

    ``plain``: a constant, √n - 1 with n the systems that retrieved a pair, and with genres sGEN and fGEN. ``full`` adds
    (see :func:`agreement`, :func:`rank_signal`, :func:`by_system`)

    - agreement, √n_eff - 1, where n_eff counts systems that retrieve the same documents as one;
    - rank, how high those systems rank it;
    - crowd, the mean agreement of what its systems retrieve, over all queries and then for this query;
    - query agreement, the mean over all that was retrieved for the query: systems agree more on easy ones;
    - with genres, sGEN averaged over what its systems retrieve; with artists, fART.

    Averages of features over groups, next to the features themselves, let effects of a group depend on what it
    retrieves (Mundlak 1978, doi:10.2307/1913646): without them the model takes systems for equal until judged.
    ``sound`` adds sSIM, how a document sounds like the query. ``base`` replaces all of this but opinions and sound by a
    constant, the given expectations and √n - 1. Pairs that nobody retrieved have √n - 1 = 0 and a coefficient of their
    own, as they come from elsewhere.
    """
    if chosen not in SETS:
        raise unknown("set of features", chosen, SETS)
    n = candidates.n_retrieving
    retrieved, evidence = n > 0, Evidence(candidates)
    systems = np.where(retrieved, np.sqrt(n) - 1.0, 0.0)
    if base is not None:
        columns = [
            ("constant", np.ones(len(n)), 0.0, 0.15),
            ("base", _check_base(base, candidates), 1.0, 0.2),
            ("systems", systems, 0.0, 0.1),
        ]
    else:
        columns = _plain(evidence, systems) if chosen == "plain" else _full(evidence, systems)
    if not retrieved.all():
        columns.append(("retrieved by none", (~retrieved).astype(np.float64), -0.15, 0.15))
    columns += _opinions(candidates)
    if sound and np.isfinite(alike := evidence.column("sSIM")).any():
        columns += _with_means(candidates, "sSIM", standardise(alike), np.isfinite(alike), _SIMILAR)
    return columns


def _check_base(base: Floats, candidates: Candidates) -> Floats:
    values = np.asarray(base, dtype=np.float64)
    if values.shape != (len(candidates),):
        raise AdjudgeError(f"'base': expected one number for each of {len(candidates):,} pairs, got {values.shape}")
    if not np.isfinite(values).all():
        raise AdjudgeError(f"'base': expected finite numbers, got {values[~np.isfinite(values)][0]}")
    return values


def _plain(evidence: Evidence, systems: Floats) -> list[Column]:
    one, genres = np.ones(len(systems)), _genres(evidence)
    return [
        ("constant", one, 0.3 if genres else 0.35, 0.25),
        ("systems", systems, 0.15 if genres else 0.2, 0.15),
        *genres,
    ]


def _full(evidence: Evidence, systems: Floats) -> list[Column]:
    candidates, genres = evidence.candidates, _genres(evidence)
    agreed = agreement(candidates)
    overall, in_query = by_system(candidates, agreed)
    columns = [
        ("constant", np.ones(len(candidates)), 0.3 if genres else 0.35, 0.25),
        ("systems", systems, 0.1, 0.12),
        ("agreement", agreed, 0.1, 0.15),
        ("rank", rank_signal(candidates), 0.05, 0.1),
        ("crowd", overall, 0.2 if genres else 0.6, 0.3 if genres else 0.4),
        ("crowd in query", in_query, 0.15, 0.15),
        ("query agreement", by_query(candidates, agreed), 0.5, 0.4),
        *genres,
    ]
    if genres:
        same = genres[0][1]
        columns.append(("sGEN of systems", by_system(candidates, same)[0], 0.25, 0.2))
    if (candidates.artist >= 0).any():
        columns.append(("fART", np.nan_to_num(evidence.column("fART")), 0.3, 0.3))
    return columns


def _genres(evidence: Evidence) -> list[Column]:
    """The features of genres (thesis 7.2.3), 0 where they are not defined; none where no genre is known."""
    if not (evidence.candidates.genre >= 0).any():
        return []
    return [(name, np.nan_to_num(evidence.column(name)), 0.15, 0.15) for name in ("sGEN", "fGEN")]


def agreement(candidates: Candidates) -> Floats:
    """√n_eff - 1 of each pair: how many unlike systems retrieved it; 0 where one system did, or none.

    n_eff = n² / Σ_st O_st over the n systems that retrieved it, O_st = |R_s ∩ R_t| / √(|R_s| |R_t|) the overlap of what
    two systems retrieve over all queries: n for systems with nothing else in common, 1 for copies of one system.
    """
    n, pair, system = candidates.n_retrieving, candidates.entry_pair, candidates.entry_system
    shape = (len(candidates), candidates.n_systems)
    retrieved = csr_array((np.ones(len(pair)), (pair, system)), shape=shape)
    common = (retrieved.T @ retrieved).toarray()
    size = np.sqrt(np.maximum(np.diagonal(common), 1.0))
    overlap = common / size / size[:, None]
    total = np.bincount(pair, (retrieved @ overlap)[pair, system], minlength=len(candidates))
    effective = np.divide(n.astype(np.float64) ** 2, total, out=np.ones(len(candidates)), where=n > 0)
    return np.sqrt(np.maximum(effective, 1.0)) - 1.0


def rank_signal(candidates: Candidates) -> Floats:
    """Σ_s (ρ(rank) - mean ρ) / √n over the n systems that retrieved a pair, ρ(i) = 1 - log i / log k at cutoff k."""
    k, n = candidates.cutoff, candidates.n_retrieving
    rho = 1.0 - np.log(np.arange(1, k + 1)) / np.log(max(k, 2))
    total = np.bincount(candidates.entry_pair, (rho - rho.mean())[candidates.entry_rank - 1], minlength=len(n))
    return total / np.sqrt(np.maximum(n, 1))


def by_system(candidates: Candidates, feature: Floats) -> tuple[Floats, Floats]:
    """Means of a feature over what the systems of each pair retrieve, over all queries and for its own query.

    The first is the mean over those systems of m_s, itself the mean over the documents of system s less that of all
    systems; the second the mean of what is special to the query, m_qs - m_s - m_q + m. 0 for pairs that nobody
    retrieved.
    """
    pair, system, n_systems = candidates.entry_pair, candidates.entry_system, candidates.n_systems
    query, value = candidates.query[pair], feature[pair]
    of_system, of_query = mean_by(system, value, n_systems), mean_by(query, value, candidates.n_queries)
    cell = query * n_systems + system
    special = mean_by(
        cell, value - of_system[system] - of_query[query] + value.mean(), candidates.n_queries * n_systems
    )
    of_system -= of_system[np.unique(system)].mean()
    return mean_by(pair, of_system[system], len(candidates)), mean_by(pair, special[cell], len(candidates))


def by_query(candidates: Candidates, feature: Floats) -> Floats:
    """Mean of a feature over what was retrieved for each pair's query, less the mean of all queries."""
    found = np.flatnonzero(candidates.n_retrieving)
    of_query = mean_by(candidates.query[found], feature[found], candidates.n_queries)
    return np.asarray((of_query - of_query.mean())[candidates.query], dtype=np.float64)


def _opinions(candidates: Candidates) -> list[Column]:
    """Machine opinions together, and how each of several differs; each of these for a pair, its query and its systems.

    What opinions say of a pair, with their mean over its query and that over what its systems retrieve: judgments tell
    what they are worth, whether they know good queries from bad ones, and whether they favour some systems.
    """
    if not candidates.opinions:
        return []
    together = _mean_opinion(candidates)
    known = np.isfinite(together)
    one = f"opinion {next(iter(candidates.opinions))}" if len(candidates.opinions) == 1 else "opinions"
    columns = _with_means(candidates, one, standardise(together), known, _WORTH)
    if len(candidates.opinions) > 1:
        for name, opinion in sorted(candidates.opinions.items()):
            apart = np.where(np.isfinite(opinion), standardise(opinion) - np.nan_to_num(together), 0.0)
            columns += _with_means(candidates, f"opinion {name}", apart, known, _APART)
    return columns


def _with_means(
    candidates: Candidates, name: str, values: Floats, known: Mask, priors: Sequence[tuple[float, float]]
) -> list[Column]:
    """A hint, its mean over what is known of each pair's query, and over what the systems of a pair retrieve."""
    sd = _relevance_sd(candidates)
    columns = (values, _query_mean(candidates, values, known), by_system(candidates, values)[0])
    names = (name, f"{name} of query", f"{name} of systems")
    return [
        (each, column, mean * sd, spread * sd)
        for each, column, (mean, spread) in zip(names, columns, priors, strict=True)
    ]


def _query_mean(candidates: Candidates, values: Floats, known: Mask) -> Floats:
    rows = np.flatnonzero(known)
    return mean_by(candidates.query[rows], values[rows], candidates.n_queries)[candidates.query]


def _reliability(candidates: Candidates) -> Block:
    """What machine opinions say of a pair within its query: how much that is worth may differ from query to query."""
    together = _mean_opinion(candidates)
    known, opinion = np.isfinite(together), standardise(together)
    within = np.where(known, opinion - _query_mean(candidates, opinion, known), 0.0)
    pair = np.flatnonzero(within)
    return Block("opinion_query", pair, np.zeros(len(pair), dtype=np.int64), within[pair])


def _mean_opinion(candidates: Candidates) -> Floats:
    """The mean of standardised machine opinions about each pair; NaN where there are none."""
    columns = np.stack(list(candidates.opinions.values()))
    known = np.isfinite(columns)
    total = np.where(known, np.stack([standardise(column) for column in columns]), 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


def _relevance_sd(candidates: Candidates) -> float:
    return float(np.sqrt(uniform_moments(candidates.scale)[1]))


def standardise(column: Floats) -> Floats:
    """Mean 0, sd 1 over what is known, at most 4 from 0; 0 where nothing is known, or where all is the same."""
    known = np.isfinite(column)
    values = np.zeros(len(column))
    spread = float(column[known].std()) if known.any() else 0.0
    if spread > 0:
        values[known] = (column[known] - column[known].mean()) / spread
    return np.clip(values, -_OPINION_MOST, _OPINION_MOST)


def mean_by(code: Ints, values: Floats, n: int) -> Floats:
    """Mean of the values under each code; 0 where there are none."""
    return np.asarray(np.bincount(code, values, minlength=n) / np.maximum(np.bincount(code, minlength=n), 1))
