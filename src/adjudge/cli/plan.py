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
from adjudge.cli.options import Subparsers, add_collection, add_option, add_output, read_collection
from adjudge.cli.output import check_output, command_line, progress, show_report
from adjudge.cli.score import add_evaluation
from adjudge.errors import AdjudgeError, kept_warnings

if TYPE_CHECKING:
    from adjudge.measures import Measure
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import AssessedEffectiveness, Effectiveness
    from adjudge.stats.gtheory.plan import Plan, Pricing

_FORMS = ("text", "json", "csv", "markdown", "latex", "html")
_EXAMPLES = """examples:
  adjudge plan qrels.txt runs/*.txt -m nDCG@10
  adjudge plan judgments.tsv runs.tsv --scale fine -m CG@5 --cutoff 3 --cutoff 5 --cost-judgment 0.2 --budget 500
  adjudge plan --effectiveness last-year.csv --target 0.9 --difference 0.05
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "plan",
        help="how many queries, assessors and judgments are enough",
        description="Variance components, reliability by size, queries needed, power, and designs with their prices.",
        epilog=_EXAMPLES,
    )
    add_collection(parser, required=False)
    add_evaluation(parser)
    for_judgments = vars(parser.parse_args([]))
    _add_planning(parser)
    _add_prices(parser)
    add_output(parser, page="markdown")
    parser.add_argument("--figures", metavar="DIR", help="write every figure as SVG and PDF, too")
    parser.set_defaults(run=run, for_judgments=for_judgments)


def _add_planning(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("planning")
    group.add_argument("--effectiveness", metavar="FILE", help="a table of effectiveness instead of judgments and runs")
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
        help="assessors a query to consider; repeatable",
    )
    group.add_argument(
        "--design",
        choices=get_args(Assessors),
        default="auto",
        help="assessors of the next collection; auto is as now",
    )
    group.add_argument(
        "--leave-out-worst",
        type=_share_or_number,
        default=0,
        metavar="SHARE|N",
        help="leave out the worst systems by the first measure: a share of them such as 0.25 or 25%%, or a number",
    )
    group.add_argument("--batch", type=COUNT, help="queries a step in the account of how answers moved")
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
    group.add_argument("--pool", type=POSITIVE, metavar="N", help="documents to judge a query (default: from the runs)")
    group.add_argument("--cost-judgment", type=NOT_NEGATIVE, default=1.0, metavar="C", help="cost of a judgment")
    group.add_argument("--cost-query", type=NOT_NEGATIVE, default=0.0, metavar="C", help="cost of a query")
    group.add_argument("--cost-assessor", type=NOT_NEGATIVE, default=0.0, metavar="C", help="cost of an assessor")
    group.add_argument("--workload", type=COUNT, help="queries that one assessor judges at most")
    group.add_argument("--budget", type=POSITIVE, metavar="B", help="show the best designs for this much")


def run(arguments: argparse.Namespace) -> None:
    """Read, evaluate, plan, show."""
    _check(arguments)
    eff, pricing, main = _effectiveness(arguments)
    plan = _plan(eff, pricing, main, arguments)
    _show(plan, arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what can be refused before any work is done."""
    check_output(arguments, forms=_FORMS)
    given = arguments.judgments is not None
    if given == (arguments.effectiveness is not None):
        raise AdjudgeError("Expected judgments and runs, or --effectiveness with a table, and not both.")
    if given and not arguments.runs:
        raise AdjudgeError("Expected runs after the judgments, got none.")
    if arguments.unjudged == "bounds":
        raise AdjudgeError("'unjudged' must be one of zero, condensed, got 'bounds': a plan has no use for them.")
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
    usual = {**arguments.for_judgments, "partial": "drop"}
    for name, value in usual.items():
        if name not in ("measures", "seed", "columns") and getattr(arguments, name) != value:
            raise AdjudgeError(f"--{name.replace('_', '-')} is for judgments and runs, not for --effectiveness.")
    prices = (arguments.cost_judgment, arguments.cost_query, arguments.cost_assessor, arguments.workload)
    if arguments.pool is None and (arguments.budget is not None or prices != (1.0, 0.0, 0.0, None)):
        raise AdjudgeError(
            "Prices and a budget need --pool, the documents to judge a query: a table of effectiveness has no runs."
        )


