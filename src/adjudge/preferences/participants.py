"""Participants: who answered how, who listened, who agrees with the others, and how conclusions change without each.

Influence looks at three conclusions of a study: the difference that more than half of the people notice, the
probability that somebody is satisfied with a list of medium effectiveness, and which measure on which scale explains
answers best: whose own curve makes them likeliest, among answers that all of them can score. (Which predicts *unseen*
answers best is the question of :mod:`adjudge.preferences.curves`.) Everything is fitted again without each participant,
exactly; nothing is approximated by derivatives.

Curves without each participant are fitted many at once. A curve only sees how often each answer was given at each
effectiveness (or difference), so the counts without a participant are those of all minus theirs, and steps from the
curve of all are taken for many participants together. The result is the maximum of the likelihood of the others, as
``fit_agreement`` and ``fit_satisfaction`` find it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import RESAMPLES_OR_NONE, SEED, checked
from adjudge.errors import AdjudgeError
from adjudge.preferences.curves import DEFAULT_KIND, has_several_sizes
from adjudge.preferences.questions import CHOICES, Combination
from adjudge.preferences.study import B, Evidence, Study, evidence, judged_by_all
from adjudge.preferences.trust import Trust, TrustRules, assess_all
from adjudge.reporting.document import FigureBlock
from adjudge.results import Column, Result, figure
from adjudge.seeds import Seed, as_seed
from adjudge.stats.agreement import Estimate
from adjudge.tables import Table
from adjudge.text import counted, listed, number
from adjudge.users.curves import TINY, log_shares
from adjudge.users.figures import LeftOut, People, left_out, people
from adjudge.users.noticing import FORMS, agreement_data, agreement_model, fit_agreement, noticeable_differences
from adjudge.users.satisfaction import MONOTONE, fit_satisfaction, satisfaction_model

Pair = tuple[str, str]
"""A measure and a scale, as they print themselves."""

MEDIUM = 0.5
"""The effectiveness at which satisfaction is looked at."""

_FEWEST = 2  # answers that a curve can be fitted to
_MOST_SLOTS = 30  # answers to one question beyond which alpha comes without an interval
_GUESS_NEITHER, _GUESS_ONE = math.log(0.5), math.log(0.25)  # four answers, one of them at random


@dataclass(frozen=True)
class ParticipantQuality:
    """One participant; NaN where something is unknown.

    ``left`` is one half by chance. Where ``follows`` is above 0, answers follow effectiveness as those of the others
    do; below 0 guessing explains them better.
    """

    participant: Annotated[str, Column("who answered", key=True)]
    answers: Annotated[int, Column("answers to questions other than attention checks", ",d")]
    set_aside: Annotated[int, Column("answers among them that do not count", ",d", label="aside")]
    reason: Annotated[str, Column("why answers are set aside, empty where they are not", shown=False)]
    traps_right: Annotated[int, Column("attention checks answered right", "d", label="right")]
    traps_asked: Annotated[int, Column("attention checks asked", "d", label="traps")]
    trust: Annotated[float, Column("share of attention checks answered right, 1 without any", ".2f", shown=False)]
    attentive: Annotated[float, Column("probability that they are attentive", ".3f", label="P(attentive)")]
    verdict: Annotated[str, Column("verdict by the rules: fine, failed quiz, failed traps or inattentive")]
    median_seconds: Annotated[float, Column("median time of an answer", ".0f", unit="s", label="median")]
    a: Annotated[float, Column("share of answers for the first list", ".2f", shown=False)]
    b: Annotated[float, Column("share of answers for the second list", ".2f", shown=False)]
    good: Annotated[float, Column("share of answers that both are good", ".2f", shown=False)]
    bad: Annotated[float, Column("share of answers that both are bad", ".2f", shown=False)]
    left: Annotated[float, Column("share of preferences for the list on the left, or above", ".2f")]
    agrees: Annotated[float, Column("mean share of the others who gave the same answer", ".2f", shown=False)]
    shared: Annotated[int, Column("questions that others answered too", ",d", shown=False)]
    follows: Annotated[float, Column("mean log of P(answer | curve of the others) / P(answer | guessing)", ".2f")]


@dataclass(frozen=True, repr=False)
class Quality(Result):
    """The participants of a study, in the order in which they came.

    ``alpha`` is Krippendorff's for nominal answers, over answers that count to questions that several people answered;
    ``measure`` and ``scale`` are those of ``follows``, empty where questions have no grades.
    """

    rows: tuple[ParticipantQuality, ...]
    trusts: tuple[Trust, ...] = field(repr=False)
    rules: TrustRules
    alpha: Estimate
    n_shared: int
    measure: str
    scale: str

    @figure("participant-trust")
    def _people(self) -> FigureBlock:
        """Traps against answers, and how far answers follow those of others."""

        def column(name: str) -> Floats:
            return np.array([getattr(row, name) for row in self.rows], dtype=np.float64)

        doubted = np.array([row.verdict != "fine" for row in self.rows], dtype=np.bool_)
        data = People(
            tuple(row.participant for row in self.rows),
            column("answers"),
            np.where(column("traps_asked") > 0, column("trust"), np.nan),
            column("attentive"),
            column("follows"),
            column("median_seconds"),
            doubted,
            self.rules.bar,
        )
        caption = (
            "One mark per participant. Left: attention checks answered right, against the number of answers; the line "
            "is the least that passes. Right: how far answers follow "
            "effectiveness as those of the others do (above 0) rather than chance, against the time they took."
        )
        alt = f"{len(self.rows)} participants, {int(doubted.sum())} of them do not pass the rules of trust."
        return FigureBlock("participant-trust", caption, alt, data, people)

    @property
    def doubtful(self) -> tuple[ParticipantQuality, ...]:
        """Participants whom the rules would stop, but whose answers count."""
        return tuple(row for row in self.rows if row.verdict != "fine" and row.set_aside < row.answers)

    def sentences(self) -> list[str]:
        """What a reader should know, most important first."""
        names = ("answers", "set_aside", "traps_right", "traps_asked")
        answers, aside, right, asked = (sum(getattr(row, name) for row in self.rows) for name in names)
        fine = sum(row.verdict == "fine" for row in self.rows)
        checks = f"{right:,} of {asked:,} attention checks were answered right." if asked else "nobody was checked."
        sentences = [
            f"{counted(len(self.rows), 'participant')} gave {counted(answers, 'answer')}, of which "
            f"{aside:,} {'is' if aside == 1 else 'are'} excluded. "
            f"{fine:,} {'passes' if fine == 1 else 'pass'} the rules of trust; {checks}"
        ]
        if self.doubtful:
            named = listed([f"{row.participant} ({row.verdict})" for row in self.doubtful], most=5)
            sentences.append(f"By these rules the answers of {named} would be excluded; they count.")
        if self.n_shared:
            alpha = self.alpha
            known = f"Krippendorff's alpha is {alpha}" if math.isfinite(alpha.value) else f"{alpha.reason}"
            were = "was" if self.n_shared == 1 else "were"
            sentences.append(f"{counted(self.n_shared, 'question')} {were} answered by several people: {known}.")
        else:
            unknown = "nothing is known about their agreement"
            what = "agreement is how far answers follow the curve of the others" if self.measure else unknown
            sentences.append(f"No two people answered the same question, so {what}.")
        return sentences

    row_type = ParticipantQuality
    rows_name = "participants"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Quality of the answers of {counted(len(self.rows), 'participant')}"

    def _facts(self) -> dict[str, Any]:
        facts = {name: getattr(self, name) for name in ("n_shared", "measure", "scale")}
        return {"alpha": asdict(self.alpha), **facts, "rules": asdict(self.rules)}

    def _notes(self) -> list[str]:
        return self.sentences()

    def table(self, *, digits: int | None = None) -> Table:
        """The participants, least attentive first."""
        order = sorted(range(len(self.rows)), key=lambda place: self.rows[place].attentive)
        return super().table(digits=digits).take(order)

    def __repr__(self) -> str:
        return f"<Quality: {counted(len(self.rows), 'participant')}>"


@checked(resamples=RESAMPLES_OR_NONE, seed=SEED)
def quality(
    study: Study,
    *,
    rules: TrustRules | None = None,
    least_seconds: float | Mapping[str, float] | None = None,
    measure: str | None = None,
    scale: str | None = None,
    form: str = "two-stage",
    resamples: int = 500,
    seed: Seed = 0,
) -> Quality:
    """Everything known about each participant; a study that does not know who answered what is refused.

    ``rules`` and ``least_seconds`` are those of :func:`~adjudge.preferences.trust.assess_all`. ``follows`` compares
    answers with the curve of the others, fitted to ``measure`` on ``scale``, by default CG on the finest grades;
    answers that are set aside are compared with the curve of those that count. ``resamples`` make the interval of
    alpha; 0 leaves it out.
    """
    seed = as_seed(seed)
    rules = rules or study.rules or TrustRules()
    trusts = assess_all(study, rules, least_seconds=least_seconds)
    plain = study.select(~study.trap)
    combination = default_combination(study, measure, scale) if study.questions.grades else ("", "")
    agrees, shared = _agreement_with_others(plain)
    others = zip(agrees.tolist(), shared.tolist(), _follows(plain, combination, form).tolist(), strict=True)
    alpha, n_shared = _alpha(plain.select(~plain.set_aside), resamples, seed)
    order = np.argsort(plain.participant, kind="stable")
    ends = np.searchsorted(plain.participant[order], np.arange(len(study.participants) + 1)).tolist()
    rows = tuple(
        _quality_row(plain, who, order[start:end], trusts[who], other)
        for who, ((start, end), other) in enumerate(zip(pairwise(ends), others, strict=True))
    )
    return Quality(rows, trusts, rules, alpha, n_shared, *combination)


def _quality_row(
    study: Study, who: int, at: Ints, trust: Trust, others: tuple[float, int, float]
) -> ParticipantQuality:
    """One participant, whose answers are ``at`` these rows; ``others`` are the last three columns."""
    choice, swapped, seconds = study.choice[at], study.swapped[at], study.seconds[at]
    timed, sided = seconds[np.isfinite(seconds)], (choice <= B) & (swapped >= 0)
    shares = np.bincount(choice, minlength=len(CHOICES)) / len(at) if len(at) else np.full(4, np.nan)
    aside = int(study.set_aside[at].sum())
    return ParticipantQuality(
        study.participants[who],
        answers=len(at),
        set_aside=aside,
        reason=(study.reasons[who] if study.reasons else "") or ("set aside" if aside else ""),
        traps_right=trust.traps_right,
        traps_asked=trust.traps_asked,
        trust=trust.share,
        attentive=trust.probability,
        verdict=trust.verdict,
        median_seconds=float(np.median(timed)) if len(timed) else math.nan,
        **dict(zip(CHOICES, shares.tolist(), strict=True)),
        left=float((choice == swapped)[sided].mean()) if sided.any() else math.nan,
        agrees=others[0],
        shared=others[1],
        follows=others[2],
    )


def _first_answers(study: Study) -> Study:
    """Each participant's first answer to each question."""
    key = study.question * max(len(study.participants), 1) + study.participant
    return study.select(np.sort(np.unique(key, return_index=True)[1]))


