"""``adjudge gate``: stop a pipeline where the new version of a system is worse."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, get_args

from adjudge.checks import NOT_NEGATIVE, POWER, RESAMPLES
from adjudge.cli.command import command
from adjudge.cli.options import add_option, add_reading
from adjudge.cli.output import command_line, say, say_written
from adjudge.cli.score import add_evaluation, check_evaluation, read_and_evaluated, select_measures
from adjudge.errors import AdjudgeError, shown
from adjudge.text import counted, listed

if TYPE_CHECKING:
    from adjudge.model.effectiveness import Effectiveness

_EXAMPLES = """exit codes:
  0 passed, 1 failed, 2 the input cannot be used

examples:
  adjudge gate main.run branch.run --judgments qrels.txt -m nDCG@10 --margin 0.01
  adjudge gate main.run branch.run --judgments qrels.txt -m 'nDCG@10 AP' --margin 0.02 --require no-worse
  adjudge gate main.csv branch.csv -m nDCG@10 --junit gate.xml --markdown - >> "$GITHUB_STEP_SUMMARY"
"""


def _add_systems(parser: argparse.ArgumentParser) -> None:
    about = "with --judgments; without, a table of its effectiveness per query"
    parser.add_argument("base", metavar="BASE", help=f"run of the system in use, {about}")
    parser.add_argument(
        "new", metavar="NEW", help="the same of the new system; a table that lacks queries of BASE needs --missing drop"
    )
    parser.add_argument("--judgments", metavar="FILE", help="file with judgments (qrels), or ir_datasets:ID")
    before = len(parser._actions)
    add_reading(parser)
    add_evaluation(parser)
    parser.set_defaults(for_judgments={action.dest: action.default for action in parser._actions[before:]})


def _add_gate(parser: argparse.ArgumentParser) -> None:
    from adjudge.users.gate import GATE_CONFIDENCE, Require

    group = parser.add_argument_group("deciding")
    group.add_argument("--margin", type=NOT_NEGATIVE, default=0.0, help="largest loss in the mean that does not matter")
    group.add_argument(
        "--require",
        choices=get_args(Require),
        default="not-shown-worse",
        help="fail where NEW is shown to be worse by more than the margin, or wherever it is not shown to be no worse",
    )
    group.add_argument("--confidence", type=GATE_CONFIDENCE, default=0.95)
    group.add_argument("--test", default="t", help="t, wilcoxon, sign, bootstrap or permutation; one-sided")
    add_option(
        group,
        "--correction",
        help="of several measures: none, bonferroni, holm or bh",
        usual="holm, or none with --require no-worse, where every measure must pass",
    )
    group.add_argument("--power", type=POWER, default=0.8, help="probability with which queries needed decide")
    add_option(
        group,
        "--resamples",
        type=RESAMPLES,
        help="of Monte-Carlo tests",
        usual="{adjudge.users.gate:gate.resamples}",
    )


def _add_forms(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--junit", metavar="FILE", help="write JUnit XML, too: a test case per measure")
    forms = group.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print JSON, with provenance, instead of lines")
    forms.add_argument("--markdown", metavar="FILE", help="write a Markdown table, too; - prints it instead of lines")


@command(_add_systems, _add_gate, _add_forms, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Fail where the new version of a system is worse, or is not shown to be no worse; and say how sure that is."""
    from dataclasses import replace

    from adjudge.users.gate import gate

    optional = {"resamples": arguments.resamples} if arguments.resamples is not None else {}
    same = ("margin", "require", "confidence", "test", "correction", "power", "seed")
    eff = _read(arguments)
    settings = {name: getattr(arguments, name) for name in same}
    found = gate(eff, base=arguments.base, new=arguments.new, **settings, **optional)
    found = replace(found, provenance=found.provenance.with_settings(command=command_line()))
    for target, form in ((arguments.junit, found.to_junit), (arguments.markdown, found.to_markdown)):
        if target not in (None, "-"):
            _write(target, form())
    if arguments.json:
        sys.stdout.write(found.to_json())
    elif arguments.markdown == "-":
        sys.stdout.write(found.to_markdown())
    else:
        print("\n".join(found.lines()))
        say(found.notes)
    if not found.passed:
        raise SystemExit(1)


def _write(target: str, text: str) -> None:
    from pathlib import Path

    from adjudge.io import write_whole

    write_whole(Path(target), text.encode())
    say_written(target)


def _read(arguments: argparse.Namespace) -> Effectiveness:
    """Effectiveness of the two systems, named after their files: evaluated, or read from tables."""
    if arguments.base == arguments.new:
        raise AdjudgeError(f"{arguments.base}: expected two systems to compare, got the same file twice")
    is_judged = arguments.judgments is not None
    check_evaluation(arguments, is_judged=is_judged, also=("missing",))
    if not is_judged:
        return _read_tables(arguments)
    arguments.runs = {name: name for name in (arguments.base, arguments.new)}
    return read_and_evaluated(arguments)[0]


def _read_tables(arguments: argparse.Namespace) -> Effectiveness:
    """The two tables side by side, under the measures that are asked for, or that both have.

    Queries that the new system lacks are refused unless they are to be dropped: those that it crashes on must not pass.
    """
    from adjudge.measures.evaluation import read_system_effectiveness
    from adjudge.model.effectiveness import beside

    files = (arguments.base, arguments.new)
    read = (read_system_effectiveness(file, columns=arguments.columns) for file in files)
    base, new = (select_measures(eff, arguments.measures) for eff in read)
    eff, answered = beside([base, new], names=files), set(new.queries)
    lacking = [shown(query) for query in base.queries if query not in answered]
    if lacking and arguments.missing != "drop":
        came = f"{len(lacking):,} of {counted(base.n_queries, 'query')} missing: {listed(lacking, most=3)}"
        raise AdjudgeError(
            f"{files[1]}: expected all queries of {files[0]}, got {came}; --missing drop leaves them out"
        )
    return eff
