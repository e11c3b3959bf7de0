"""How often 95 % intervals of preference curves hold the truth: ``python -m benchmarks.preference_curves``.

Studies are simulated with the curves of CG@5 on Fine, people and queries that differ, and fitted as ``adjudge fit``
does. P(Sat) is compared with the curve that ever more answers would come to (see
:func:`~adjudge.preferences.simulated.satisfaction_asked`), agreement and the noticeable difference with the curve that
made the answers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.errors import AdjudgeError
from adjudge.preferences.curves import agreement_curve, satisfaction_curve
from adjudge.preferences.evidence import evidence
from adjudge.preferences.questions import Questions
from adjudge.preferences.simulated import example_study, satisfaction_asked, simulate_study
from adjudge.preferences.study import Study
from adjudge.users import (
    AgreementMapping,
    SatisfactionMapping,
    agreement_interval,
    find_agreement,
    find_satisfaction,
    fit_satisfaction,
    noticeable_difference,
    noticeable_interval,
    satisfaction_interval,
)
from benchmarks.report import Table, machine

MEASURE, SCALE = "CG@2", "fine"
AT, SIZES = np.array([0.2, 0.5, 0.8]), np.array([0.1, 0.4, 0.7])
SPREAD = 0.1  # of what makes answers differ lies between people, and as much between queries


def main(argv: Sequence[str]) -> int:
    """Simulate, fit, count."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.preference_curves", description=__doc__)
    parser.add_argument("--studies", type=int, default=1000, help="for each number of people (default: 1,000)")
    parser.add_argument("--people", type=int, nargs="+", default=[40, 10], help="in a study (default: 40 and 10)")
    parser.add_argument("--answers", type=int, default=20, help="of each (default: 20)")
    arguments = parser.parse_args(argv)
    rows = []
    for people in arguments.people:
        held = [covered(people, arguments.answers, seed) for seed in range(arguments.studies)]
        rows.append([str(people), str(people * arguments.answers), *(f"{100 * m:.1f}" for m in np.mean(held, axis=0))])
        print(f"{people} people: {rows[-1][2:]}", file=sys.stderr, flush=True)
    head = ["people", "answers", *(f"P(Sat | {at:g})" for at in AT), *(f"P(Agr = 1 | {size:g})" for size in SIZES)]
    notes = (
        f"{arguments.studies:,} studies each, 95 % intervals: how many of 100 hold the truth. {SPREAD:.0%} of what "
        "makes answers differ lies between people, as much between queries."
    )
    table = Table("Coverage of the curves of a preference study", notes, [*head, "noticeable difference"], rows)
    print("\n".join([*machine(), "", table.text()]))
    return 0


def curves() -> tuple[SatisfactionMapping, AgreementMapping]:
    """What the simulated people answer by."""
    satisfaction, agreement = find_satisfaction("CG@5", SCALE).mapping, find_agreement("CG@5", SCALE).mapping
    if satisfaction is None or agreement is None:
        raise AdjudgeError(f"expected published curves of CG@5 on {SCALE}, got none")
    return satisfaction, agreement


def asked() -> Questions:
    """The questions: 400 about 40 queries, two documents a list."""
    return example_study(participants=1, per_participant=1).questions


def simulated(people: int, answers: int, seed: int) -> Study:
    """Answers of honest people whose curves are known."""
    satisfaction, agreement = curves()
    return simulate_study(
        asked(),
        satisfaction=satisfaction,
        agreement=agreement,
        measure=MEASURE,
        scale=SCALE,
        participants=people,
        per_participant=answers,
        spread=SPREAD,
        query_spread=SPREAD,
        seed=seed,
    ).study


def target() -> Floats:
    """P(Sat) at the places looked at, as ever more answers would have it."""
    satisfaction, agreement = curves()
    shown = satisfaction_asked(asked(), satisfaction=satisfaction, agreement=agreement, measure=MEASURE, scale=SCALE)
    fit = fit_satisfaction(shown.effectiveness, shown.satisfied, weights=50 * shown.weight)
    return fit.mapping(MEASURE, SCALE)(AT)


def covered(people: int, answers: int, seed: int) -> Mask:
    """Which of the seven intervals of one study hold the truth."""
    seen = evidence(simulated(people, answers, seed), MEASURE, SCALE)
    fitted = agreement_curve(seen)
    low, high = satisfaction_interval(satisfaction_curve(seen), AT)
    least, most = (ends.agree for ends in agreement_interval(fitted, SIZES))
    true_sat, (_, agreement) = target(), curves()
    true_agree, true_size = agreement(SIZES).agree, noticeable_difference(agreement) or 1.0
    first, last = noticeable_interval(fitted)
    noticed = (first or 0.0) <= true_size <= (1.0 if last is None else last)
    sat, agree = (low <= true_sat) & (true_sat <= high), (least <= true_agree) & (true_agree <= most)
    return np.array([*sat, *agree, noticed], dtype=np.bool_)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
