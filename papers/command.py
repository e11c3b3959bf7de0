"""What ``adjudge reproduce`` runs: the papers' tables and figures, reproduced and shown in every form."""

from __future__ import annotations

import argparse

from adjudge.cli.output import check_output, command_line, progress, show, show_report, style_of
from adjudge.errors import AdjudgeError
from adjudge.tables import as_csv, as_json, as_markdown, as_rich
from papers.report import report_of, together, values_of
from papers.run import Reproduction, reproduce
from papers.studies import STUDIES

_FORMS = ("text", "json", "csv", "markdown", "latex", "html")
_LIST_FORMS = ("text", "json", "csv", "markdown")


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
    with progress("reproduced") as advance:
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
    rows = [
        {"study": one.name, "about": one.title, "covers": together(one.covers), "needs": ", ".join(one.needs)}
        for one in STUDIES.values()
    ]
    forms = {"json": lambda: as_json(rows), "csv": lambda: as_csv(rows), "markdown": lambda: as_markdown(rows)}
    style = style_of(arguments)
    brief = [{name: row[name] for name in ("study", "about", "needs")} for row in rows]  # what a terminal has room for
    show(arguments, forms[style]() if style in forms else as_rich(brief, bold="study"))


def _show(made: Reproduction, arguments: argparse.Namespace) -> None:
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
