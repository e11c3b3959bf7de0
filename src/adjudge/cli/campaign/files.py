"""``adjudge campaign export`` and ``import``: judgments, answers or rankings, log and report out; judgments in."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from adjudge.cli.campaign.store import WHO, add_store, opened
from adjudge.cli.options import Subparsers, add_columns
from adjudge.cli.output import say
from adjudge.errors import AdjudgeError
from adjudge.text import counted

_WHATS = ("qrels", "session", "answers", "questions", "mapping", "rankings", "lists", "people", "log", "report")
_FORMS = {
    ".txt": "trec", ".qrels": "trec", ".trec": "trec", ".zip": "trec", ".csv": "csv", ".tsv": "tsv", ".json": "json",
    ".parquet": "parquet", ".pq": "parquet", ".html": "html", ".htm": "html", ".md": "markdown", ".tex": "latex",
    ".groups": "groups",
}  # fmt: skip
_SHOWN_PAIRS = 10


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the commands."""
    out = commands.add_parser(
        "export",
        help="judgments, answers or rankings, log or report as a file",
        description="At any moment. Of any campaign: every answer ever given (log), and the report. Of judged "
        "documents: judgments as they stand now (qrels), and the state that Session.load resumes (session). Of "
        "compared lists: the whole study in one table that 'adjudge fit' reads (answers), its questions alone "
        "(questions), what was learnt (mapping), and who took part, with what the recruiter told of them (people). Of "
        "documents put in order: every expert's ranking (rankings), the lists that 'adjudge groundtruth' makes of them "
        "(lists), and who took part (people).",
    )
    out.add_argument("name", metavar="NAME", help="name of the campaign")
    out.add_argument("what", choices=_WHATS, metavar="WHAT", help=f"{', '.join(_WHATS[:-1])} or {_WHATS[-1]}")
    out.add_argument("-o", "--output", metavar="FILE", help="file to write; its suffix says in which form")
    out.add_argument("--scale", help="scale of the judgments (default: the one that systems are ranked on)")
    out.add_argument(
        "--per-assessor", action="store_true", help="of judgments, every assessor's grades instead of their means"
    )
    out.add_argument("--construction", metavar="NAME", help="of lists, how they are made (default: Any-1)")
    out.add_argument(
        "--format", help="trec, csv, tsv, parquet, json, groups, html, markdown or latex (default: by the suffix)"
    )
    add_store(out)
    out.set_defaults(run=export)
    into = commands.add_parser(
        "import",
        help="judgments made elsewhere",
        description="Add the judgments of a file: all of them, or none. The same file again adds nothing.",
    )
    into.add_argument("name", metavar="NAME", help="name of the campaign")
    into.add_argument("file", metavar="FILE", help="judgments in any format, perhaps with a column assessor")
    into.add_argument("--scale", help="scale of the judgments (needed where the campaign has several)")
    into.add_argument("--format", help="format of the judgments (default: recognised)")
    add_columns(into)
    into.add_argument("--skip-unknown", action="store_true", help="leave out pairs that are no candidates")
    add_store(into)
    into.set_defaults(run=import_file)


def export(arguments: argparse.Namespace) -> None:
    """Write one file."""
    _check_target(arguments.output)
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.io import write_whole
        from adjudge.web.campaign_rows import find_campaign
        from adjudge.web.exporting import export as exported
        from adjudge.web.exporting import forms_of

        found = find_campaign(connection, arguments.name)
        forms = forms_of(found, arguments.what)
        file = exported(
            connection,
            found,
            arguments.what,
            scale=arguments.scale,
            per_assessor=arguments.per_assessor,
            construction=arguments.construction,
            form=arguments.format or _form_of(arguments, forms),
        )
    target = arguments.output or file.name
    write_whole(Path(target), file.data)
    print(f"Wrote {target}.")


def _form_of(arguments: argparse.Namespace, forms: Sequence[str]) -> str | None:
    """The form that the suffix of the output says; refused where what is asked for cannot be had in it."""
    suffix = os.path.splitext(arguments.output or "")[1].lower()
    packed = {".zip"} if arguments.per_assessor else {".txt", ".qrels", ".trec"}  # a file an assessor, or one file
    able = {known: form for known, form in _FORMS.items() if form in forms and (form != "trec" or known in packed)}
    if suffix and suffix not in able:
        what = f"{arguments.what} by assessor" if arguments.per_assessor else arguments.what
        raise AdjudgeError(f"{arguments.output}: expected a suffix among {', '.join(able)} for {what}, or --format")
    return able.get(suffix)


def _check_target(target: str | None) -> None:
    """Refuse an output that cannot be written before any work is done."""
    if target is not None and (os.path.isdir(target) or not os.path.isdir(os.path.dirname(target) or ".")):
        raise AdjudgeError(f"{target}: expected a file in an existing directory as output")


def import_file(arguments: argparse.Namespace) -> None:
    """Add judgments."""
    with opened(arguments) as store:
        from adjudge.formats import Source
        from adjudge.web.campaign_rows import find_campaign
        from adjudge.web.importing import import_judgments

        with store.database.write() as connection:
            found = find_campaign(connection, arguments.name)
            imported = import_judgments(
                connection,
                found,
                Source.open(Path(arguments.file)),
                scale=arguments.scale,
                format_name=arguments.format,
                columns=arguments.columns,
                skip_unknown=arguments.skip_unknown,
                who=WHO,
                now=store.now,
            )
    again = f"; {imported.again:,} were there already" if imported.again else ""
    print(f"Added {counted(imported.taken, 'judgment')} by {counted(len(imported.assessors), 'assessor')}{again}.")
    if imported.unknown:
        some = ", ".join(f"{one.document} of {one.query}" for one in imported.unknown[:_SHOWN_PAIRS])
        more = ", …" if len(imported.unknown) > _SHOWN_PAIRS else ""
        say([f"{len(imported.unknown):,} pairs are no candidates and were left out: {some}{more}"])
