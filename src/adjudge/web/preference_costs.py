"""What a preference campaign costs: so far, for an answer that counts, and to the goal.

Everybody earns for what they were asked, whether it counts or not, because nobody can tell a trap from a question:

============== =================================================================================================
done           each answer (questions, traps and repeats alike), and the amount for finishing
still working  each answer so far
failed         each answer, without the amount for finishing: the work was taken, even if it is set aside
screened out   the amount for that, instead of pay for the answers of the quiz
============== =================================================================================================

Being set aside by an organiser changes nothing about pay. The recruiter's fee comes on top of all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adjudge.web.preference_settings import Pay, PreferenceSettings

ENDED = 5
"""So many people must have ended their part before their cost says more than the settings do."""
_LOST = 5  # before, one in so many is taken to be screened out
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
    """Somebody who finishes, as the settings have it: all their questions, the quiz, traps and repeats among them.

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
    came = [one for one in people if one.answers]
    expected = sum(one.outcome is not None for one in came) < ENDED or not any(one.counted for one in came)
    reckoned = _expected_people(settings, typical) if expected else came
    ratio, low, high = _ratio([(_accrued(pay, one, typical.counted), one.counted) for one in reckoned])
    fee = 1 + pay.fee_share
    return Cost(
        currency=pay.currency,
        so_far=fee * sum(earned(pay, one) for one in came),
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
        "All answers are paid, also traps and those set aside; who is screened out gets that amount instead, who is "
        f"stopped later gets their answers but nothing for finishing. {basis}{on_top}"
    )


def people_needed(
    settings: PreferenceSettings, people: Sequence[Work], *, remaining: int, n_questions: int, n_traps: int
) -> int | None:
    """About how many more people it takes, with those among them who will not count.

    >>> people_needed(PreferenceSettings(title="Demo"), [], remaining=100, n_questions=100, n_traps=30)
    7
    """
    came = [one for one in people if one.answers and one.outcome is not None]
    if len(came) < ENDED or not any(one.counted for one in came):
        came = _expected_people(settings, typical_person(settings, n_questions=n_questions, n_traps=n_traps))
    return math.ceil(remaining * len(came) / sum(one.counted for one in came))
