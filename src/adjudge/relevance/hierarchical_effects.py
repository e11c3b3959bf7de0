"""Effects of the hierarchical relevance model: which ones each pair has, and how much they vary before any judgment.

Relevance is r_i = h_i'θ + f_i'φ_q + ε_i. Global effects θ are shared by all queries: coefficients β of features, u_s of
systems, t_s of systems in genres. Local effects φ_q belong to one query: its own b_q, a of its artists, g of its
genres, w_qs of systems in it, and those of sound where documents have a similarity
(:mod:`~adjudge.relevance.similar`). ε_i belongs to one pair. An artist or genre that a single document of the query has
is no shared effect: its variance goes to that document's ε_i, which is the same model with fewer effects. A document
whose artist (genre) is unknown has one of its own, in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError, unknown
from adjudge.model.scales import Scale
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.features import Evidence
from adjudge.relevance.levels import uniform_moments
from adjudge.relevance.similar import sound_effects

KINDS = ("query", "artist", "genre", "system_query", "system", "system_genre", "residual")
"""Kinds of effects with a variance of their own."""
WITH_SOUND = (*KINDS, "sound")
"""The same where documents have a similarity."""
_PLAIN = (0.02, 0.0, 0.0, 0.01, 0.003, 0.0, 0.03)
_WITH_METADATA = (0.02, 0.007, 0.012, 0.004, 0.002, 0.01, 0.02)
_SOUND = 0.003
_FINE_VARIANCE = 0.085


@dataclass(frozen=True, eq=False)
class Features:
    """Columns of the mean of relevance, and what is believed of their coefficients before any judgment."""

    names: tuple[str, ...]
    values: Floats  # pairs x features
    mean: Floats
    sd: Floats


@dataclass(frozen=True, eq=False)
class Design:
    """Which effects each pair has.

    ``x`` is pairs x global effects, with their prior mean, prior variance (NaN where it is one of those estimated) and
    kind (index into ``kinds``; -1 for coefficients of features). ``local`` is pairs x (queries · m): effect c of query
    q is column q·m + c, of kind ``local_kind[q, c]``, -1 where the query has fewer than m effects. ``own[i, kind]`` is
    the share of the variance of that kind that belongs to ε_i: 1 or 0, and parts of it for sound.
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

    def global_variance(self, variances: Floats) -> Floats:
        """Prior variance of each global effect."""
        return np.where(self.kind >= 0, variances[self.kind], self.prior_variance)

    def local_variance(self, variances: Floats) -> Floats:
        """Prior variance of each local effect, queries x m; 0 where there is none."""
        return np.where(self.local_kind >= 0, variances[self.local_kind], 0.0)

    def own_variance(self, variances: Floats) -> Floats:
        """Variance of ε of each pair."""
        return np.asarray(self.own @ variances, dtype=np.float64)


def default_variances(scale: Scale, *, metadata: bool, sound: bool = False) -> Floats:
    """Variances by KINDS, or WITH_SOUND, before any judgment: those of the Fine scale, times scale variance / .085.

    The scale's variance is that of the uniform distribution on its levels: .25 binary, .167 for three levels. With
    metadata, artists and genres take over part of what systems, queries and the residual hold without. That of sound is
    small: judgments have to tell that it is worth something.
    """
    fine = np.array([*(_WITH_METADATA if metadata else _PLAIN), *([_SOUND] if sound else [])])
    return fine * (uniform_moments(scale)[1] / _FINE_VARIANCE)


def replaced(variances: Floats, given: Mapping[str, float]) -> Floats:
    """Variances by KINDS or WITH_SOUND, those that are given by name in place of the others.

    That of sound means nothing where documents have no similarity, and may be given all the same.
    """
    chosen = variances.copy()
    for name, value in given.items():
        if name not in WITH_SOUND:
            raise unknown("variance", name, WITH_SOUND)
        if not 0 <= value < np.inf or (name == "residual" and value == 0):
            wanted = "above 0" if name == "residual" else "of at least 0"
            raise AdjudgeError(f"hierarchical: expected a variance {wanted} for {name!r}, got {value}")
        if WITH_SOUND.index(name) < len(chosen):
            chosen[WITH_SOUND.index(name)] = value
    return chosen


