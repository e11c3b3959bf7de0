"""The hierarchical estimator: relevance as a sum of effects that queries, artists, genres and systems share.

All effects (:func:`hierarchical` has the equation) are independent and Gaussian, so judging one document tells about
others of the same query, artist, genre and systems, and about those that are like it, and errors of estimates are
correlated as they are in truth: intervals of differences between systems hold what they claim. ``effects`` has the
features and who shares what, ``posterior`` how much effects vary, what judgments tell, and draws of relevance that stay
on the scale, ``scores`` what all this says of systems.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import POSITIVE, SEED, checked
from adjudge.errors import AdjudgeError
from adjudge.parallel import one_thread
from adjudge.relevance.base import RelevanceModel, Scores, Scoring, estimator
from adjudge.relevance.candidates import Answers, Candidates
from adjudge.relevance.hierarchical.assessors import PANEL, Instrument, Panel, panel_variances
from adjudge.relevance.hierarchical.effects import Design, default_variances, design, kinds_of, replace_variances
from adjudge.relevance.hierarchical.posterior import Draws, Posterior, estimate, estimate_panel, noise_spread
from adjudge.relevance.hierarchical.scores import DrawnScores, LinearScores, MeasureScores, RatioScores


class HierarchicalModel(RelevanceModel):
    """Beliefs of the hierarchical model; start one with :func:`hierarchical`."""

    inflation = 1.25
    order_inflation = 1.0
    top_inflation = 1.6
    confidence_df: int | None = None
    weighs_assessors = True

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
        panel_centre: Floats,
        noisy: bool = False,
        noise: Mapping[str, float] | None = None,
    ) -> None:
        self.candidates, self.scoring = effects.candidates, scoring
        self.judged = np.zeros(len(self.candidates), dtype=np.bool_)
        self._relevance = np.full(len(self.candidates), np.nan)
        self._plain, self._centre, self._prior_sd, self._reestimate = effects, centre, prior_sd, reestimate
        self._effects = effects
        self._draws, self._seed = draws, seed
        self._variances, self._panel_centre, self._noisy = centre, panel_centre, noisy
        self._panel_variances, self._noise = panel_centre, dict(noise or {})
        self._rebuild()

    @property
    def mean(self) -> Floats:
        return _read_only(self._posterior.mean)

    @property
    def variance(self) -> Floats:
        return _read_only(self._posterior.variance)

    @property
    def answer_variance(self) -> Floats:
        panel = self._panel_variances.sum() if self.noisy else 0.0
        return np.asarray(self._posterior.variance + panel)

    @property
    def noisy(self) -> bool:
        """Whether answers are r + λ + e: where pairs have answers of several assessors, or are to have them."""
        return self._noisy or len(self.answers) > int(np.count_nonzero(self.judged))

    @property
    def variances(self) -> dict[str, float]:
        """Variance of each kind of effect, as estimated last."""
        panel = zip(PANEL, self._panel_variances.tolist(), strict=True) if self.noisy else ()
        return {**_name_variances(self._variances, self._effects), **dict(panel)}

    @property
    def effects(self) -> dict[str, tuple[float, float]]:
        """Expectation and standard deviation of each effect that all queries share: coefficients, systems."""
        n, stretch = len(self._effects.names), self._effects.stretch  # leniency of assessors comes last
        sd = np.sqrt(np.maximum(np.diagonal(self._posterior.sigma)[:n], 0.0)) * stretch
        moments = zip((self._posterior.theta[:n] * stretch).tolist(), sd.tolist(), strict=True)
        return dict(zip(self._effects.names, moments, strict=True))

    @property
    def noise(self) -> dict[str, float]:
        """Noise of each assessor, as estimated last."""
        return self._noise

    def instruments(self) -> list[Instrument]:
        """What is believed of each assessor, by name; nobody where judgments are exact."""
        panel, posterior = self._posterior.panel, self._posterior
        if panel is None:
            return []
        n, spread, answers = len(panel), np.zeros(len(panel)), Answers.of(self.answers)
        if self._reestimate:
            found = np.append(self._variances, self._panel_variances), panel.noise
            rows = np.flatnonzero(self.judged)
            spread = noise_spread(self._effects, rows, answers, found, self._prior_sd)
        whole = self._effects.relevance_variance(self._variances)
        counts = np.bincount(answers.assessor, minlength=n)
        leniency_sd = np.sqrt(np.maximum(np.diagonal(posterior.sigma)[-n:], 0.0))
        columns = (counts, posterior.theta[-n:], leniency_sd, panel.noise, spread, whole / (whole + panel.noise))
        rows_of = zip(answers.assessors, *(column.tolist() for column in columns), strict=True)
        return [Instrument(*row) for row in rows_of]

    def judge(self, pair: int, relevance: float, assessor: str = "") -> None:
        before = self.noisy
        self._record(pair, relevance, assessor)
        self._relevance[pair] = relevance
        if len(self.answers) == last_due(len(self.answers)) or self.noisy != before:
            self._renew()
        elif not self.noisy:
            self._scores.learn(self._posterior.update(pair, relevance))
        elif assessor in self._places:
            self._scores.learn(self._posterior.update(pair, relevance, self._places[assessor]))
        else:
            self._rebuild()

    def judge_all(self) -> None:
        """Learn all judgments of the candidates at once, as if one by one in their order."""
        known, n = self._known(), len(self.answers)
        together = max(last_due(n + len(known)) - n, 0)
        for (pair, assessor), relevance in known[:together]:
            self._record(pair, relevance, assessor)
            self._relevance[pair] = relevance
        if together:
            self._renew()
        for (pair, assessor), relevance in known[together:]:
            self.judge(pair, relevance, assessor)

    def scores(self) -> Scores:
        covariance, known = self._scores.covariance.copy(), self._scores.known
        covariance[known], covariance[:, known] = 0.0, 0.0
        np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), 0.0))  # rounding may leave less
        return Scores(self._scores.mean, covariance)

    def influence(self) -> Floats:
        return _read_only(self._scores.influence)

    def query_scores(self) -> tuple[Floats, Floats, Floats]:
        return self._scores.by_query()

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draws of the relevance of all candidates together, draws x candidates; see ``posterior``."""
        relevance, _ = Draws(self._posterior, 2 * n, rng).relevance(slice(None))  # the second half reflects the first
        return np.ascontiguousarray(relevance[:, :n].T)

    def _renew(self) -> None:
        """Estimate variances again, always from the same start: what is learned does not depend on the way there.

        Where systems turn out to be unlike all others, all is learned again with their variances set free.
        """
        effects, n = self._plain, len(self._plain.names)
        for _ in range(_ROUNDS):
            self._effects = effects
            if self._reestimate and self._is_varied():
                self._estimate(np.flatnonzero(self.judged))
            self._condition()
            theta, variance = self._posterior.theta[:n], np.diagonal(self._posterior.sigma)[:n]
            stretch = self._effects.stretch_for(theta, variance, self._variances)
            if np.allclose(stretch, self._effects.stretch, rtol=_SAME, atol=0.0):
                break
            effects = self._plain.stretched(stretch)
        self._count()

    def _is_varied(self) -> bool:
        """Whether some grades differ from the most common one; fewer do not tell how much relevance varies."""
        counts = np.unique(list(self.answers.values()), return_counts=True)[1]
        return int(counts.sum() - counts.max(initial=0)) >= _FEWEST_THAT_DIFFER

    def _estimate(self, rows: Ints) -> None:
        """Variances of effects, and of assessors where they have noise."""
        if not self.noisy:
            self._variances = estimate(self._effects, rows, self._relevance, self._centre, self._prior_sd)
            return
        answers, n = Answers.of(self.answers), len(self._centre)
        centre = np.append(self._centre, self._panel_centre)
        found, noise = estimate_panel(self._effects, rows, answers, centre, self._prior_sd)
        self._variances, self._panel_variances = found[:n], found[n:]
        self._noise = dict(zip(answers.assessors, noise.tolist(), strict=True))

    def _rebuild(self) -> None:
        self._condition()
        self._count()

    def _condition(self) -> None:
        """What judgments say of effects."""
        self.step = 0.0 if self.noisy else self.scoring.step(self.candidates)  # means over assessors come in none
        panel = self._panel() if self.noisy and self.answers else None
        self._places = {} if panel is None else {name: i for i, name in enumerate(panel.answers.assessors)}
        self._posterior = Posterior(self._effects, self._variances, self.judged, self._relevance, panel)

    def _count(self) -> None:
        """What beliefs say of scores."""
        self._scores: LinearScores | DrawnScores
        if self.scoring.linear:
            self._scores = LinearScores(self._posterior, self.scoring)
        elif self.scoring.drawn is not None:
            measure, draws, seed = self.scoring.drawn, self._draws, self._seed
            self._scores = MeasureScores(self._posterior, measure, draws=draws, seed=seed)
        else:
            self._scores = RatioScores(self._posterior, self.scoring, draws=self._draws, seed=self._seed)

    def _panel(self) -> Panel:
        """Who said what so far; assessors whose noise was not estimated yet have the common one."""
        answers, (leniency, common) = Answers.of(self.answers), self._panel_variances.tolist()
        noise = np.array([self._noise.get(name, common) for name in answers.assessors])
        return Panel(answers, leniency, noise)