def _agreement_with_others(study: Study) -> tuple[Floats, Ints]:
    """For each participant the mean share of the others who gave the same answer, and questions shared with others.

    Others are those whose answers count.
    """
    firsts = _first_answers(study)
    counts = np.zeros((len(study.questions), len(CHOICES)))
    own = ~firsts.set_aside
    np.add.at(counts, (firsts.question[own], firsts.choice[own]), 1)
    others = counts.sum(axis=1)[firsts.question] - own
    same = counts[firsts.question, firsts.choice] - own
    met = others > 0
    n, who = len(study.participants), firsts.participant[met]
    return _means(same[met] / others[met], who, n), np.bincount(who, minlength=n)


def _alpha(study: Study, resamples: int, seed: int) -> tuple[Estimate, int]:
    """Krippendorff's alpha of the answers that count.

    It depends on which answers are to one question, not on whose they are. So the table has as many columns as the
    most answers that a question has, which keeps it small.
    """
    from adjudge.stats.agreement import Ratings, agreement
    from adjudge.stats.agreement_coefficients import krippendorff_alpha

    firsts = _first_answers(study)
    firsts = firsts.select(np.argsort(firsts.question, kind="stable"))
    asked, starts, given = np.unique(firsts.question, return_index=True, return_counts=True)
    n_shared = int((given > 1).sum())
    if not n_shared:
        return Estimate(reason="no question was answered by two people"), 0
    slot = np.arange(len(firsts)) - np.repeat(starts, given)
    values = np.full((len(asked), int(given.max())), np.nan)
    values[np.repeat(np.arange(len(asked)), given), slot] = firsts.choice
    values, several = values[given > 1], asked[given > 1]
    if values.shape[1] > _MOST_SLOTS:
        return Estimate(krippendorff_alpha(values, "nominal"), reason="no interval was asked for"), n_shared
    questions = study.questions.questions
    units = tuple((questions[place].query, questions[place].name) for place in several.tolist())
    ratings = Ratings(values, tuple(f"answer {i + 1}" for i in range(values.shape[1])), units)
    return agreement(ratings, metric="nominal", resamples=resamples, seed=seed).alpha, n_shared


