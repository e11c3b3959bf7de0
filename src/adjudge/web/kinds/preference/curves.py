"""What a preference campaign has learned and what it costs.

The curves are satisfaction by effectiveness and agreement by difference. Shares of bins come with the intervals of
:mod:`adjudge.preferences.curves`; a curve is fitted once there are enough answers. Only answers that count are used.

The cost is that so far, per answer that counts, and to the goal. Everybody earns for what they were asked, whether it
counts or not, because nobody can tell an attention check from a question:

============== =================================================================================================
done           each answer (questions, attention checks and repeats alike), and the amount for finishing
still working  each answer so far
failed         each answer, without the amount for finishing: the work was taken, even if it is excluded
screened out   the amount for that, instead of pay for the answers of the quiz
============== =================================================================================================

Being excluded by an organiser changes nothing about pay. The recruiter's fee comes on top of all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.errors import AdjudgeError
from adjudge.web.kinds.preference.settings import Pay, PreferenceSettings

if TYPE_CHECKING:
    from adjudge.arrays import Floats
    from adjudge.preferences.curves import ShareBins
    from adjudge.preferences.questions import Questions
    from adjudge.preferences.study import Evidence, Study

MOST_CURVES = 4
"""Combinations whose curves are drawn."""
FEWEST_ANSWERS = 20
"""Answers, and answers that call both lists good or bad, from which a curve is fitted."""
_POINTS = 41


def curves_so_far(study: Study, combinations: Sequence[str]) -> list[dict[str, Any]]:
    """Bins and curves of the first combinations; CG of whole lists on each scale where none are named.

    What cannot be computed yet has its ``why``, in words.
    """
    return [_curves(study, name) for name in wanted_combinations(study.questions, combinations)[:MOST_CURVES]]


def wanted_combinations(questions: Questions, named: Sequence[str]) -> list[str]:
    """Those that are named; CG of whole lists on each scale that there are grades on where none are."""
    return list(named) or [f"CG@{questions.n_ranks} on {scale}" for scale in questions.grades]


def _curves(study: Study, name: str) -> dict[str, Any]:
    from adjudge.preferences.curves import agreement_bins, satisfaction_bins
    from adjudge.preferences.questions import Combination
    from adjudge.preferences.study import evidence

    wanted = Combination.parse(name)
    measure, scale = wanted.measure, wanted.scale
    nothing: dict[str, Any] = {"bins": [], "curve": [], "why": None}
    try:
        seen = evidence(study, measure, scale)
    except AdjudgeError as error:
        return {"measure": measure, "scale": scale, "why": str(error), "satisfaction": nothing, "agreement": nothing}
    satisfied = satisfaction_bins(seen).satisfied if len(seen.lists) else None
    return {
        "measure": measure,
        "scale": scale,
        "why": None,
        "answers": len(seen.delta),
        "unjudged": seen.unjudged,
        "satisfaction": {**_satisfaction(seen), "bins": _bins(satisfied), "ties": len(seen.lists)},
        "agreement": {**_agreement(seen), "bins": _bins(agreement_bins(seen).agree)},
    }


def _bins(shares: ShareBins | None) -> list[dict[str, Any]]:
    """Bins that have anything in them."""
    if shares is None:
        return []
    return [
        {
            "low": row["from"],
            "high": row["to"],
            "at": row["mean"],
            "n": row["count"],
            "share": row["share"],
            "lower": row["low"],
            "upper": row["high"],
        }
        for row in shares.to_dicts()
        if row["count"]
    ]


def _too_few(n: int, what: str) -> str | None:
    return None if n >= FEWEST_ANSWERS else f"{n} of at least {FEWEST_ANSWERS} {what} for a curve"


def _satisfaction(seen: Evidence) -> dict[str, Any]:
    from adjudge.preferences.curves import satisfaction_curve

    why = _too_few(len(seen.lists), "pairs called good or bad")
    if why is not None:
        return {"curve": [], "why": why}
    grid = np.linspace(0, 1, _POINTS)
    try:
        curve = satisfaction_curve(seen)(grid)
    except (AdjudgeError, np.linalg.LinAlgError) as error:
        return {"curve": [], "why": f"no curve can be fitted yet: {error}"}
    return {"curve": _points(grid, curve), "why": None}


def _agreement(seen: Evidence) -> dict[str, Any]:
    """The curve of those who prefer the better list, its band, and from which difference on more than half do."""
    from adjudge.preferences.curves import agreement_curve
    from adjudge.users.noticing import agreement_interval, noticeable_difference, noticeable_interval

    unknown = dict.fromkeys(("noticeable", "noticeable_low", "noticeable_high"))
    nothing: dict[str, Any] = {"curve": [], "band": [], **unknown}
    why = _too_few(len(seen.delta), "answers")
    if why is not None:
        return {**nothing, "why": why}
    grid = np.linspace(0, 1, _POINTS)
    try:
        mapping = agreement_curve(seen)
        low, high = agreement_interval(mapping, grid)
        ends = noticeable_interval(mapping)
    except (AdjudgeError, np.linalg.LinAlgError) as error:
        return {**nothing, "why": f"no curve can be fitted yet: {error}"}
    return {
        "curve": _points(grid, mapping(grid).agree),
        "band": _points(grid, low.agree, high.agree) if mapping.covariance else [],
        "noticeable": noticeable_difference(mapping),
        "noticeable_low": ends[0],
        "noticeable_high": ends[1],
        "why": None,
    }


def _points(*columns: Floats) -> list[list[float]]:
    """Columns as rows of rounded numbers, small enough to be sent often."""
    return [[round(float(value), 4) for value in row] for row in zip(*columns, strict=True)]


ENDED = 5
"""People who must have ended their part before their cost says more than the settings do."""
_LOST = 5  # before, one in this many is taken to be screened out
_NORMAL = 1.96


@dataclass(frozen=True)
class Work:
    """What one person did: answers of any kind, those that count, and how their part ended, if it did."""

    answers: int
    counted: int
    outcome: str | None = None


@dataclass(frozen=True)
class Cost:
    """What a campaign costs in its currency, with fees; ``to_goal`` is what is still to come, ``low`` to ``high``.

    ``expected`` says that the cost of a counted answer follows from the settings, for want of people.
    """

    currency: str
    so_far: float
    per_counted_answer: float
    to_goal: float
    low: float
    high: float
    expected: bool
    note: str


def earned(pay: Pay, work: Work) -> float:
    """What one person earned, without fees.

    >>> pay = Pay(per_answer=0.1, per_participant=1, per_screened_out=0.5)
    >>> [round(earned(pay, Work(20, 15, outcome)), 2) for outcome in ("done", None, "failed", "screened_out")]
    [3.0, 2.0, 2.0, 0.5]
    """
    if work.outcome == "screened_out":
        return pay.per_screened_out if work.answers else 0.0
    return pay.per_answer * work.answers + (pay.per_participant if work.outcome == "done" else 0.0)


def typical_person(settings: PreferenceSettings, *, n_questions: int, n_traps: int) -> Work:
    """Somebody who finishes, as the settings have it: questions, quiz, attention checks and repeats.

    >>> typical_person(PreferenceSettings(title="Demo"), n_questions=100, n_traps=30)
    Work(answers=30, counted=20, outcome='done')
    """
    questions = min(settings.per_participant, max(1, n_questions))
    share = min(0.9, settings.trap_share + settings.repeat_share)
    others = questions / (1 - share) - questions
    repeats = others * settings.repeat_share / share if share else 0.0
    traps = min(float(n_traps), settings.quiz + others - repeats)
    return Work(questions + round(traps + repeats), questions, "done")


def cost_of(
    settings: PreferenceSettings, people: Sequence[Work], *, remaining: int, n_questions: int, n_traps: int
) -> Cost | None:
    """Cost so far and to come; None where nothing is paid.

    What is to come is the answers that remain times the cost of one that counts, which is the ratio R of what people
    cost to their answers that count; its interval is that of a ratio of means, R ± 1.96 s / (m √n) with s² the
    variance of cost - R counted over the n people and m the mean of what counts of theirs. Who is still working costs
    a share of the amount for finishing. Before five people have ended their part, the ratio is that of five people as
    the settings have them, one of them screened out.

    Cochran, W. G., Sampling Techniques, 3rd ed., Wiley, 1977, section 2.11.
    """
    pay = settings.pay
    if not pay.is_paid:
        return None
    typical = typical_person(settings, n_questions=n_questions, n_traps=n_traps)
    came = [person for person in people if person.answers]
    expected = sum(work.outcome is not None for work in came) < ENDED or not any(work.counted for work in came)
    reckoned = _expected_people(settings, typical) if expected else came
    ratio, low, high = _ratio([(_accrued(pay, work, typical.counted), work.counted) for work in reckoned])
    fee = 1 + pay.fee_share
    return Cost(
        currency=pay.currency,
        so_far=fee * sum(earned(pay, work) for work in came),
        per_counted_answer=fee * ratio,
        to_goal=fee * remaining * ratio,
        low=fee * remaining * low,
        high=fee * remaining * high,
        expected=expected,
        note=_note(expected=expected, fee=pay.fee_share),
    )


def _expected_people(settings: PreferenceSettings, typical: Work) -> list[Work]:
    lost = Work(max(1, settings.quiz), 0, "screened_out")
    return [typical] * (_LOST - 1) + [lost]


def _accrued(pay: Pay, work: Work, questions: int) -> float:
    """What somebody earned, with a share of the amount for finishing while they are on their way there."""
    amount = earned(pay, work)
    if work.outcome is None:
        amount += pay.per_participant * min(1.0, work.counted / questions)
    return amount


def _ratio(pairs: Sequence[tuple[float, int]]) -> tuple[float, float, float]:
    """Cost of a counted answer, and the ends of its interval."""
    n, counted = len(pairs), sum(count for _, count in pairs)
    ratio = sum(cost for cost, _ in pairs) / counted
    spread = sum((cost - ratio * count) ** 2 for cost, count in pairs) / max(1, n - 1)
    reach = _NORMAL * math.sqrt(n * spread) / counted
    return ratio, max(0.0, ratio - reach), ratio + reach


def _note(*, expected: bool, fee: float) -> str:
    basis = (
        "The cost of an answer follows from the settings, with one person in five screened out, until five people have "
        "ended their part."
        if expected
        else "What is to come is reckoned from what people cost so far, those who did not count included."
    )
    on_top = f" The fee of {fee * 100:g} % is included." if fee else ""
    return (
        "All answers are paid, also those to attention checks and those excluded; who is screened out gets that amount "
        f"instead, who is stopped later gets their answers but nothing for finishing. {basis}{on_top}"
    )


def people_needed(
    settings: PreferenceSettings, people: Sequence[Work], *, remaining: int, n_questions: int, n_traps: int
) -> int | None:
    """About how many more people it takes, with those among them who will not count.

    >>> people_needed(PreferenceSettings(title="Demo"), [], remaining=100, n_questions=100, n_traps=30)
    7
    """
    came = [person for person in people if person.answers and person.outcome is not None]
    if len(came) < ENDED or not any(work.counted for work in came):
        came = _expected_people(settings, typical_person(settings, n_questions=n_questions, n_traps=n_traps))
    return math.ceil(remaining * len(came) / sum(work.counted for work in came))