def _effectiveness(
    arguments: argparse.Namespace,
) -> tuple[Effectiveness | AssessedEffectiveness, Pricing | None, str | None]:
    """Effectiveness, what judging costs, and the measure that leads."""
    from adjudge.formats import read_effectiveness
    from adjudge.stats.gtheory.budget import Costs
    from adjudge.stats.gtheory.plan import Pricing

    costs = Costs(arguments.cost_judgment, arguments.cost_query, arguments.cost_assessor, arguments.workload)
    if arguments.effectiveness is not None:
        with kept_warnings():
            eff = read_effectiveness(arguments.effectiveness, columns=arguments.columns)
        if arguments.measures:
            eff = eff[_named(arguments.measures, eff.measures)]
        pools = {} if arguments.pool is None else {eff.measures[0]: arguments.pool}
        return eff, Pricing(costs, pools, {}, arguments.budget) if pools else None, None
    return _evaluated(arguments, costs)


def _named(given: list[str], known: tuple[str, ...]) -> list[str]:
    """Names of measures, each option one of them or several with blanks between."""
    names = [name for one in given for name in ([one] if one in known else one.split())]
    if not names:
        raise AdjudgeError("Expected a measure, got an empty string.")
    return list(dict.fromkeys(names))


def _evaluated(arguments: argparse.Namespace, costs: Any) -> tuple[Effectiveness | AssessedEffectiveness, Pricing, str]:
    from adjudge.measures import default_measures, parse_measures
    from adjudge.model.runs import overlap
    from adjudge.stats.gtheory.plan import Pricing

    wanted = parse_measures(arguments.measures) if arguments.measures else None
    with progress("reading runs") as advance:
        collection = read_collection(arguments, advance)
    measures = wanted or default_measures(collection)
    main = measures[0]
    n_judged = collection.need_judgments().n_queries
    deepest = max(int(run.lengths[:n_judged].max(initial=1)) for run in collection.runs)
    depth = min(main.cutoff or deepest, deepest)
    cutoffs = _other_cutoffs(main, arguments.cutoff or [])
    eff = _assessed(collection, [*measures, *(m for m in cutoffs if m not in measures)], arguments)
    pools = {str(main): arguments.pool}
    if arguments.pool is None:
        sizes = overlap(collection.runs, cutoffs=[depth, *cutoffs.values()], n_queries=n_judged)
        pools = {str(m): sizes.pool_size(k, arguments.systems) for m, k in [(main, depth), *cutoffs.items()]}
    return (
        eff,
        Pricing(
            costs, pools, {str(m): k for m, k in {main: main.cutoff or depth, **cutoffs}.items()}, arguments.budget
        ),
        str(main),
    )


def _other_cutoffs(main: Measure, cutoffs: list[int]) -> dict[Measure, int]:
    """The main measure at other cutoffs."""
    from adjudge.measures import Measure

    if cutoffs and main.cutoff is None:
        raise AdjudgeError(f"{main}: other cutoffs are for a measure that has one, such as {main}@5")
    return {Measure.bind(main.definition, dict(main.parameters), k): k for k in cutoffs if k != main.cutoff}


def _assessed(
    collection: Collection, measures: list[Measure], arguments: argparse.Namespace
) -> Effectiveness | AssessedEffectiveness:
    """Effectiveness by assessor where several judged a query, unless their grades are to be combined."""
    from adjudge.measures import evaluate
    from adjudge.measures.assessors import evaluate_assessors

    judgments = collection.need_judgments()
    several = len(judgments.assessors) > 1 and len(judgments.pool.grades) < len(judgments)
    by_assessor = arguments.assessors in ("crossed", "nested") or (arguments.assessors == "auto" and several)
    options: dict[str, Any] = {"missing": arguments.missing, "ties": arguments.ties, "seed": arguments.seed}
    with progress("evaluating") as advance, kept_warnings():  # they are among the notes
        if by_assessor:
            options |= {"partial": arguments.partial, "unjudged": arguments.unjudged}
            return evaluate_assessors(collection, measures, progress=advance, **options)
        return evaluate(collection, measures, unjudged=arguments.unjudged, progress=advance, **options)


def _plan(
    eff: Effectiveness | AssessedEffectiveness, pricing: Pricing | None, main: str | None, arguments: argparse.Namespace
) -> Plan:
    from dataclasses import replace

    from adjudge.stats.gtheory.plan import make_plan

    plan = make_plan(
        eff,
        main=main,
        targets=tuple(arguments.target or (0.95,)),
        queries=arguments.queries,
        people=arguments.people,
        assessors="auto" if arguments.assessors == "combined" else arguments.assessors,
        design=arguments.design,
        confidence=arguments.confidence,
        interval=arguments.interval,
        resample=arguments.resample,
        resamples=arguments.resamples,
        seed=arguments.seed,
        differences=tuple(arguments.difference or (0.01, 0.02, 0.05, 0.1)),
        alpha=arguments.alpha,
        power=arguments.power,
        comparisons=arguments.comparisons,
        batch=arguments.batch,
        pricing=pricing,
        leave_out_worst=arguments.leave_out_worst,
    )
    return replace(plan, provenance=plan.provenance.with_settings(command=command_line()))


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