def _follows(study: Study, combination: Pair, form: str) -> Floats:
    """Mean log-likelihood ratio of each participant's answers: the curve of the others against guessing."""
    n, counted = len(study.participants), study.counted()
    if not combination[0] or np.count_nonzero(judged_by_all(counted, [combination])) < _FEWEST:
        return np.full(n, np.nan)
    seen = evidence(counted, *combination)
    curves = curves_without(seen.delta, seen.prefers, seen.participant, n, form=form)
    follows = curves.own - _mean_guess(seen, n)
    if bool(study.set_aside.any()):  # no curve was fitted to answers set aside: that of the others is the one of all
        seen = evidence(study.with_aside(), *combination)
        logs = log_shares(agreement_model(form), agreement_data(seen.delta, seen.prefers), curves.parameters[0])
        aside = _means(logs, seen.participant, n) - _mean_guess(seen, n)
        follows = np.where(np.isfinite(follows), follows, aside)
    return follows


def _mean_guess(seen: Evidence, n: int) -> Floats:
    return _means(np.where(seen.prefers == 0, _GUESS_NEITHER, _GUESS_ONE), seen.participant, n)


def _means(values: Floats, who: Ints, n: int) -> Floats:
    """Mean of each participant's values, NaN without any."""
    given = np.bincount(who, minlength=n)
    total = np.bincount(who, weights=values, minlength=n)
    means: Floats = np.divide(total, given, out=np.full(n, np.nan), where=given > 0)
    return means


