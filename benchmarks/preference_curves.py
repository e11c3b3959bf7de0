"""How often 95 % intervals of preference curves hold the truth: ``python -m benchmarks.preference_curves``.

Studies are simulated with known curves, people and queries that differ, and fitted as ``adjudge fit`` does. The truth
is the curve that made the answers. The satisfaction curve of the simulated people is no member of the family that is
fitted (psychometric, .118, .583 and .892 at 0, 1/2 and 1), and people who tie two lists call both good by the mean
effectiveness of the pair, by the better list, by the worse one, or by either list at random (``each``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.preferences.curves import agreement_curve, satisfaction_curve
from adjudge.preferences.questions import Question, Questions
from adjudge.preferences.simulated import SATISFIED_BY, simulate_study
from adjudge.preferences.study import Study, evidence
from adjudge.text import percent
from adjudge.users import (
    AgreementMapping,
    SatisfactionMapping,
    agreement_interval,
    find_agreement,
    noticeable_difference,
    noticeable_interval,
    satisfaction_interval,
)
from benchmarks.report import Table, machine

MEASURE, SCALE = "CG@2", "fine"
AT, SIZES = np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.4, 0.7])
SPREAD = 0.1  # of what makes answers differ lies between people, and as much between queries
SATISFACTION = SatisfactionMapping(MEASURE, SCALE, "psychometric", (0.1, 0.8 / 0.9, 8.4, 0.45))


def main(argv: Sequence[str]) -> int:
    """Simulate, fit, count."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.preference_curves", description=__doc__)
    parser.add_argument("--studies", type=int, default=1000, help="for each kind and number of people (default: 1,000)")
    parser.add_argument("--people", type=int, nargs="+", default=[40, 10], help="in a study (default: 40 and 10)")
    parser.add_argument("--answers", type=int, default=20, help="of each (default: 20)")
    arguments = parser.parse_args(argv)
    satisfied, agreed = [], []
    for people in arguments.people:
        answers = str(people * arguments.answers)
        for rule in SATISFIED_BY:
            studies = [simulated(people, arguments.answers, seed, rule) for seed in range(arguments.studies)]
            for ties in ("pairs", "lists"):
                held, value = (
                    np.mean(found, axis=0) for found in zip(*(covers(one, ties) for one in studies), strict=True)
                )
                row = [str(people), answers, rule, ties, *map("{:.3f}".format, value), *map("{:.1f}".format, held)]
                satisfied.append(row)
                print(*row, file=sys.stderr, flush=True)
            if rule == "mean":  # what people notice has nothing to do with what satisfies them
                held = np.mean([agreement_covers(one) for one in studies], axis=0)
                agreed.append([str(people), answers, *map("{:.1f}".format, held)])
    notes = (
        f"{arguments.studies:,} studies each, 95 % intervals: how many of 100 hold the truth. {percent(SPREAD)} of "
        "what makes answers differ lies between people, as much between queries."
    )
    points = [f"P(Sat | {at:g})" for at in AT]
    truth = f"The truth is {', '.join(f'{value:.3f}' for value in SATISFACTION(AT))}. {notes}"
    head = ["people", "answers", "people go by", "ties", *(f"mean {point}" for point in points), *points]
    sizes = [f"P(Agr = 1 | {size:g})" for size in SIZES]
    tables = (
        Table("Coverage of the satisfaction curve of a preference study", truth, head, satisfied),
        Table("Coverage of the agreement curve", notes, ["people", "answers", *sizes, "noticeable difference"], agreed),
    )
    print("\n".join([*machine(), *(text for table in tables for text in ("", table.text()))]))
    return 0


@cache
def asked() -> Questions:
    """400 questions about 40 queries; the effectiveness of lists is spread evenly over [0, 1]."""
    grades = np.random.default_rng(1).integers(0, 101, (400, 2, 1)).astype(np.float64).repeat(2, axis=2)
    names = [[f"{i}-{place}" for place in "abcd"] for i in range(400)]
    made = tuple(Question(str(i), f"q{i % 40}", (a, b), (c, d)) for i, (a, b, c, d) in enumerate(names))
    return Questions(made, {SCALE: grades})


def agreement_of_people() -> AgreementMapping:
    """By which the simulated people prefer the better list."""
    found = find_agreement("CG@5", SCALE).mapping
    if found is None:
        raise AdjudgeError(f"expected a curve of CG@5 on {SCALE}, got none")
    return found


def simulated(people: int, answers: int, seed: int, satisfied_by: str) -> Study:
    """Answers of honest people whose curves are known."""
    return simulate_study(
        asked(),
        satisfaction=SATISFACTION,
        agreement=agreement_of_people(),
        measure=MEASURE,
        scale=SCALE,
        participants=people,
        per_participant=answers,
        spread=SPREAD,
        query_spread=SPREAD,
        satisfied_by=satisfied_by,
        seed=seed,
    ).study


def covers(study: Study, ties: str) -> tuple[Floats, Floats]:
    """100 where the interval of P(Sat) of one study holds the truth, 0 where not; and the estimates."""
    curve = satisfaction_curve(evidence(study, MEASURE, SCALE, ties=ties))  # type: ignore[arg-type]
    low, high = satisfaction_interval(curve, AT)
    truth = SATISFACTION(AT)
    return np.where((low <= truth) & (truth <= high), 100.0, 0.0), curve(AT)


def agreement_covers(study: Study) -> Floats:
    """The same of P(Agr = 1) and of the noticeable difference."""
    fitted, truth = agreement_curve(evidence(study, MEASURE, SCALE)), agreement_of_people()
    least, most = (ends.agree for ends in agreement_interval(fitted, SIZES))
    agree = truth(SIZES).agree
    first, last = noticeable_interval(fitted)
    noticed = (first or 0.0) <= (noticeable_difference(truth) or 1.0) <= (1.0 if last is None else last)
    return 100.0 * np.array([*((least <= agree) & (agree <= most)), noticed])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
