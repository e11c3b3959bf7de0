"""``adjudge plan``: how many queries, assessors and judgments the next collection needs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, get_args

from adjudge.checks import (
    ALPHA,
    CONFIDENCE,
    COUNT,
    CUTOFF,
    NOT_NEGATIVE,
    POSITIVE,
    POWER,
    RESAMPLES,
    TARGET,
    Assessors,
    Partial,
    ReliabilityInterval,
    Resampled,
)
from adjudge.cli.command import command
from adjudge.cli.options import add_option, add_pages, read_collection
from adjudge.cli.output import PAGE_FORMS, check_output, command_line, progress, show_report
from adjudge.cli.score import add_judgments_or_table, check_judgments_or_table, read_tables
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import AssessedEffectiveness, Effectiveness
    from adjudge.stats.gtheory.plan import Plan

_EXAMPLES = """examples:
  adjudge plan qrels.txt runs/*.txt -m nDCG@10
  adjudge plan judgments.tsv runs.tsv --scale fine -m CG@5 --cutoff 3 --cutoff 5 --cost-judgment 0.2 --budget 500
  adjudge plan --effectiveness last-year.csv --target 0.9 --difference 0.05
"""


def _add_planning(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("planning")
    add_option(
        group,
        "--target",
        type=TARGET,
        action="append",
        metavar="R",
        help="reliability to reach; repeatable",
        usual="{adjudge.stats.gtheory.plan:growth.target}",
    )
    group.add_argument("--queries", type=COUNT, action="append", help="a size to look at; repeatable")
    group.add_argument(
        "--assessors",
        choices=[*get_args(Assessors), "combined"],
        default="auto",
        help="several assessors: each judged all queries (crossed), some (nested), or their grades combined into one; "
        "auto is as the judgments are",
    )
    group.add_argument(
        "--partial",
        choices=get_args(Partial),
        default="drop",
        help="queries that an assessor judged in part: left out for that assessor, or kept",
    )
    group.add_argument(
        "--assessors-per-query",
        dest="people",
        type=COUNT,
        action="append",
        metavar="N",
        help="assessors per query to consider; repeatable",
    )
    group.add_argument(
        "--design", choices=get_args(Assessors), default="auto", help="assessors of the next collection; auto is as now"
    )
    group.add_argument(
        "--leave-out-worst",
        type=_share_or_number,
        default=0,
        metavar="SHARE|N",
        help="leave out the worst systems by the first measure: a share of them such as 0.25 or 25%%, or a number",
    )
    group.add_argument("--batch", type=COUNT, help="queries per step in the account of how answers moved")
    group.add_argument("--confidence", type=CONFIDENCE, default=0.95)
    group.add_argument(
        "--interval",
        choices=get_args(ReliabilityInterval),
        default="auto",
        help="kind of the intervals; f expects normal effects and is too narrow where systems are skewed",
    )
    group.add_argument("--resample", choices=get_args(Resampled), default="both", help="what the bootstrap draws")
    group.add_argument("--resamples", type=RESAMPLES, default=2000, help="of the bootstrap")
    group.add_argument(
        "--difference", type=POSITIVE, action="append", metavar="D", help="a difference to detect; repeatable"
    )
    group.add_argument("--power", type=POWER, default=0.8, help="probability to detect it")
    group.add_argument("--alpha", type=ALPHA, default=0.05, help="level of that test")
    group.add_argument("--comparisons", type=COUNT, default=1, help="tests that share the level (Bonferroni)")


def _share_or_number(text: str) -> float:
    """A share below 1, as a number or in per cent, or a whole number."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    is_share = text.endswith("%")
    if value < 0 or (is_share and value >= 100):
        raise argparse.ArgumentTypeError(f"expected a share such as 0.25 or 25%, or a number of systems, got {text!r}")
    return value / 100 if is_share else value


def _add_prices(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("prices")
    group.add_argument(
        "--cutoff", type=CUTOFF, action="append", metavar="K", help="another cutoff to consider; repeatable"
    )
    group.add_argument("--systems", type=COUNT, help="systems of the next collection (default: as many)")
    group.add_argument(
        "--pool", type=POSITIVE, metavar="N", help="documents to judge per query (default: from the runs)"
    )
    group.add_argument("--cost-judgment", type=NOT_NEGATIVE, default=1.0, metavar="C", help="cost of a judgment")
    group.add_argument("--cost-query", type=NOT_NEGATIVE, default=0.0, metavar="C", help="cost of a query")
    group.add_argument("--cost-assessor", type=NOT_NEGATIVE, default=0.0, metavar="C", help="cost of an assessor")
    group.add_argument("--workload", type=COUNT, help="queries that one assessor judges at most")
    group.add_argument("--budget", type=POSITIVE, metavar="B", help="show the best designs for this much")


@command(add_judgments_or_table, _add_planning, _add_prices, add_pages, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Variance components, reliability by size, queries needed, power, and designs with their prices."""
    from dataclasses import replace

    from adjudge.planning import plan

    _check(arguments)
    data, measures = _read(arguments)
    with progress("evaluating") as advance:
        found = plan(data, measures, progress=advance, **_settings(arguments))
    _show(replace(found, provenance=found.provenance.with_settings(command=command_line())), arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what can be refused before any work is done."""
    check_output(arguments, forms=PAGE_FORMS)
    check_judgments_or_table(arguments)
    if arguments.effectiveness is not None:
        _check_for_table(arguments)
    if arguments.pool is not None and arguments.cutoff:
        raise AdjudgeError("--pool is for one cutoff; several are measured from the runs.")
    if arguments.pool is not None and arguments.systems is not None:
        raise AdjudgeError("--pool says how many documents to judge, whatever the --systems; expected one of them.")


def _check_for_table(arguments: argparse.Namespace) -> None:
    """Refuse options that a table of effectiveness leaves without any meaning."""
    if arguments.cutoff or arguments.systems is not None:
        raise AdjudgeError("--cutoff and --systems need runs, not a table of effectiveness; say --pool instead.")
    if arguments.assessors == "combined":
        raise AdjudgeError("--assessors combined needs judgments, whose grades can be combined.")
    if arguments.partial != "drop":
        raise AdjudgeError("--partial is for judgments and runs, not for tables of effectiveness")
    prices = (arguments.cost_judgment, arguments.cost_query, arguments.cost_assessor, arguments.workload)
    if arguments.pool is None and (arguments.budget is not None or prices != (1.0, 0.0, 0.0, None)):
        raise AdjudgeError(
            "Prices and a budget need --pool, the documents to judge per query: a table of effectiveness has no runs."
        )


def _read(arguments: argparse.Namespace) -> tuple[Collection | Effectiveness | AssessedEffectiveness, Any]:
    """A collection or a table of effectiveness, and the measures to look at."""
    from adjudge.measures import parse_measures

    if arguments.effectiveness is not None:
        return read_tables(arguments), None
    measures = parse_measures(arguments.measures) if arguments.measures else None  # a typo should not cost a reading
    with progress("reading runs") as advance:
        return read_collection(arguments, advance), measures


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options as :func:`adjudge.plan` takes them; what was not said is left to the function."""
    from adjudge.stats.gtheory.plan import Costs

    costs = Costs(arguments.cost_judgment, arguments.cost_query, arguments.cost_assessor, arguments.workload)
    no_prices = arguments.effectiveness is not None and arguments.pool is None
    given = {
        "targets": arguments.target,
        "queries": arguments.queries,
        "assessors_per_query": arguments.people,
        "differences": arguments.difference,
        "cutoffs": arguments.cutoff,
        "costs": None if no_prices else costs,
    }
    same = (
        "assessors", "partial", "design", "leave_out_worst", "batch", "confidence", "interval", "resample", "resamples",
        "power", "alpha", "comparisons", "systems", "pool", "budget", "unjudged", "missing", "ties", "seed",
    )  # fmt: skip
    return {
        **{name: value for name, value in given.items() if value},
        **{name: getattr(arguments, name) for name in same},
    }


def _show(plan: Plan, arguments: argparse.Namespace) -> None:
    from adjudge.stats.gtheory.report import plan_section

    show_report(
        arguments,
        (plan_section(plan),),
        title=f"A plan by {plan.study.measure}",
        subtitle=plan.study.size,
        provenance=plan.provenance.to_dict(),
        values=plan.to_dict(),
        records=plan.to_dicts(),
        notes=plan.notes,
    )