_STEP = 1e-5  # of numerical derivatives
_STEPS = 200
_ENOUGH, _CLOSE = 1e-10, 1e-7  # log-likelihood still to be gained, and how far parameters still move, at the end
_STUCK = 1e9  # damping beyond which nothing moves
_CELLS = 2_000_000  # numbers in memory for one part of the participants
_AT_ONCE = 64


@dataclass(frozen=True)
class CurvesWithout:
    """Parameters and log-likelihood of the curve of all (first), then of the curve without each participant.

    ``own`` is the mean log-likelihood of each participant's own answers under the curve of the others, NaN where they
    have none.
    """

    parameters: Floats
    log_likelihood: Floats
    own: Floats


def curves_without(
    delta: Floats, answer: Ints, participant: Ints, n_participants: int, *, form: str = "two-stage"
) -> CurvesWithout:
    """Fit the agreement curve of all answers, then that without each participant.

    ``delta`` and ``answer`` are as :func:`~adjudge.users.noticing.fit_agreement` takes them, ``participant`` says who
    gave each answer. Without participants who gave no answers, or all of them, the curve of all stays.
    """
    fit = fit_agreement(delta, answer, form=form)
    family = FORMS[form]
    kind = np.where(answer == 0, 1, np.where((answer > 0) == (delta >= 0), 0, 2))

    def shares(sizes: Floats, parameters: Floats) -> Floats:
        agree, disagree = family.function(sizes[None, :], *(column[:, None] for column in parameters.T))
        return np.stack([agree, 1.0 - agree - disagree, disagree], axis=-1)

    curves = _Curves(shares, np.array(family.lowest), np.array(family.highest), 3)
    found, total, own = _leave_out(curves, np.abs(delta), kind, participant, n=n_participants, start=fit.parameters)
    total[np.isnan(total)] = fit.log_likelihood
    return CurvesWithout(np.vstack([fit.parameters, found]), np.append(fit.log_likelihood, total), own)


def satisfaction_without(
    effectiveness: Floats, satisfied: Ints, participant: Ints, n_participants: int, *, kind: str = DEFAULT_KIND
) -> Floats:
    """Parameters of the satisfaction curve of all ties or lists (first), then of that without each participant.

    ``effectiveness`` and ``satisfied`` are as :func:`~adjudge.users.satisfaction.fit_satisfaction` takes them.
    With pairs the weight of the better list is the last parameter.
    """
    family = MONOTONE[kind]
    fit = fit_satisfaction(effectiveness, satisfied, kind=kind)

    def shares(values: Floats, parameters: Floats) -> Floats:
        columns = [column[:, None] for column in parameters.T]
        at = values[None, :]
        if values.ndim > 1:
            weight = columns.pop()
            at = weight * values[:, 1] + (1.0 - weight) * values[:, 0]
        good = family.function(at, *columns)
        return np.stack([1.0 - good, good], axis=-1)

    model = satisfaction_model(kind, pairs=fit.weight is not None)
    curves = _Curves(shares, np.array(model.lowest), np.array(model.highest), 2, half_at_ends=True)
    values = np.clip(effectiveness, 0.0, 1.0)
    if values.ndim > 1:
        values = np.sort(values, axis=1)
    found, _, _ = _leave_out(curves, values, satisfied, participant, n=n_participants, start=fit.parameters)
    return np.vstack([fit.parameters, found])


