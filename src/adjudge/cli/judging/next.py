"""``adjudge next``: the documents whose judgment would tell most."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.checks import COUNT
from adjudge.cli.command import command
from adjudge.cli.judging.options import add_judging, add_runs, open_session
from adjudge.cli.options import add_listing
from adjudge.cli.output import check_output, command_line, say, show, style_of

if TYPE_CHECKING:
    from adjudge.relevance.session import Session

_EXAMPLES = """examples:
  adjudge next runs/*.txt --scale fine -m CG@5 -n 20 --csv -o to-judge.csv
  adjudge next runs --judgments so-far.csv --scale fine -m CG@5 --metadata tracks.csv
  adjudge next runs --judgments so-far.csv --scale fine -m CG@5 --audit 0.1
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", type=COUNT, default=10, help="how many documents")
    parser.add_argument("--always", action="store_true", help="name documents even when the goal is reached")


@command(add_runs, add_judging, _add_options, add_listing, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """What to judge next. Add the grades to the file of judgments and ask again.

    With --per-pair, judged documents are among them where another assessor's opinion tells more. Where assessors have
    names there is a column for who judges.
    """
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
    by_whom = {"assessor": ""} if arguments.per_pair > 1 or judging.candidates.answers is not None else {}
    rows = [{"query": query, "document": document, "grade": "", **by_whom} for query, document in pairs]
    judged_by = [_judged_by(judging, pair) for pair in pairs]
    style = style_of(arguments)
    if style == "json":
        plain = [
            {"query": query, "document": document, **({"judged_by": names} if arguments.per_pair > 1 else {})}
            for (query, document), names in zip(pairs, judged_by, strict=True)
        ]
        provenance = collection.provenance.with_settings(command=command_line(), seed=arguments.seed).to_dict()
        found = {"next": plain, "status": asdict(status), "notes": judging.candidates.notes, "provenance": provenance}
        show(arguments, as_json(found))
    elif not rows:
        show(arguments, f"{','.join(['query', 'document', 'grade', *by_whom])}\n" if style == "csv" else "")
    else:
        named = [
            {
                "query": row["query"],
                "document": row["document"],
                **({"judged by": ", ".join(names)} if arguments.per_pair > 1 else {}),
            }
            for row, names in zip(rows, judged_by, strict=True)
        ]
        forms = {"csv": lambda: as_csv(rows), "markdown": lambda: as_markdown(named)}
        show(arguments, forms[style]() if style in forms else as_rich(named))


def _judged_by(judging: Session, pair: tuple[str, str]) -> list[str]:
    """Who judged a document already."""
    place = judging.candidates.find(*pair)
    return [name or "(no name)" for judged, name in judging.model.answers if judged == place]
