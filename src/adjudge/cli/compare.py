"""``adjudge compare``: which systems differ, how sure that is, and whether users would notice."""

from __future__ import annotations

import argparse
from typing import Any, get_args

from adjudge.checks import HALF_ALPHA, POSITIVE, RESAMPLES, Alternative
from adjudge.cli.command import command
from adjudge.cli.options import (
    add_intervals,
    add_option,
    add_output,
    add_users,
    own_mappings,
    with_users_file,
)
from adjudge.cli.output import TABLE_FORMS, check_output, command_line, paper_of, say, show, style_of
from adjudge.cli.score import add_judgments_or_table, check_judgments_or_table, evaluated

_EXAMPLES = """examples:
  adjudge compare qrels.txt runs/*.txt -m nDCG@10
  adjudge compare judgments.tsv runs.tsv --scale fine -m CG@5 --test bootstrap --correction bh
  adjudge compare qrels.txt runs --baseline bm25 -m AP --latex
  adjudge compare --effectiveness scores.csv -m AP
"""


def add_comparing(parser: argparse.ArgumentParser) -> None:
    """Options of the comparison, shared with ``adjudge report``."""
    group = parser.add_argument_group("comparing")
    tests = "t, wilcoxon, sign, bootstrap, permutation, or of the family: friedman-tukey, tukey, randomised-tukey"
    group.add_argument("--test", default="permutation", help=tests)
    group.add_argument("--correction", default="holm", help="none, bonferroni, holm or bh")
    group.add_argument(
        "--baseline", action="append", metavar="SYSTEM", help="compare with this system only; repeatable"
    )
    group.add_argument(
        "--alternative",
        choices=get_args(Alternative),
        default="two-sided",
        help="one-sided: each system is tested to be greater or less than the baseline",
    )
    group.add_argument("--alpha", type=HALF_ALPHA, default=0.05)
    add_intervals(group)
    group.add_argument("--margin", type=POSITIVE, help="smallest difference that matters (default: what users notice)")
    add_users(group)
    add_option(
        group,
        "--resamples",
        type=RESAMPLES,
        help="of Monte-Carlo tests",
        usual="{adjudge.stats.paired:paired_tests.resamples}, or more for many pairs",
    )


def comparing(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options as :func:`adjudge.compare` takes them."""
    own = own_mappings(arguments)
    return {
        "test": arguments.test,
        "correction": arguments.correction,
        "baseline": arguments.baseline,
        "alternative": arguments.alternative,
        "alpha": arguments.alpha,
        "confidence": arguments.confidence,
        "interval": arguments.interval,
        "margin": arguments.margin,
        "mappings": None if own is None else own.agreement,
        "resamples": arguments.resamples,
        "seed": arguments.seed,
    }


@command(add_judgments_or_table, add_comparing, add_output, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Every pair of systems: difference, interval, p-value, effect size, and what users would notice."""
    from dataclasses import replace

    from adjudge.users.comparison import ComparisonTable, compare

    check_output(arguments, forms=TABLE_FORMS)
    check_judgments_or_table(arguments, also=("scale",), has_bounds=True)
    eff = with_users_file(evaluated(arguments), arguments)
    if len(set(eff.datasets)) > 1 and eff.datasets != eff.queries:  # else they are means of data sets
        note = "This is about other queries of these data sets; 'adjudge leaderboard' has the claim about others."
        eff = replace(eff, notes=(*eff.notes, note))
    compared = [compare(eff[name], **comparing(arguments)) for name in eff.measures]
    table = ComparisonTable(tuple(compared), eff.notes, command_line())
    style = style_of(arguments)
    if style == "text":
        show(arguments, table.drawing())
    else:
        say(eff.notes)
        show(arguments, table.text(style, **paper_of(arguments)))