@dataclass(frozen=True)
class _Curves:
    """Many curves of one family: (values, parameters of each) -> curves x values x outcomes.

    ``half_at_ends``: each fit also sees half an answer of every outcome at 0 and at 1 (a quarter with pairs), as
    ``fit_satisfaction`` does.
    """

    shares: Callable[[Floats, Floats], Floats]
    lowest: Floats
    highest: Floats
    outcomes: int
    half_at_ends: bool = False


def _leave_out(
    curves: _Curves, x: Floats, outcome: Ints, participant: Ints, *, n: int, start: Floats
) -> tuple[Floats, Floats, Floats]:
    """Parameters and log-likelihood without each participant, and the mean log-likelihood of their own answers."""
    ends = np.broadcast_to([0.0, 1.0], (*x.shape[1:], 2)).T if curves.half_at_ends else x[:0]
    values, place = np.unique(np.concatenate([x, ends]), axis=0, return_inverse=True)
    n_cells = curves.outcomes * len(values)
    cell = place.ravel()[: len(x)] * curves.outcomes + outcome
    all_counts = np.bincount(cell, minlength=n_cells).astype(np.float64)
    parameters, likelihood, own_mean = np.tile(start, (n, 1)), np.full(n, np.nan), np.full(n, np.nan)
    given = np.bincount(participant, minlength=n)
    able = np.flatnonzero((given > 0) & (given < len(x)))
    width = max(1, min(_AT_ONCE, _CELLS // n_cells))
    for some in (able[first : first + width] for first in range(0, len(able), width)):
        row = np.full(len(given), -1)
        row[some] = np.arange(len(some))
        inside = row[participant] >= 0
        flat = row[participant[inside]] * n_cells + cell[inside]  # of each of some participants, each answer
        own = np.bincount(flat, minlength=len(some) * n_cells).reshape(len(some), len(values), curves.outcomes)
        others: Floats = all_counts.reshape(own.shape[1:]) - own
        seen = others.copy()
        if curves.half_at_ends:
            seen[:, [0, -1]] += 0.5 / x.ndim
        parameters[some] = _maxima(curves, values, seen, np.tile(start, (len(some), 1)))
        logs = np.log(np.maximum(curves.shares(values, parameters[some]), TINY))
        likelihood[some] = (others * logs).sum(axis=(1, 2))
        own_mean[some] = (own * logs).sum(axis=(1, 2)) / given[some]
    return parameters, likelihood, own_mean


def _maxima(curves: _Curves, values: Floats, counts: Floats, start: Floats) -> Floats:
    """Fisher scoring for all curves at once, each with its own damping; parameters stay within their bounds."""

    def total(parameters: Floats, rows: Ints) -> Floats:
        shares = np.maximum(curves.shares(values, parameters), TINY)
        found: Floats = (counts[rows] * np.log(shares)).sum(axis=(1, 2))
        return found

    at, damping = start.copy(), np.full(len(start), 1e-9)
    best = total(at, np.arange(len(at)))
    rows = np.arange(len(at))
    for _ in range(_STEPS):
        step = _scoring(curves, values, counts[rows], at[rows], damping[rows])
        tried = np.clip(at[rows] + step, curves.lowest, curves.highest)
        reached = total(tried, rows)
        good = reached >= best[rows]
        done = good & (reached - best[rows] <= _ENOUGH) & (np.abs(tried - at[rows]).max(axis=1) < _CLOSE)
        at[rows[good]], best[rows[good]] = tried[good], reached[good]
        damping[rows] = np.where(good, np.maximum(damping[rows] / 10, 1e-9), damping[rows] * 10)
        rows = rows[~done & (damping[rows] < _STUCK)]
        if not len(rows):
            break
    return at


def _scoring(curves: _Curves, values: Floats, counts: Floats, at: Floats, damping: Floats) -> Floats:
    """A step of each curve: (I + μ diag I)⁻¹ s, without the parameters that their bounds hold."""
    shares = np.maximum(curves.shares(values, at), TINY)
    widths = _STEP * np.maximum(1.0, np.abs(at))
    slopes = np.empty((at.shape[1], *shares.shape))
    for i, move in enumerate(np.eye(at.shape[1])):
        ahead, behind = (curves.shares(values, at + sign * widths * move) for sign in (1.0, -1.0))
        slopes[i] = (ahead - behind) / (2 * widths[:, i, None, None])
    score = np.einsum("igvk,gvk->gi", slopes, counts / shares)
    weighted = slopes * np.sqrt(counts.sum(axis=2, keepdims=True) / shares)
    information = np.einsum("igvk,jgvk->gij", weighted, weighted)
    held = ((at <= curves.lowest) & (score < 0)) | ((at >= curves.highest) & (score > 0))
    information[held[:, :, None] | held[:, None, :]] = 0.0
    diagonal = np.einsum("gii->gi", information)
    diagonal += damping[:, None] * diagonal + 1e-12 * diagonal.max(axis=1, keepdims=True) + TINY + held
    step: Floats = np.linalg.solve(information, np.where(held, 0.0, score)[:, :, None])[:, :, 0]
    return step


@dataclass(frozen=True)
class InfluenceRow:
    """The conclusions without one participant, and how much higher they are than with; NaN or empty without any."""

    participant: Annotated[str, Column("participant left out", label="without", key=True)]
    answers: Annotated[int, Column("their answers that count", ",d")]
    noticeable: Annotated[float, Column("noticeable difference without them", ".2f")]
    noticeable_change: Annotated[float, Column("how much higher that is than with them", "+.2f", shown=False)]
    satisfied: Annotated[float, Column("P(Sat) at medium effectiveness without them", ".2f", label="P(Sat)")]
    satisfied_change: Annotated[float, Column("how much higher that is than with them", "+.2f", shown=False)]
    best: Annotated[str, Column("the combination that explains answers best without them", shown=False)]


@dataclass(frozen=True)
class Conclusions:
    """What a study says: the noticeable difference, P(Sat) at medium effectiveness, the best combination."""

    answers: int
    noticeable: float
    satisfied: float
    best: str


_SHOWN = 20  # participants in a figure


@dataclass(frozen=True, repr=False)
class Influence(Result):
    """What changes without each participant.

    ``of_all`` are the conclusions as they stand, ``with_aside`` those with the answers that are set aside put back in
    (None where none are). ``rows`` are in the order of the study's participants; participants without answers that
    count change nothing.
    """

    measure: str
    scale: str
    combinations: tuple[Pair, ...]
    of_all: Conclusions
    with_aside: Conclusions | None
    rows: tuple[InfluenceRow, ...]

    def by_change(self) -> list[InfluenceRow]:
        """Participants whose answers count, the largest change of the noticeable difference first."""
        counted = (row for row in self.rows if row.answers)
        return sorted(counted, key=lambda row: -float(np.nan_to_num(abs(row.noticeable_change))))

    @figure("left-out")
    def _left_out(self) -> FigureBlock:
        """The conclusions without each participant."""
        shown = self.by_change()[:_SHOWN]
        if not any(np.isfinite(row.noticeable) for row in self.rows):
            raise AdjudgeError("no noticeable difference is known without any participant")
        back = self.with_aside
        data = LeftOut(
            tuple(row.participant for row in shown),
            (f"noticeable difference in {self.measure}", f"P(Sat) at {MEDIUM:g}"),
            (
                np.array([row.noticeable for row in shown], dtype=np.float64),
                np.array([row.satisfied for row in shown], dtype=np.float64),
            ),
            (self.of_all.noticeable, self.of_all.satisfied),
            (np.nan, np.nan) if back is None else (back.noticeable, back.satisfied),
        )
        some = f"the {len(shown)} participants who change it most" if len(self.rows) > len(shown) else "each"
        caption = f"The noticeable difference and satisfaction without {some}."
        row = self.largest()
        alt = (
            caption
            if row is None
            else f"{caption} The largest change is {row.noticeable_change:+.3f}, {row.participant}."
        )
        return FigureBlock("left-out", caption, alt, data, left_out)

    def largest(self) -> InfluenceRow | None:
        """The row whose noticeable difference changes most; None where none is known."""
        known = [row for row in self.rows if np.isfinite(row.noticeable_change)]
        return max(known, key=lambda row: abs(row.noticeable_change), default=None)

    def sentences(self) -> list[str]:
        """What a reader should know, most important first."""
        if sum(row.answers > 0 for row in self.rows) == 1:
            sentences = ["One participant gave all the answers that count, so everything depends on them."]
        else:
            sentences = [self._noticeable_sentence(), self._satisfied_sentence(), self._best_sentence()]
        if self.with_aside is not None:
            now, then = self.of_all, self.with_aside
            sentences.append(
                f"With the {then.answers - now.answers:,} excluded answers put back in, the noticeable "
                f"difference would be {number(then.noticeable)} instead of {number(now.noticeable)}, and P(Sat) at "
                f"{MEDIUM:g} {number(then.satisfied)} instead of {number(now.satisfied)}."
            )
        return [sentence for sentence in sentences if sentence]

    def _noticeable_sentence(self) -> str:
        now, largest, on = self.of_all.noticeable, self.largest(), f"{self.measure} on {self.scale}"
        answered = [row for row in self.rows if row.answers]
        if np.isnan(now):
            some = [row.participant for row in answered if np.isfinite(row.noticeable)]
            others = f", though without {listed(some, 'or', most=3, more='others')} there would be" if some else ""
            return f"No difference in {on} is noticed by more than half of the people{others}."
        if largest is None:
            return ""
        gone = [row.participant for row in answered if np.isnan(row.noticeable)]
        named = listed(gone, "or", most=3, more="others") if gone else ""
        lost = f" Without {named} no difference would be noticed by more than half." if gone else ""
        if number(largest.noticeable) == number(now):
            return (
                f"The noticeable difference in {on}, {number(now)}, does not depend on any one participant: without "
                f"any of them it stays the same to two digits.{lost}"
            )
        return (
            f"Without {largest.participant} the noticeable difference in {on} would be {number(largest.noticeable)} "
            f"instead of {number(now)}, the largest change that any one participant makes.{lost}"
        )

    def _satisfied_sentence(self) -> str:
        known = [row for row in self.rows if np.isfinite(row.satisfied_change) and row.answers]
        if len(known) < 2:
            return ""
        row = max(known, key=lambda row: abs(row.satisfied_change))
        now, then = number(self.of_all.satisfied), number(row.satisfied)
        if now == then:
            return f"P(Sat) at {MEDIUM:g} is {now} without any one of them, too."
        return f"P(Sat) at {MEDIUM:g} would be {then} instead of {now} without {row.participant}."

    def _best_sentence(self) -> str:
        if len(self.combinations) < 2:
            return ""
        others = [row for row in self.rows if row.answers and row.best != self.of_all.best]
        if not others:
            return f"{self.of_all.best} explains answers best, whoever is left out."
        named = listed([row.participant for row in others], "or", most=3, more="others")
        return f"{self.of_all.best} explains answers best; without {named} {others[0].best} would."

    row_type = InfluenceRow
    rows_name = "influence"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"What changes without each participant, {self.measure} on {self.scale}"

    def _facts(self) -> dict[str, Any]:
        aside = None if self.with_aside is None else asdict(self.with_aside)
        return {"measure": self.measure, "scale": self.scale, "of_all": asdict(self.of_all), "with_aside": aside}

    def _notes(self) -> list[str]:
        return self.sentences()

    def table(self, *, digits: int | None = None) -> Table:
        """Everybody's answers, then what changes without each participant, the largest change first."""
        order = np.argsort([-np.nan_to_num(abs(row.noticeable_change)) for row in self.rows], kind="stable")
        table = super().table(digits=digits).take(order.tolist())
        everybody = {"participant": "nobody", **asdict(self.of_all)}
        first = [column.text(everybody[column.name], digits=digits) for column in self.columns if column.shown]
        return replace(table, rows=[first, *table.rows])

    def __repr__(self) -> str:
        return f"<Influence: {counted(len(self.rows), 'participant')}, {self.measure} on {self.scale}>"


def influence(
    study: Study,
    *,
    measure: str | None = None,
    scale: str | None = None,
    combinations: Iterable[Combination | Pair | str] = (),
    form: str = "two-stage",
    level: float = 0.5,
) -> Influence:
    """The conclusions of a study without each participant; traps never count, answers set aside only in ``with_aside``.

    - the noticeable difference: where the agreement curve (``form``) fitted to ``measure`` on ``scale`` exceeds
      ``level``;
    - P(Sat | λ = 0.5): the monotone curve (``bounded``) fitted to the ties;
    - the best of ``combinations``: under whose own curve the answers that all of them can score are likeliest.

    ``measure`` and ``scale`` default to the first combination, else to CG on the finest scale with grades. A study that
    does not know who answered what is refused.
    """
    where = f"{study.source}: " if study.source else ""
    if not study.knows_participants:
        raise AdjudgeError(f"{where}expected answers that say whose they are, got none that do")
    if len(study.counted()) < _FEWEST:
        raise AdjudgeError(f"{where}expected {_FEWEST} answers or more that count, got {len(study.counted())}")
    wanted = [_pair(combination) for combination in combinations]
    first = wanted[0] if wanted and measure is None and scale is None else default_combination(study, measure, scale)
    pairs = tuple(dict.fromkeys([first, *wanted]))
    of_all, *without = _conclusions(study.counted(), pairs, form, level)
    rows = tuple(
        InfluenceRow(
            name,
            of_all.answers - left.answers,
            left.noticeable,
            left.noticeable - of_all.noticeable,
            left.satisfied,
            left.satisfied - of_all.satisfied,
            left.best,
        )
        for name, left in zip(study.participants, without, strict=True)
    )
    aside = None
    if bool((study.set_aside & ~study.trap).any()):
        aside = _conclusions(study.with_aside().counted(), pairs, form, level, each=False)[0]
    return Influence(*first, pairs, of_all, aside, rows)


def _pair(given: Combination | Pair | str) -> Pair:
    if not isinstance(given, Combination):
        given = Combination.parse(given) if isinstance(given, str) else Combination(*given)
    return given.measure, given.scale


def default_combination(study: Study, measure: str | None = None, scale: str | None = None) -> Pair:
    """As asked, else CG at the length of the lists, on Fine grades where there are any, else on the first scale."""
    scales = list(study.questions.grades)
    if not scales:
        raise AdjudgeError("expected questions with grades, got questions without")
    return _pair((measure or f"CG@{study.questions.n_ranks}", scale or ("fine" if "fine" in scales else scales[0])))


def _conclusions(
    counted: Study, pairs: Sequence[Pair], form: str, level: float, *, each: bool = True
) -> list[Conclusions]:
    """The conclusions from all answers, then without each participant; all but the last are about the first pair."""
    n = len(counted.participants) if each else 0
    seen = evidence(counted, *pairs[0])
    if len(seen.delta) < _FEWEST:
        wanted = f"{_FEWEST} answers or more to lists that are judged"
        raise AdjudgeError(f"{' on '.join(pairs[0])}: expected {wanted}, got {len(seen.delta)}")
    noticeable = noticeable_differences(FORMS[form], _curves(seen, n, form).parameters, level=level)
    if not has_several_sizes(seen.delta):
        noticeable[:] = np.nan
    best = _best(counted, pairs, n, form) if len(pairs) > 1 else np.zeros(n + 1, dtype=np.int64)
    left = len(counted) - np.append(0, np.bincount(counted.participant, minlength=n)[:n])
    columns = (left.tolist(), noticeable[: n + 1].tolist(), _satisfied(seen, n), best.tolist())
    return [
        Conclusions(answers, value, satisfied, " on ".join(pairs[place]))
        for answers, value, satisfied, place in zip(*columns, strict=True)
    ]


def _curves(seen: Evidence, n: int, form: str) -> CurvesWithout:
    """The curve of all, and of all but each of n participants."""
    who = seen.participant if n else np.zeros(len(seen.delta), dtype=np.int64)
    return curves_without(seen.delta, seen.prefers, who, max(n, 1), form=form)


def _best(counted: Study, pairs: Sequence[Pair], n: int, form: str) -> Ints:
    """Place of the combination that makes the answers that all can score likeliest: of all, then without each."""
    common = counted.select(judged_by_all(counted, pairs))
    if len(common) < _FEWEST:
        raise AdjudgeError(f"expected {_FEWEST} answers or more that all combinations can score, got {len(common)}")
    likelihoods = [_curves(evidence(common, *pair), n, form).log_likelihood[: n + 1] for pair in pairs]
    best: Ints = np.argmax(likelihoods, axis=0)
    return best


def _satisfied(seen: Evidence, n: int) -> list[float]:
    """P(Sat) at medium effectiveness: of all, then without each of n participants; NaN where no curve can be fitted."""
    if len(np.unique(seen.answer)) < _FEWEST:
        return [math.nan] * (n + 1)
    who = seen.participant[seen.answer] if n else np.zeros(len(seen.lists), dtype=np.int64)
    curves = satisfaction_without(seen.lists, seen.good, who, max(n, 1))[: n + 1]
    curve = MONOTONE[DEFAULT_KIND]
    n_own = len(curve.parameters)  # without the weight of the better list
    return [float(curve(np.array([MEDIUM]), parameters[:n_own])[0]) for parameters in curves]
