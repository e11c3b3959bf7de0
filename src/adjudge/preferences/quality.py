"""Quality of participants: who answered how, who listened, who agrees with the others, and what was set aside."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import RESAMPLES_OR_NONE, SEED, checked
from adjudge.preferences.influence import Pair, curves_without, default_combination
from adjudge.preferences.questions import CHOICES
from adjudge.preferences.study import B, Study, evidence, judged_by_all
from adjudge.preferences.trust import Trust, TrustRules, assess_all
from adjudge.results import Column, Result
from adjudge.seeds import Seed, as_seed
from adjudge.stats.agreement import Estimate
from adjudge.tables import Table
from adjudge.text import counted, listed

_MOST_SLOTS = 30  # answers to one question beyond which alpha comes without an interval
_GUESS_NEITHER, _GUESS_ONE = math.log(0.5), math.log(0.25)  # four answers, one of them at random


@dataclass(frozen=True)
class ParticipantQuality:
    """One participant. What is not known is NaN.

    =============== =================================================================================================
    answers         to questions that are no traps; ``set_aside`` of them do not count
    traps_right     of ``traps_asked``; ``trust`` is their share, 1 where none were asked
    attentive       P(attentive)
    verdict         what the rules say of them: fine, failed quiz, failed traps or inattentive
    reason          why their answers are set aside, empty where they are not
    median_seconds  time of an answer
    a, b, good, bad share of each choice
    left            share of the preferences that were for the list on the left, or above; one half by chance
    agrees          share of what others answered to the same questions that is the same answer; ``shared`` questions
    follows         mean log of P(answer | curve of the others) / P(answer | guessing): above 0 their answers follow
                    effectiveness as those of the others do, below 0 guessing explains them better
    =============== =================================================================================================
    """

    participant: Annotated[str, Column("who answered", key=True)]
    answers: Annotated[int, Column("answers to questions that are no attention checks", ",d")]
    set_aside: Annotated[int, Column("those of them that do not count", ",d", label="aside")]
    reason: Annotated[str, Column("why answers are set aside, empty where they are not", shown=False)]
    traps_right: Annotated[int, Column("attention checks that were answered right", "d", label="right")]
    traps_asked: Annotated[int, Column("attention checks that were asked", "d", label="traps")]
    trust: Annotated[
        float, Column("share of attention checks answered right, 1 where none were asked", ".2f", shown=False)
    ]
    attentive: Annotated[float, Column("probability that they are attentive", ".3f", label="P(attentive)")]
    verdict: Annotated[str, Column("what the rules say: fine, failed quiz, failed traps or inattentive")]
    median_seconds: Annotated[float, Column("median time of an answer", ".0f", unit="s", label="median")]
    a: Annotated[float, Column("share of answers for the first list", ".2f", shown=False)]
    b: Annotated[float, Column("share of answers for the second list", ".2f", shown=False)]
    good: Annotated[float, Column("share of answers that both are good", ".2f", shown=False)]
    bad: Annotated[float, Column("share of answers that both are bad", ".2f", shown=False)]
    left: Annotated[float, Column("share of preferences for the list on the left, or above", ".2f")]
    agrees: Annotated[float, Column("share of what others answered that is the same answer", ".2f", shown=False)]
    shared: Annotated[int, Column("questions that others answered too", ",d", shown=False)]
    follows: Annotated[float, Column("mean log of P(answer | curve of the others) / P(answer | guessing)", ".2f")]


@dataclass(frozen=True, repr=False)
class Quality(Result):
    """The participants of a study, in the order in which they came.

    ``alpha`` is Krippendorff's for answers as names, over the questions that several people answered and that count;
    ``measure`` and ``scale`` are those of ``follows``, empty where questions have no grades.
    """

    rows: tuple[ParticipantQuality, ...]
    trusts: tuple[Trust, ...] = field(repr=False)
    rules: TrustRules
    alpha: Estimate
    n_shared: int
    measure: str
    scale: str

    @property
    def doubtful(self) -> tuple[ParticipantQuality, ...]:
        """Those whom the rules would stop but whose answers count."""
        return tuple(row for row in self.rows if row.verdict != "fine" and row.set_aside < row.answers)

    def sentences(self) -> list[str]:
        """What a reader should know, most important first."""
        answers, aside = (sum(getattr(row, name) for row in self.rows) for name in ("answers", "set_aside"))
        fine = sum(row.verdict == "fine" for row in self.rows)
        right, asked = (sum(getattr(row, name) for row in self.rows) for name in ("traps_right", "traps_asked"))
        first = (
            f"{counted(len(self.rows), 'participant')} gave {counted(answers, 'answer')}, of which "
            f"{aside:,} {'is' if aside == 1 else 'are'} set aside. "
            f"{fine:,} {'passes' if fine == 1 else 'pass'} the rules of trust"
        )
        traps = f"; {right:,} of {asked:,} traps were answered right." if asked else "; there were no traps."
        return [first + traps, *self._doubt(), self._agreement()]

    def _doubt(self) -> list[str]:
        doubtful = self.doubtful
        if not doubtful:
            return []
        named = listed([f"{row.participant} ({row.verdict})" for row in doubtful], most=5)
        return [f"By these rules the answers of {named} would be set aside; they count."]

    def _agreement(self) -> str:
        if self.n_shared == 0:
            return (
                "No two people answered the same question, so agreement with others is how far answers follow "
                "the curve of the others."
                if self.measure
                else "No two people answered the same question, so that nothing is known of their agreement."
            )
        known = f"Krippendorff's alpha is {self.alpha}" if math.isfinite(self.alpha.value) else f"{self.alpha.reason}"
        were = "was" if self.n_shared == 1 else "were"
        return f"{counted(self.n_shared, 'question')} {were} answered by several people: {known}."

    row_type = ParticipantQuality
    rows_name = "participants"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Quality of the answers of {counted(len(self.rows), 'participant')}"

    def _facts(self) -> dict[str, Any]:
        shared = {"alpha": asdict(self.alpha), "n_shared": self.n_shared}
        return {**shared, "measure": self.measure, "scale": self.scale, "rules": asdict(self.rules)}

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
    """Everything known of each participant; a study that does not know who answered what is refused.

    ``rules`` and ``least_seconds`` are those of :func:`~adjudge.preferences.trust.assess_all`. The curve of the others
    that ``follows`` holds answers against is fitted to ``measure`` on ``scale``, by default CG on the finest grades;
    answers that are set aside are held against the curve of those that count. ``resamples`` make the interval of
    alpha, none where 0.
    """
    seed = as_seed(seed)
    rules = rules or study.rules or TrustRules()
    trusts = assess_all(study, rules, least_seconds=least_seconds)
    plain = study.select(~study.trap)
    combination = default_combination(study, measure, scale) if study.questions.grades else ("", "")
    others = _Others(*_with_others(plain), _follows(plain, combination, form))
    alpha, n_shared = _alpha(plain.select(~plain.set_aside), resamples, seed)
    rows = tuple(_row(plain, i, at, trusts[i], others) for i, at in enumerate(_places(plain)))
    return Quality(rows, trusts, rules, alpha, n_shared, *combination)


class _Others(NamedTuple):
    """What each participant has to do with the others; one number a participant."""

    agrees: Floats
    shared: Ints
    follows: Floats


def _places(study: Study) -> list[Ints]:
    """Where the answers of each participant are."""
    order = np.argsort(study.participant, kind="stable")
    ends = np.searchsorted(study.participant[order], np.arange(len(study.participants) + 1))
    return [order[start:end] for start, end in pairwise(ends.tolist())]


def _row(study: Study, who: int, at: Ints, trust: Trust, others: _Others) -> ParticipantQuality:
    seconds, sided = study.seconds[at], at[(study.choice[at] <= B) & (study.swapped[at] >= 0)]
    timed = seconds[np.isfinite(seconds)]
    shares = np.bincount(study.choice[at], minlength=len(CHOICES)) / len(at) if len(at) else np.full(4, np.nan)
    a, b, good, bad = (float(share) for share in shares)
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
        a=a,
        b=b,
        good=good,
        bad=bad,
        left=float((study.choice[sided] == study.swapped[sided]).mean()) if len(sided) else math.nan,
        agrees=float(others.agrees[who]),
        shared=int(others.shared[who]),
        follows=float(others.follows[who]),
    )


def _first_answers(study: Study) -> Study:
    """Each participant's first answer to each question."""
    key = study.question * max(len(study.participants), 1) + study.participant
    firsts = np.unique(key, return_index=True)[1]
    return study.select(np.sort(firsts))