@estimator("hierarchical")
@checked("hierarchical", prior_sd=POSITIVE, seed=SEED)
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
    noisy: bool = False,
    noise: Mapping[str, float] | None = None,
) -> HierarchicalModel:
    """Relevance as a sum of shared effects, so that errors of estimates are correlated as they are in truth.

        r_i = x_i'β + b_q + a[q,artist] + g[q,genre] + Σ_s z_is (u_s + w_qs) + Σ_s zbar[q,genre,s] t_s + ε_i

    - x_i: ``features`` of the pair, "full" or "plain" as :mod:`~adjudge.relevance.hierarchical.effects` says, or a
      constant, the expected relevance ``base`` of another estimator and √n_i - 1; machine opinions of the candidates
      come on top. Coefficients β have Gaussian priors. Opinions are expected to be worth what those of honest judges
      are, together: several of them share it, and each may be worth more or less than that. What they are worth may
      differ from query to query, by an effect of each.
    - b_q, a, g: effects of the query, and of artists and genres for that query. Without metadata they vanish, t too; a
      document of unknown artist (genre) has one of its own.
    - u_s, w_qs: effects of system s, overall and for the query; z_is = 1/√n_i for the n_i systems that retrieved i.
    - t_s: effects of systems on the genres they retrieve, zbar how much of a genre is theirs for that query.
    - where the candidates have a similarity, of sound, embeddings or texts, unless ``sound`` is False: effects that
      documents of a query share as far as they are alike (:mod:`~adjudge.relevance.features`), effects of systems on
      what is like what they retrieve, and in x_i sSIM, how alike document and query are.
    - ε_i: what no other pair shares. A judgment is exact as long as no pair has several, unless ``noisy``: then
      assessors have leniency and noise of their own (:mod:`~adjudge.relevance.hierarchical.assessors`).

    Variances of effects start at defaults for the scale. They are re-estimated at 5, 10, 20, 40, … judgments (from 200
    on at every tenth more) by marginal likelihood with a log-normal prior around the defaults (standard deviation of
    logarithms ``prior_sd``); ``prior_variances`` replaces defaults, with those of an earlier collection for example
    (:func:`learn_variances`), ``variances`` does too and stops re-estimation. Names are those of ``WITH_HINTS``, and
    ``assessor`` and ``noise``; ``noise`` has that of single assessors by name, until it is estimated. A
    system whose effect is beyond two standard deviations gets a variance of its own.

    For ratios with an ideal, scores are averaged over ``draws`` of relevance from ``seed``, half of them reflected,
    that stay on the scale (:mod:`~adjudge.relevance.hierarchical.posterior`).
    Intervals are claimed from variances 1.25 times as large as the model says, for relevance is not quite Gaussian.
    Claims about the order reckon with the steps of grades where scores have such: two systems may well be equal.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> from adjudge.relevance.base import scoring
    >>> found = candidates(aj.demo(queries=20, depth=5), cutoff=5)
    >>> model = hierarchical(found, scoring("CG@5", found.scale))
    >>> model.judge(0, 0.5)
    >>> model.scores().mean.shape, model.influence().shape == (len(found), found.n_systems)
    ((12,), True)
    """
    if draws < 2 or draws % 2:
        raise AdjudgeError(f"hierarchical: 'draws' must be an even number of at least 2, got {draws}")
    if variances is not None and prior_variances is not None:
        raise AdjudgeError("hierarchical: expected 'variances' or 'prior_variances', got both.")
    effects, defaults = _prior(candidates, features, base, sound=sound)
    centre = replace_variances(defaults, variances or prior_variances or {}, effects.kinds)
    panel, free = panel_variances(candidates.scale, variances or prior_variances or {}), variances is None
    return HierarchicalModel(
        effects, scoring, centre, reestimate=free, prior_sd=prior_sd, draws=draws, seed=seed,
        panel_centre=panel, noisy=noisy, noise=noise,
    )  # fmt: skip


