"""``adjudge campaign export`` and ``import``: judgments, answers or rankings, log and report out; judgments in."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from adjudge.cli.campaign.declared import known_exports
from adjudge.cli.campaign.store import add_store, opened
from adjudge.cli.command import command
from adjudge.cli.options import add_columns
from adjudge.cli.output import say
from adjudge.errors import AdjudgeError

_FORMS = {
    ".txt": "trec", ".qrels": "trec", ".trec": "trec", ".zip": "trec", ".csv": "csv", ".tsv": "tsv", ".json": "json",
    ".parquet": "parquet", ".pq": "parquet", ".html": "html", ".htm": "html", ".md": "markdown", ".tex": "latex",
    ".groups": "groups",
}  # fmt: skip


def _add_exporting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    *others, last = known_exports()
    parser.add_argument("what", metavar="WHAT", help=f"{', '.join(others)} or {last}")
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write; its suffix says in which form")
    parser.add_argument("--scale", help="scale of the judgments (default: the one that systems are ranked on)")
    parser.add_argument(
        "--per-assessor", action="store_true", help="of judgments, every assessor's grades instead of their means"
    )
    parser.add_argument("--construction", metavar="NAME", help="of lists, how they are made (default: Any-1)")
    parser.add_argument(
        "--format", help="trec, csv, tsv, parquet, json, groups, html, markdown or latex (default: by the suffix)"
    )


def _add_importing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    parser.add_argument("file", metavar="FILE", help="judgments in any format, perhaps with a column assessor")
    parser.add_argument("--scale", help="scale of the judgments (needed where the campaign has several)")
    parser.add_argument("--format", help="format of the judgments (default: recognised)")
    add_columns(parser)
    parser.add_argument("--skip-unknown", action="store_true", help="leave out pairs that are no candidates")


@command(_add_exporting, add_store)
def export(arguments: argparse.Namespace) -> None:
    """Write one file, at any moment.

    Of any campaign: every answer ever given (log), and the report. Of judged documents: judgments as they stand now
    (qrels), and the state that Session.load resumes (session). Of compared lists: the whole study in one table that
    'adjudge fit' reads (answers), its questions alone (questions), what was learnt (mapping), and who took part, with
    what the recruiter told of them (people). Of documents put in order: every expert's ranking (rankings), the lists
    that 'adjudge groundtruth' makes of them (lists), and who took part (people).
    """
    _check_target(arguments.output)
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.io import write_whole
        from adjudge.web.kinds.exports import export as exported
        from adjudge.web.kinds.exports import forms_of
        from adjudge.web.store.campaigns import find_campaign

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


@command(_add_importing, add_store)
def import_file(arguments: argparse.Namespace) -> None:
    """Add the judgments of a file: all of them, or none. The same file again adds nothing."""
    with opened(arguments) as store:
        from adjudge.formats import Source
        from adjudge.web.kinds.base import kind_of
        from adjudge.web.store.campaigns import find_campaign

        with store.database.write() as connection:
            found = find_campaign(connection, arguments.name)
            source = Source.open(Path(arguments.file))
            words, notes = kind_of(found).import_answers(connection, found, source, vars(arguments), now=store.now)
    print(f"Added {words}.")
    say(notes)
