"""``adjudge reproduce``: the papers' tables and figures, made anew from public data."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.cli.options import Subparsers, add_output
from adjudge.cli.output import check_output, command_line, progress, show_report
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from papers import Reproduction

_FORMS = ("text", "json", "csv", "markdown", "latex", "html")
_LIST_FORMS = ("text", "json", "csv", "markdown")
_EXAMPLES = """examples:
  adjudge reproduce data -o reproduction.html
  adjudge reproduce data --only reliability --only listeners
  adjudge reproduce --list

DATA holds the public data, as files below it:
  mirex2011/runs.tsv, judgments.tsv, metadata.tsv     MIREX 2011 (system, query, document; query, document, grade;
                                                      document, artist, genre)
  user-study-2012/answers.csv, workers.csv            answers of listeners
  preferences-2010/judgments.csv                      preferences between melodies
  trec/adhoc8_ap.csv                                  effectiveness of TREC runs
What is not there is left out, and said so; other data are refused. A terminal gets only numbers that are not exact;
files (-o) and --csv have all. What is not exact has a cause: data (those of the paper are not public), model (its
parameters are not printed), reading (the paper read it off a plot), slip (of the paper), rounding, draws or ties (both
chance), or unknown. Every number has a bound, also where the published number cannot come out: another computation
from the same data, rounding, Monte-Carlo error or a range. The exit code is 1 where a number is outside its bound.
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "reproduce",
        help="the papers' tables and figures, from public data",
        description="Published number, our number, verdict (exact, within tolerance, differs and why, or fails), for "
        "every table and figure of the five papers that public data allow; and what they do not allow.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", nargs="?", help="folder with the public data")
    parser.add_argument("--only", action="append", metavar="STUDY", help="only this study; repeatable (see --list)")
    parser.add_argument("--list", action="store_true", help="list the studies and what they need, and stop")
    parser.add_argument("--quick", action="store_true", help="fewer trials where trials are drawn, for a first look")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of everything that is drawn (default: 0)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a core)")
    add_output(parser, page="markdown")
    parser.add_argument("--figures", metavar="DIR", help="write every figure as SVG and PDF, too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Compute everything again, show it, and say by the exit code whether a number is outside its bound."""
    if arguments.list:
        check_output(arguments, forms=_LIST_FORMS)
        _list(arguments)
        return
    check_output(arguments, forms=_FORMS)
    if arguments.data is None:
        raise AdjudgeError(
            "Expected the folder with the public data, got none (adjudge reproduce --help says what is in it)."
        )
    from papers import reproduce

    with progress("made anew") as advance:
        made = reproduce(
            arguments.data,
            only=arguments.only,
            quick=arguments.quick,
            seed=arguments.seed,
            workers=arguments.workers,
            progress=advance,
        )
    _show(made, arguments)
    if made.failed:
        raise SystemExit(1)


def _list(arguments: argparse.Namespace) -> None:
    from papers import STUDIES
    from papers.report import together

    from adjudge.cli.output import show, style_of
    from adjudge.reporting.tables import as_csv, as_json, as_markdown, drawn

    rows = [
        {"study": one.name, "about": one.title, "covers": together(one.covers), "needs": ", ".join(one.needs)}
        for one in STUDIES.values()
    ]
    forms = {"json": lambda: as_json(rows), "csv": lambda: as_csv(rows), "markdown": lambda: as_markdown(rows)}
    style = style_of(arguments)
    brief = [{name: row[name] for name in ("study", "about", "needs")} for row in rows]  # what a terminal has room for
    show(arguments, forms[style]() if style in forms else drawn(brief, bold="study"))


def _show(made: Reproduction, arguments: argparse.Namespace) -> None:
    from papers.report import report_of, values_of

    from adjudge.cli.output import style_of

    brief = style_of(arguments) == "text" and arguments.output is None
    report = report_of(made, command=command_line(), brief=brief)
    values = values_of(made)
    show_report(
        arguments,
        report.sections,
        title=report.title,
        subtitle=report.subtitle,
        provenance=report.provenance,
        values=values | report.provenance,
        records=values["numbers"],
    )