@one_thread()
def learn_variances(
    candidates: Candidates, *, features: str = "full", base: Floats | None = None, prior_sd: float = 1.0
) -> dict[str, float]:
    """Variances of effects that the judged pairs of candidates suggest, for ``prior_variances`` of another collection.

    Where several assessors judged some pair, those of leniency and noise are among them.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> found = learn_variances(candidates(aj.demo(depth=5), cutoff=5))
    >>> round(found["query"], 2), round(found["residual"], 2), list(found)[-3:]
    (0.02, 0.01, ['residual', 'assessor', 'noise'])
    """
    rows = np.flatnonzero(candidates.judged)
    if len(rows) == 0:
        raise AdjudgeError("Expected judged pairs to learn variances from, got none.")
    effects, defaults = _prior(candidates, features, base, sound=True)
    answers = candidates.answers
    if answers is None or len(answers.pair) == len(rows):
        return _name_variances(estimate(effects, rows, candidates.relevance, defaults, prior_sd), effects)
    centre, n = np.append(defaults, panel_variances(candidates.scale, {})), len(defaults)
    found, _ = estimate_panel(effects, rows, answers, centre, prior_sd)
    return {**_name_variances(found[:n], effects), **dict(zip(PANEL, found[n:].tolist(), strict=True))}


