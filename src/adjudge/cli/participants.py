"""``adjudge participants``: the people of a preference study, whom to trust, and what hangs on whom."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adjudge.checks import ATTENTION, COUNT, COUNT_OR_NONE, OPTIONS, POSITIVE, SEED, SHARE
from adjudge.cli.command import command
from adjudge.cli.options import (
    add_columns,
    add_combinations,
    add_option,
    add_pages,
    combination_files,
    study_combinations,
)
from adjudge.cli.output import PAGE_FORMS, check_output, made_from, progress, say, show_report
from adjudge.errors import AdjudgeError
from adjudge.text import counted

if TYPE_CHECKING:
    from adjudge.preferences.study import Study

_EXAMPLES = """examples:
  adjudge participants answers.csv
  adjudge participants answers.csv --least-seconds 55 --apply -o participants.html
  adjudge participants answers.csv --write trusted.csv
  adjudge participants answers.csv --questions questions.csv -m CG@5 -m DCG@5 --on fine --json
"""


_RULES = {
    "quiz": (COUNT_OR_NONE, "traps of the quiz, the first ones"),
    "quiz_bar": (SHARE, "share of them to answer right"),
    "bar": (SHARE, "share of all traps to answer right"),
    "least": (COUNT, "traps before that counts"),
    "attention": (ATTENTION, "least P(attentive)"),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("answers", metavar="ANSWERS", help="file with answers")
    parser.add_argument("--questions", metavar="FILE", help="file with the questions, where answers do not have them")
    add_columns(parser)
    add_combinations(parser.add_argument_group("learning"), usual="CG and DCG at the length of the lists")
    _add_rules(parser)
    parser.add_argument("--seed", type=SEED, default=0, help="of everything random")


def _add_rules(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "trust", "Answers that a campaign exported are judged by its own rules, unless these options say otherwise."
    )
    for name, (constraint, about) in _RULES.items():
        option, usual = f"--{name.replace('_', '-')}", f"{{adjudge.preferences.trust:TrustRules.{name}}}"
        add_option(group, option, type=constraint, help=about, usual=usual)
    group.add_argument(
        "--options",
        type=OPTIONS,
        help="answers that a question offers, by which guessing gets a trap right (default: those that occur)",
    )
    group.add_argument(
        "--least-seconds",
        type=POSITIVE,
        metavar="S",
        help="of sound to hear for an answer (default: time says nothing)",
    )
    group.add_argument("--apply", action="store_true", help="exclude the answers of participants who do not pass")
    group.add_argument(
        "--write", metavar="FILE", help="the same, and write all answers so marked to a file (.csv) for adjudge fit"
    )


@command(_add_options, add_pages, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Describe who answered a preference study and how.

    Traps, attention, time, agreement with the others, what is set aside, and how the conclusions change without each
    participant.
    """
    from adjudge.preferences.files import write_answers
    from adjudge.preferences.participants import influence, quality
    from adjudge.preferences.report import participant_sections
    from adjudge.preferences.trust import TrustRules, assess_all, set_aside

    inputs = [arguments.answers, *filter(None, [arguments.questions]), *combination_files(arguments)]
    check_output(arguments, forms=PAGE_FORMS)
    _check_written(arguments, inputs)
    given = _given_rules(arguments)
    study = _read(arguments)
    rules = replace(study.rules or TrustRules(), **given)
    if study.rules is not None:
        say([f"{study.source}: judged by the rules of its campaign: {rules}"])
    if arguments.apply or arguments.write is not None:
        study = set_aside(study, assess_all(study, rules, least_seconds=arguments.least_seconds))
    if arguments.write is not None:
        write_answers(study, arguments.write)
        say([f"wrote {arguments.write}: {study.set_aside.sum():,} of {counted(len(study), 'answer')} set aside"])
    combinations = [(combination.measure, combination.scale) for combination in study_combinations(arguments, study)]
    first = combinations[0] if combinations else (None, None)
    with progress("leaving out each participant"):
        found = quality(
            study,
            rules=rules,
            least_seconds=arguments.least_seconds,
            measure=first[0],
            scale=first[1],
            seed=arguments.seed,
        )
        is_enough = bool(combinations) and len(study.counted()) > 1  # else people are all there is to say
        changes = influence(study, combinations=combinations) if is_enough else None
    provenance = made_from(inputs, seed=arguments.seed).to_dict()
    show_report(
        arguments,
        participant_sections(found, changes),
        title="Participants",
        subtitle=_subtitle(study),
        provenance=provenance,
        values={
            "participants": found.to_dicts(),
            "alpha": found.alpha.value,
            "influence": [] if changes is None else changes.to_dicts(),
            "summary": [*found.sentences(), *([] if changes is None else changes.sentences())],
            "provenance": provenance,
        },
        records=found.to_dicts(),
    )


def _check_written(arguments: argparse.Namespace, inputs: list[str]) -> None:
    """Refuse a file of answers that cannot be written, before any work is done."""
    from adjudge.preferences.files import check_name

    if arguments.write is None:
        return
    check_name(arguments.write)
    check_output(argparse.Namespace(output=arguments.write, runs=inputs))
    if arguments.output is not None and os.path.realpath(arguments.output) == os.path.realpath(arguments.write):
        raise AdjudgeError(f"{arguments.write}: expected another file for answers than for the table (-o)")


def _subtitle(study: Study) -> str:
    people, traps = counted(len(study.participants), "participant"), int(study.trap.sum())
    return f"{people}, {counted(len(study) - traps, 'answer')}" + (f" and {traps:,} to traps" if traps else "")


def _given_rules(arguments: argparse.Namespace) -> dict[str, Any]:
    """The rules that were given as options."""
    return {name: value for name in (*_RULES, "options") if (value := getattr(arguments, name)) is not None}


def _read(arguments: argparse.Namespace) -> Study:
    from adjudge.formats.columns import check_columns
    from adjudge.preferences.files import read_answers, read_questions

    questions = None if arguments.questions is None else read_questions(arguments.questions)
    study = read_answers(arguments.answers, questions)
    check_columns()
    if len(study) == 0:
        raise AdjudgeError(f"{arguments.answers}: expected answers, got none")
    if not study.knows_participants:
        raise AdjudgeError(
            f"{arguments.answers}: does not say who gave which answer, so nothing can be said of participants"
        )
    return study
