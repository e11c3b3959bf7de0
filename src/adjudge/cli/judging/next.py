"""``adjudge next``: the documents whose judgment would tell most."""

from __future__ import annotations

import argparse

from adjudge.cli.judging.options import add_judging, add_runs, open_session
from adjudge.cli.options import Subparsers, add_output
from adjudge.cli.output import check_output, command_line, say, show, style_of
from adjudge.errors import AdjudgeError

_EXAMPLES = """examples:
  adjudge next runs/*.txt --scale fine -m CG@5 -n 20 --csv -o to-judge.csv
  adjudge next runs --judgments so-far.csv --scale fine -m CG@5 --metadata tracks.csv
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "next",
        help="the most telling documents to judge",
        description="What to judge next. Add the grades to the file of judgments and ask again.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_runs(parser)
    add_judging(parser)
    parser.add_argument("-n", type=int, default=10, metavar="N", help="how many documents (default: 10)")
    parser.add_argument("--always", action="store_true", help="name documents even when the goal is reached")
    add_output(parser, page="markdown")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, learn, choose, show."""
    from dataclasses import asdict

    from adjudge.tables import as_csv, as_json, as_markdown, as_rich

    check_output(arguments, forms=("text", "json", "csv", "markdown"))
    if arguments.n < 1:
        raise AdjudgeError(f"'n' must be at least 1, got {arguments.n}")
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