def design(candidates: Candidates, features: Features, *, sound: bool = False) -> Design:
    """The effects of candidates: features, systems, systems in genres; queries, artists, genres, systems in queries.

    With n_i systems that retrieved pair i, z_is = 1/√n_i for each of them and 0 for others; zbar[q, genre, s] is the
    mean of the shares 1/n_i [s retrieved i] over the documents of that genre. Pairs that nobody retrieved have z = 0.
    Without genres (artists) in the candidates their effects are left out; those of ``sound`` are there when asked for.
    """
    n, s = len(candidates), candidates.n_systems
    share = 1.0 / candidates.n_retrieving[candidates.entry_pair]
    z = np.zeros((n, s))
    z[candidates.entry_pair, candidates.entry_system] = np.sqrt(share)
    columns, kinds = [features.values, z], [np.full(len(features.names), -1), np.full(s, KINDS.index("system"))]
    names = [*features.names, *(f"system {name}" for name in candidates.systems)]
    if (candidates.genre >= 0).any():
        columns.append(_genre_shares(candidates, share))
        kinds.append(np.full(s, KINDS.index("system_genre")))
        names += [f"system {name} in genres" for name in candidates.systems]
    kind = np.concatenate(kinds).astype(np.int64)
    n_rest = len(kind) - len(features.names)
    return Design(
        candidates,
        tuple(names),
        np.hstack(columns),
        np.concatenate([features.mean, np.zeros(n_rest)]),
        np.concatenate([features.sd**2, np.full(n_rest, np.nan)]),
        kind,
        *_local_effects(candidates, np.sqrt(share), sound=sound),
        WITH_SOUND if sound else KINDS,
    )


def _genre_shares(candidates: Candidates, share: Floats) -> Floats:
    """Zbar of each pair: who retrieves its genre for its query, pairs x systems; 0 where the genre is unknown."""
    group = Evidence(candidates).genre_groups
    n_groups = int(group.max()) + 1
    total = np.zeros((n_groups + 1, candidates.n_systems))  # the last row takes what has no genre
    np.add.at(total, (group[candidates.entry_pair], candidates.entry_system), share)
    total[:-1] /= np.bincount(group[group >= 0], minlength=n_groups)[:, None]
    total[-1] = 0.0
    return total[group]


@dataclass(frozen=True)
class Block:
    """Local effects of one kind: which pairs have which, by number within the query, and by how much."""

    kind: str
    pair: Ints
    number: Ints
    value: Floats


def _local_effects(candidates: Candidates, root_share: Floats, *, sound: bool) -> tuple[csr_array, Ints, Floats]:
    """Local effects as pairs x (queries · m), the kinds of the m effects of each query, and what belongs to ε."""
    n = len(candidates)
    own = np.zeros((n, len(WITH_SOUND if sound else KINDS)))
    own[:, KINDS.index("residual")] = 1.0
    blocks = [Block("query", np.arange(n), np.zeros(n, dtype=np.int64), np.ones(n))]
    evidence = Evidence(candidates)
    for kind, group in (("artist", evidence.artist_groups), ("genre", evidence.genre_groups)):
        if (group >= 0).any():
            number = _shared(candidates.query, group)
            pair = np.flatnonzero(number >= 0)
            own[:, KINDS.index(kind)] = number < 0
            blocks.append(Block(kind, pair, number[pair], np.ones(len(pair))))
    blocks.append(Block("system_query", candidates.entry_pair, candidates.entry_system, root_share))
    if sound:
        heard = sound_effects(evidence)
        own[:, WITH_SOUND.index("sound")] = heard.own
        blocks.append(Block("sound", heard.pair, heard.number, heard.value))
    return *assembled(blocks, candidates, WITH_SOUND), own


def assembled(blocks: list[Block], candidates: Candidates, kinds: tuple[str, ...]) -> tuple[csr_array, Ints]:
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


def _shared(query: Ints, group: Ints) -> Ints:
    """Number of each pair's group among the groups of its query that have several pairs; -1 where it is alone.

    Groups are numbered by query, -1 for none.
    """
    known = np.flatnonzero(group >= 0)
    found, first, count = np.unique(group[known], return_index=True, return_counts=True)
    several = count >= 2
    before: Ints = np.cumsum(several) - several  # shared groups up to here, in all queries
    of_query = query[known][first]
    number = np.where(several, before - before[np.searchsorted(of_query, of_query)], -1)
    shared = np.full(len(query), -1, dtype=np.int64)
    shared[known] = number[np.searchsorted(found, group[known])]
    return shared