def _with_others(study: Study) -> tuple[Floats, Ints]:
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

    It does not matter whose they are, only which are of one question. So answers are put into as many columns as the
    most that a question has, which keeps the table small.
    """
    from adjudge.stats.agreement import Ratings, agreement
    from adjudge.stats.coefficients import krippendorff_alpha

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
    n = len(study.participants)
    if not combination[0]:
        return np.full(n, np.nan)
    counted = study.counted()
    if np.count_nonzero(judged_by_all(counted, [combination])) < 2:  # too few for a curve
        return np.full(n, np.nan)
    seen = evidence(counted, *combination)
    curves = curves_without(seen.delta, seen.prefers, seen.participant, n, form=form)
    follows = curves.own - _mean_guess(seen.prefers, seen.participant, n)
    if bool(study.set_aside.any()):
        follows = np.where(np.isfinite(follows), follows, _against(study, combination, form, curves.parameters))
    return follows


def _mean_guess(answer: Ints, who: Ints, n: int) -> Floats:
    return _means(np.where(answer == 0, _GUESS_NEITHER, _GUESS_ONE), who, n)


def _means(values: Floats, who: Ints, n: int) -> Floats:
    """Mean of each participant's values, NaN without any."""
    given = np.bincount(who, minlength=n)
    total = np.bincount(who, weights=values, minlength=n)
    means: Floats = np.divide(total, given, out=np.full(n, np.nan), where=given > 0)
    return means


def _against(study: Study, combination: Pair, form: str, parameters: Floats) -> Floats:
    """The same for answers that are set aside, which no curve was fitted to."""
    from adjudge.users.curves import log_shares
    from adjudge.users.noticing import agreement_data, agreement_model

    seen = evidence(study.with_aside(), *combination)
    logs = log_shares(agreement_model(form), agreement_data(seen.delta, seen.prefers), parameters)
    n = len(study.participants)
    return _means(logs, seen.participant, n) - _mean_guess(seen.prefers, seen.participant, n)