def _prior(candidates: Candidates, features: str, base: Floats | None, *, sound: bool) -> tuple[Design, Floats]:
    """Effects and default variances; those of sound where candidates have a similarity."""
    heard = sound and candidates.similarity is not None
    metadata = bool((candidates.artist >= 0).any() or (candidates.genre >= 0).any())
    defaults = default_variances(candidates.scale, metadata=metadata, kinds=kinds_of(candidates, sound=heard))
    return design(candidates, base, features, sound=heard), defaults


_FEWEST_THAT_DIFFER = 3
_ROUNDS = 3  # of estimates, at most
_SAME = 0.02  # share by which standard deviations may differ in the last round


def last_due(n_judged: int) -> int:
    """The last number of judgments, up to ``n_judged``, at which variances are re-estimated; 0 if there was none.

    >>> [last_due(n) for n in (4, 5, 19, 20, 39, 205, 221)]
    [0, 5, 10, 20, 20, 200, 220]
    """
    return _DUE[bisect_right(_DUE, n_judged) - 1]


_DUE = [0, 5, 10, 20]
while _DUE[-1] < 10**9:
    _DUE.append(max(_DUE[-1] + 20, _DUE[-1] * 11 // 10))


def _name_variances(variances: Floats, effects: Design) -> dict[str, float]:
    named = zip(effects.kinds, variances, effects.active, strict=True)
    return {kind: float(v) for kind, v, active in named if active}


def _read_only(values: Floats) -> Floats:
    view = values.view()
    view.flags.writeable = False
    return view
