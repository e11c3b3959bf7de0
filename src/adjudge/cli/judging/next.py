"""``adjudge next``: the documents whose judgment would tell most."""

from __future__ import annotations

import argparse

from adjudge.checks import COUNT
from adjudge.cli.command import command
from adjudge.cli.judging.options import add_judging, add_runs, open_session
from adjudge.cli.options import add_listing
from adjudge.cli.output import check_output, command_line, say, show, style_of

_EXAMPLES = """examples:
  adjudge next runs/*.txt --scale fine -m CG@5 -n 20 --csv -o to-judge.csv
  adjudge next runs --judgments so-far.csv --scale fine -m CG@5 --metadata tracks.csv
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", type=COUNT, default=10, help="how many documents")
    parser.add_argument("--always", action="store_true", help="name documents even when the goal is reached")


@command(add_runs, add_judging, _add_options, add_listing, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """What to judge next. Add the grades to the file of judgments and ask again."""
    from dataclasses import asdict

    from adjudge.tables import as_csv, as_json, as_markdown, as_rich

    check_output(arguments, forms=("text", "json", "csv", "markdown"))
    judging, collection = open_session(arguments)
    status = judging.status()
    pairs = [] if status.done and not arguments.always else judging.next(arguments.n)
    left = status.n_candidates - status.n_judged
    more = "; --always goes on" if status.done and left and not arguments.always else ""
    stands = f"{status.n_judged:,} of {status.n_candidates:,} candidates judged; {status.reason}{more}"
    say([*judging.candidates.notes, stands])
    rows = [{"query": query, "document": document, "grade": ""} for query, document in pairs]
    style = style_of(arguments)
    if style == "json":
        plain = [{"query": query, "document": document} for query, document in pairs]
        provenance = collection.provenance.with_settings(command=command_line(), seed=arguments.seed).to_dict()
        found = {"next": plain, "status": asdict(status), "notes": judging.candidates.notes, "provenance": provenance}
        show(arguments, as_json(found))
    elif not rows:
        show(arguments, "query,document,grade\n" if style == "csv" else "")
    else:
        named = [{name: row[name] for name in ("query", "document")} for row in rows]
        forms = {"csv": lambda: as_csv(rows), "markdown": lambda: as_markdown(named)}
        show(arguments, forms[style]() if style in forms else as_rich(named))
