"""The hierarchical estimator: relevance as a sum of effects that queries, artists, genres and systems share.

    r[q,d] = x_d'β + b_q + a[q,artist] + g[q,genre] + Σ_s z_ds (u_s + w_qs) + Σ_s zbar[q,genre,s] t_s + sound + ε

All effects are independent and Gaussian, so that judging one document tells about others of the same query, artist,
genre, systems and sound, and errors of estimates are correlated as they are in truth: intervals of differences between
systems hold what they claim. Modules: ``hierarchical_features`` (x), ``hierarchical_effects`` (who shares what),
``similar`` (what sounds alike), ``hierarchical_variances`` (how much effects vary), ``hierarchical_posterior`` (what
judgments tell), ``hierarchical_scores`` (what that says about systems), ``hierarchical_draws`` (relevance that stays on
the scale).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.relevance.base import RelevanceModel, Scores, estimator
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.hierarchical_draws import Draws
from adjudge.relevance.hierarchical_effects import Design, default_variances, design, replaced
from adjudge.relevance.hierarchical_features import feature_columns
from adjudge.relevance.hierarchical_posterior import Posterior
from adjudge.relevance.hierarchical_scores import LinearScores, RatioScores
from adjudge.relevance.hierarchical_variances import estimate
from adjudge.relevance.scoring import Scoring


class HierarchicalModel(RelevanceModel):
    """Beliefs of the hierarchical model; start one with :func:`hierarchical`."""

    inflation = 1.25
    confidence_df: int | None = None

    def __init__(
        self,
        effects: Design,
        scoring: Scoring,
        centre: Floats,
        *,
        reestimate: bool = True,
        prior_sd: float = 1.0,
        draws: int = 64,
        seed: int = 0,
    ) -> None:
        self.candidates, self.scoring = effects.candidates, scoring
        self.judged = np.zeros(len(self.candidates), dtype=np.bool_)
        self._relevance = np.full(len(self.candidates), np.nan)
        self._effects, self._centre, self._prior_sd, self._reestimate = effects, centre, prior_sd, reestimate
        self._draws, self._seed = draws, seed
        self._variances = centre
        self._n_judged = 0
        self._rebuild()

    @property
    def mean(self) -> Floats:
        return _read_only(self._posterior.mean)

    @property
    def variance(self) -> Floats:
        return _read_only(self._posterior.variance)

    @property
    def variances(self) -> dict[str, float]:
        """Variance of each kind of effect, as estimated last."""
        return _named(self._variances, self._effects)

    @property
    def effects(self) -> dict[str, tuple[float, float]]:
        """Expectation and standard deviation of each effect that all queries share: coefficients, systems."""
        sd = np.sqrt(np.maximum(np.diagonal(self._posterior.sigma), 0.0))
        return dict(
            zip(self._effects.names, zip(self._posterior.theta.tolist(), sd.tolist(), strict=True), strict=True)
        )

    def judge(self, pair: int, relevance: float) -> None:
        self._check(pair, relevance)
        self.judged[pair], self._relevance[pair] = True, relevance
        self._n_judged += 1
        if self._n_judged == last_due(self._n_judged):
            self._renew()
        else:
            self._scores.learn(self._posterior.update(pair, relevance))

    def judge_all(self) -> None:
        """Learn everything that the candidates know already, in their order: as if one by one, but at once."""
        pairs = np.flatnonzero(self.candidates.judged & ~self.judged)
        together = max(last_due(self._n_judged + len(pairs)) - self._n_judged, 0)
        if not self._reestimate and self.scoring.linear:  # then nothing depends on when variances were due
            together = len(pairs)
        known = self.candidates.relevance
        for pair in pairs[:together]:
            self._check(int(pair), float(known[pair]))
        self.judged[pairs[:together]], self._relevance[pairs[:together]] = True, known[pairs[:together]]
        self._n_judged += together
        if together:
            self._renew()
        for pair in pairs[together:]:
            self.judge(int(pair), float(known[pair]))

    def scores(self) -> Scores:
        covariance, known = self._scores.covariance.copy(), self._scores.known
        covariance[known], covariance[:, known] = 0.0, 0.0
        np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), 0.0))  # rounding may leave less
        return Scores(self._scores.mean, covariance)

    def influence(self) -> Floats:
        return _read_only(self._scores.influence)

    def query_scores(self) -> tuple[Floats, Floats]:
        return self._scores.by_query()

    def drawn(self, n: int, rng: np.random.Generator) -> Floats:
        """Relevance of all candidates together as it may be, draws x candidates; see ``hierarchical_draws``."""
        relevance, _ = Draws(self._posterior, 2 * n, rng).relevance(slice(None))  # the second half reflects the first
        return np.ascontiguousarray(relevance[:, :n].T)

    def _renew(self) -> None:
        """Estimate variances again, always from the same start: what is learned does not depend on the way there."""
        if self._reestimate:
            rows = np.flatnonzero(self.judged)
            self._variances = estimate(self._effects, rows, self._relevance, self._centre, self._prior_sd)
        self._rebuild()

    def _rebuild(self) -> None:
        self._posterior = Posterior(self._effects, self._variances, self.judged, self._relevance)
        self._scores: LinearScores | RatioScores
        if self.scoring.linear:
            self._scores = LinearScores(self._posterior, self.scoring)
        else:
            self._scores = RatioScores(self._posterior, self.scoring, draws=self._draws, seed=self._seed)


@estimator("hierarchical")
def hierarchical(
    candidates: Candidates,
    scoring: Scoring,
    *,
    features: str = "full",
    base: Floats | None = None,
    variances: Mapping[str, float] | None = None,
    prior_variances: Mapping[str, float] | None = None,
    prior_sd: float = 1.0,
    sound: bool = True,
    draws: int = 64,
    seed: int = 0,
) -> HierarchicalModel:
    """Relevance as a sum of shared effects; knows how errors of estimates go together, and so what it does not know.

        r_i = x_i'β + b_q + a[q,artist] + g[q,genre] + Σ_s z_is (u_s + w_qs) + Σ_s zbar[q,genre,s] t_s + ε_i

    - x_i: ``features`` of the pair, "full" or "plain" as :mod:`~adjudge.relevance.hierarchical_features` says, or a
      constant, the expected relevance ``base`` of another estimator and √n_i - 1; machine opinions of the candidates
      come on top. Coefficients β have Gaussian priors.
    - b_q, a, g: effects of the query, and of artists and genres for that query. Without metadata they vanish, t too; a
      document of unknown artist (genre) has one of its own.
    - u_s, w_qs: effects of system s, overall and for the query; z_is = 1/√n_i for the n_i systems that retrieved i.
    - t_s: effects of systems on the genres they retrieve, zbar how much of a genre is theirs for that query.
    - where the candidates have a similarity, unless ``sound`` is False: effects that documents of a query share as far
      as they sound alike (:mod:`~adjudge.relevance.similar`), and in x_i sSIM, how alike document and query are.
    - ε_i: what no other pair shares. A judgment is exact.

    Variances of effects start at defaults for the scale. They are re-estimated at 5, 10, 20, 40, … judgments (from 200
    on at every tenth more) by marginal likelihood with a log-normal prior around the defaults (standard deviation of
    logarithms ``prior_sd``); ``prior_variances`` replaces defaults, with those of an earlier collection for example
    (:func:`learn_variances`), ``variances`` does too and stops re-estimation. Names are those of ``WITH_SOUND``.

    For ratios with an ideal, scores are averaged over ``draws`` of relevance from ``seed``, half of them reflected,
    that stay on the scale (:mod:`~adjudge.relevance.hierarchical_draws`).
    Confidence is claimed from variances 1.25 times as large as the model says, for relevance is not quite Gaussian.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> from adjudge.relevance.scoring import scoring
    >>> found = candidates(aj.demo(queries=20, depth=5), cutoff=5)
    >>> model = hierarchical(found, scoring("CG@5", found.scale))
    >>> model.judge(0, 0.5)
    >>> model.scores().mean.shape, model.influence().shape == (len(found), found.n_systems)
    ((12,), True)
    """
    if not 0 < prior_sd < np.inf:
        raise AdjudgeError(f"hierarchical: 'prior_sd' must be above 0, got {prior_sd}")
    if draws < 2 or draws % 2:
        raise AdjudgeError(f"hierarchical: 'draws' must be an even number of at least 2, got {draws}")
    if variances is not None and prior_variances is not None:
        raise AdjudgeError("hierarchical: expected 'variances' or 'prior_variances', got both.")
    heard = sound and candidates.similarity is not None
    effects = design(candidates, feature_columns(candidates, base, features, sound=heard), sound=heard)
    given = variances if variances is not None else prior_variances
    centre = replaced(_defaults(candidates, sound=heard), given or {})
    fixed = variances is not None
    return HierarchicalModel(effects, scoring, centre, reestimate=not fixed, prior_sd=prior_sd, draws=draws, seed=seed)


def learn_variances(
    candidates: Candidates, *, features: str = "full", base: Floats | None = None, prior_sd: float = 1.0
) -> dict[str, float]:
    """Variances of effects that the judged pairs of candidates suggest, for ``prior_variances`` of another collection.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> found = learn_variances(candidates(aj.demo(depth=5), cutoff=5))
    >>> round(found["query"], 2), round(found["residual"], 2), list(found)
    (0.03, 0.02, ['query', 'artist', 'genre', 'system_query', 'system', 'system_genre', 'residual'])
    """
    rows = np.flatnonzero(candidates.judged)
    if len(rows) == 0:
        raise AdjudgeError("Expected judged pairs to learn variances from, got none.")
    heard = candidates.similarity is not None
    effects = design(candidates, feature_columns(candidates, base, features, sound=heard), sound=heard)
    found = estimate(effects, rows, candidates.relevance, _defaults(candidates, sound=heard), prior_sd)
    return _named(found, effects)


def last_due(n_judged: int) -> int:
    """The last number of judgments, up to ``n_judged``, at which variances are re-estimated; 0 if there was none.

    >>> [last_due(n) for n in (4, 5, 19, 20, 39, 205, 221)]
    [0, 5, 10, 20, 20, 200, 220]
    """
    return _DUE[bisect_right(_DUE, n_judged) - 1]


def _schedule() -> tuple[int, ...]:
    due = [0, 5, 10, 20]
    while due[-1] < 10**9:
        due.append(max(due[-1] + 20, due[-1] * 11 // 10))
    return tuple(due)


_DUE = _schedule()


def _defaults(candidates: Candidates, *, sound: bool) -> Floats:
    metadata = bool((candidates.artist >= 0).any() or (candidates.genre >= 0).any())
    return default_variances(candidates.scale, metadata=metadata, sound=sound)


def _named(variances: Floats, effects: Design) -> dict[str, float]:
    named = zip(effects.kinds, variances, effects.active, strict=True)
    return {kind: float(v) for kind, v, active in named if active}


def _read_only(values: Floats) -> Floats:
    view = values.view()
    view.flags.writeable = False
    return view
