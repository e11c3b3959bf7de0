"""``adjudge explain``: why another tool has another number."""

from __future__ import annotations

import argparse

from adjudge.cli.command import command
from adjudge.cli.options import add_columns, add_listing, add_option
from adjudge.cli.output import check_output, show, style_of

_EXAMPLES = """examples:
  adjudge explain run.txt --judgments qrels.txt -m nDCG@10 --value 0.4123
  adjudge explain run.txt --judgments qrels.txt -m map --output-of trec_eval.txt
"""
_FORMS = ("text", "json", "csv", "markdown")


def _add_number(parser: argparse.ArgumentParser) -> None:
    from adjudge.explaining import CHANGES

    parser.add_argument("runs", metavar="RUN", help="file with the run that both tools evaluated")
    parser.add_argument(
        "--judgments", metavar="FILE", required=True, help="file with judgments (qrels), or ir_datasets:ID"
    )
    parser.add_argument("-m", "--measure", help="the measure (default: the one of the other tool's output)")
    number = parser.add_mutually_exclusive_group(required=True)
    number.add_argument("--value", metavar="NUMBER", help="the other tool's number, with all digits that it printed")
    number.add_argument(
        "--output-of",
        metavar="FILE",
        help="the other tool's output: lines of trec_eval or ir_measures, JSON of pytrec_eval, ir_measures or ranx, or "
        "a table; values per query tell most",
    )
    parser.add_argument("--scale", help="relevance scale: broad, fine, binary or 0..4 (default: highest grade found)")
    add_columns(parser)
    add_option(
        parser,
        "--changes",
        type=CHANGES,
        metavar="N",
        help="most conventions that may differ at once",
        usual="{adjudge.explaining:explain.changes}",
    )


@command(_add_number, add_listing, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Which conventions give the number of another tool: ties, gains, cutoff, queries averaged, rounding and others."""
    from adjudge.explaining import explain

    check_output(arguments, forms=_FORMS)
    found = explain(
        arguments.runs,
        arguments.judgments,
        arguments.measure,
        value=arguments.value,
        output=arguments.output_of,
        scale=arguments.scale,
        **({} if arguments.changes is None else {"changes": arguments.changes}),
    )
    forms = {"json": found.to_json, "csv": found.to_csv, "markdown": found.to_markdown, "text": found.__str__}
    show(arguments, forms[style_of(arguments)]().rstrip("\n") + "\n")
