"""What the hierarchical model expects of relevance before any judgment: features of pairs, and their coefficients.

Documents that several systems retrieve tend to be relevant, more so if those systems are unlike each other; and systems
that often agree with unlike ones tend to be good (Soboroff, Nicholas and Cahan 2001, doi:10.1145/383952.383961, rank
systems by such agreement alone). Both are known before anybody judges. Their worth is not: every coefficient is an
effect with a prior, which judgments sharpen.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, unknown
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.features import Evidence
from adjudge.relevance.hierarchical_effects import Features
from adjudge.relevance.levels import uniform_moments

SETS = ("full", "plain")
_OPINION_SD = 0.5  # of a coefficient, in standard deviations of relevance on the scale
_SOUND_SD = 0.25
_OPINION_MOST = 4.0  # standard deviations; an opinion further out counts as that far out

Column = tuple[str, Floats, float, float]  # name, values, prior mean and standard deviation of the coefficient


def feature_columns(
    candidates: Candidates, base: Floats | None = None, chosen: str = "full", *, sound: bool = False
) -> Features:
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
    found = n > 0
    systems = np.where(found, np.sqrt(n) - 1.0, 0.0)
    if base is not None:
        columns = _on_base(_checked(base, candidates), systems)
    elif chosen == "plain":
        columns = _plain(candidates, systems)
    else:
        columns = _full(candidates, systems)
    if not found.all():
        columns.append(("retrieved by none", (~found).astype(np.float64), -0.15, 0.15))
    columns += _opinions(candidates)
    if sound:
        columns += _sound(candidates)
    names, values, mean, sd = zip(*columns, strict=True)
    return Features(names, np.column_stack(values), np.array(mean), np.array(sd))


def _checked(base: Floats, candidates: Candidates) -> Floats:
    values = np.asarray(base, dtype=np.float64)
    if values.shape != (len(candidates),):
        raise AdjudgeError(f"'base': expected one number for each of {len(candidates):,} pairs, got {values.shape}")
    if not np.isfinite(values).all():
        raise AdjudgeError(f"'base': expected finite numbers, got {values[~np.isfinite(values)][0]}")
    return values


def _on_base(base: Floats, systems: Floats) -> list[Column]:
    one = np.ones(len(base))
    return [("constant", one, 0.0, 0.15), ("base", base, 1.0, 0.2), ("systems", systems, 0.0, 0.1)]


def _plain(candidates: Candidates, systems: Floats) -> list[Column]:
    one = np.ones(len(candidates))
    if not (candidates.genre >= 0).any():
        return [("constant", one, 0.35, 0.25), ("systems", systems, 0.2, 0.15)]
    same, share = _columns(candidates, "sGEN", "fGEN")
    return [
        ("constant", one, 0.3, 0.25),
        ("systems", systems, 0.15, 0.15),
        ("sGEN", same, 0.15, 0.15),
        ("fGEN", share, 0.15, 0.15),
    ]


def _full(candidates: Candidates, systems: Floats) -> list[Column]:
    genres, agreed = bool((candidates.genre >= 0).any()), agreement(candidates)
    overall, in_query = by_system(candidates, agreed)
    columns = [
        ("constant", np.ones(len(candidates)), 0.3 if genres else 0.35, 0.25),
        ("systems", systems, 0.1, 0.12),
        ("agreement", agreed, 0.1, 0.15),
        ("rank", rank_signal(candidates), 0.05, 0.1),
        ("crowd", overall, 0.2 if genres else 0.6, 0.3 if genres else 0.4),
        ("crowd in query", in_query, 0.15, 0.15),
        ("query agreement", by_query(candidates, agreed), 0.5, 0.4),
    ]
    if genres:
        same, share = _columns(candidates, "sGEN", "fGEN")
        columns += [("sGEN", same, 0.15, 0.15), ("fGEN", share, 0.15, 0.15)]
        columns.append(("sGEN of systems", by_system(candidates, same)[0], 0.25, 0.2))
    if (candidates.artist >= 0).any():
        columns.append(("fART", _columns(candidates, "fART")[0], 0.3, 0.3))
    return columns


def _columns(candidates: Candidates, *names: str) -> list[Floats]:
    """Features of thesis 7.2.3; 0 where they are not defined."""
    evidence = Evidence(candidates)
    return [np.nan_to_num(evidence.column(name)) for name in names]


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
    """Machine opinions, standardised, with their means over each query and over what the systems of a pair retrieve.

    Coefficients are believed to be 0, give or take half a standard deviation of relevance for each standard deviation
    of opinion: judgments tell what an opinion is worth, whether it knows good queries from bad ones, and whether it
    favours some systems. 0 where there is no opinion.
    """
    columns: list[Column] = []
    sd = _OPINION_SD * float(np.sqrt(uniform_moments(candidates.scale)[1]))
    for name, column in sorted(candidates.opinions.items()):
        opinion = standardised(column)
        known = np.flatnonzero(np.isfinite(column))
        of_query = mean_by(candidates.query[known], opinion[known], candidates.n_queries)
        columns.append((f"opinion {name}", opinion, 0.0, sd))
        columns.append((f"opinion {name} of query", of_query[candidates.query], 0.0, sd))
        columns.append((f"opinion {name} of systems", by_system(candidates, opinion)[0], 0.0, sd))
    return columns


def _sound(candidates: Candidates) -> list[Column]:
    """How a document sounds like the query, standardised, 0 where it is not known; nothing where no query has sound.

    The coefficient is believed to be 0, give or take a quarter of a standard deviation of relevance.
    """
    alike = Evidence(candidates).column("sSIM")
    sd = _SOUND_SD * float(np.sqrt(uniform_moments(candidates.scale)[1]))
    return [("sSIM", standardised(alike), 0.0, sd)] if np.isfinite(alike).any() else []


def standardised(column: Floats) -> Floats:
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
