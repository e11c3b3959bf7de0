"""``adjudge score``: effectiveness of runs, with intervals."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from adjudge.checks import DIGITS, SEED, Missing, Ties, Unjudged
from adjudge.cli.command import command
from adjudge.cli.options import (
    add_collection,
    add_intervals,
    add_output,
    add_users,
    own_mappings,
    read_collection,
    with_users_file,
)
from adjudge.cli.output import TABLE_FORMS, check_output, command_line, paper_of, progress, say, show, style_of
from adjudge.errors import AdjudgeError, kept_warnings, shown

if TYPE_CHECKING:
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import AssessedEffectiveness, Effectiveness

_E = TypeVar("_E", bound="Effectiveness | AssessedEffectiveness")
_EXAMPLES = """examples:
  adjudge score qrels.txt runs/*.txt -m nDCG@10 -m AP
  adjudge score judgments.tsv runs.tsv --scale fine -m "CG@5 nDCG@5 AP(rel=40)@5"
  adjudge score judgments.tsv runs.tsv --scale fine -m CG@5 --users mapping.json
  adjudge score qrels.txt run.gz --per-query --csv -o scores.csv
  adjudge score --effectiveness bm25.eval dense.eval -m ndcg_cut_10
"""


def add_evaluation(parser: argparse.ArgumentParser) -> None:
    """Which measures, and what happens at the edges; shared by all commands that evaluate."""
    group = parser.add_argument_group("evaluating")
    group.add_argument(
        "-m",
        "--measure",
        dest="measures",
        action="append",
        metavar="MEASURE",
        help="a measure, or several in quotes; repeatable (default: a few by scale and depth)",
    )
    group.add_argument(
        "--unjudged",
        choices=get_args(Unjudged),
        default="zero",
        help="unjudged documents: grade 0, removed, or bounds over all their grades",
    )
    group.add_argument(
        "--missing",
        choices=get_args(Missing),
        default="zero",
        help="judged queries that a run lacks: count 0, are left out, or are an error",
    )
    group.add_argument(
        "--ties",
        choices=get_args(Ties),
        default="trec",
        help="tied scores: by identifier as trec_eval, or expected over all orders",
    )
    group.add_argument("--seed", type=SEED, default=0, help="seed of whatever is drawn")


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Evaluating and the table of scores, for ``adjudge demo``."""
    add_evaluation(parser)
    _add_table_of_scores(parser)


def _add_table_of_scores(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scoring")
    add_intervals(group)
    group.add_argument(
        "--satisfaction", action="store_true", help="beside effectiveness, how many users would be satisfied"
    )
    add_users(group)
    group.add_argument("--per-query", action="store_true", help="every query instead of means")
    group.add_argument(
        "--sort", metavar="MEASURE", help="order systems by this measure, or by 'system' (default: the first measure)"
    )
    group.add_argument("--digits", type=DIGITS, default=3)


def add_judgments_or_table(parser: argparse.ArgumentParser) -> None:
    """Judgments and runs, with how to evaluate them, or tables of effectiveness instead."""
    add_collection(parser, required=False)
    add_evaluation(parser)
    parser.set_defaults(for_judgments=vars(parser.parse_args([])))
    parser.add_argument(
        "--effectiveness",
        nargs="+",
        action="extend",
        metavar="[NAME=]FILE",
        help="tables of effectiveness instead of judgments and runs, or results of trec_eval -q, ir_measures, ranx, "
        "PyTerrier, BEIR or MTEB; NAME is that of the data set",
    )


def check_judgments_or_table(
    arguments: argparse.Namespace, *, also: tuple[str, ...] = (), has_bounds: bool = False
) -> None:
    """Refuse both or neither, and what :func:`check_evaluation` refuses."""
    is_judged = arguments.judgments is not None
    if is_judged == bool(arguments.effectiveness):
        raise AdjudgeError("expected judgments and runs, or --effectiveness with a table, and not both")
    if is_judged and not arguments.runs:
        raise AdjudgeError("expected runs after the judgments, got none")
    check_evaluation(arguments, is_judged=is_judged, also=also, has_bounds=has_bounds)


def check_evaluation(
    arguments: argparse.Namespace, *, is_judged: bool, also: tuple[str, ...] = (), has_bounds: bool = False
) -> None:
    """Refuse bounds of unjudged documents unless it ``has_bounds``, and without judgments options that are about them.

    Measures, seed and columns do say something about a table, and so do the options in ``also``.
    """
    if arguments.unjudged == "bounds" and not has_bounds:
        raise AdjudgeError("'unjudged' must be one of zero, condensed, got 'bounds': they are for 'adjudge score'")
    for name, usual in ({} if is_judged else arguments.for_judgments).items():
        if name not in ("measures", "seed", "columns", *also) and getattr(arguments, name) != usual:
            raise AdjudgeError(f"--{name.replace('_', '-')} is for judgments and runs, not for tables of effectiveness")


def named_tables(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The name of a data set, if one is given, and its file."""
    for text in texts:
        name, equals, file = text.partition("=")
        is_named = bool(equals) and not os.path.exists(text)
        if is_named and not (name.strip() and file):
            raise AdjudgeError(f"--effectiveness: expected FILE or NAME=FILE, got {shown(text)}")
        yield (name.strip(), file) if is_named else ("", text)


def read_tables(arguments: argparse.Namespace) -> Effectiveness | AssessedEffectiveness:
    """Effectiveness of the tables and measures that the options name, complete cases only."""
    from adjudge.formats import read_effectiveness
    from adjudge.formats.effectiveness import complete_cases
    from adjudge.model.effectiveness import Effectiveness

    named: dict[str, list[str]] = {}
    for name, file in named_tables(arguments.effectiveness):
        named.setdefault(name, []).append(file)
    given: Any = named[""] if list(named) == [""] else {name or "other": files for name, files in named.items()}
    with kept_warnings():  # they are among the notes
        eff = read_effectiveness(given, columns=arguments.columns, missing="keep")
        eff = select_measures(eff, arguments.measures)
        return complete_cases(eff) if isinstance(eff, Effectiveness) else eff


def select_measures(eff: _E, given: Sequence[str] | None) -> _E:
    """The measures that the options name, if any; one name is that of the measure where no table names it."""
    from dataclasses import replace

    from adjudge.formats.effectiveness import ONE_MEASURE, UNNAMED

    if not given:
        return eff
    names = measures_of_table(given, eff.measures)
    if eff.measures != (UNNAMED,) or len(names) > 1:
        return eff[names]  # type: ignore[return-value]
    notes = tuple(note for note in eff.notes if note != ONE_MEASURE)
    return replace(eff, measures=tuple(names), notes=notes)


def measures_of_table(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Names of measures of a table, each option one of them or several with spaces between, in any tool's spelling.

    >>> measures_of_table(["nDCG@10 map"], ["ndcg_cut_10", "map"]), measures_of_table(["nDCG@10"], ["NDCG@10"])
    (['ndcg_cut_10', 'map'], ['NDCG@10'])
    """
    names = [name for text in given for name in ([text] if text in known else text.split())]
    if not names:
        raise AdjudgeError("expected a measure, got an empty string")
    same = {_meant(name): name for name in reversed(known)}
    return list(dict.fromkeys(name if name in known else same.get(_meant(name), name) for name in names))


def _meant(name: str) -> str:
    """The measure that a name stands for, as Adjudge writes it; the name itself where nobody knows it."""
    from adjudge.measures import parse_measure

    for spelling in (name, name.casefold()):  # BEIR writes capitals
        with suppress(AdjudgeError):
            return str(parse_measure(spelling))
    return name


def evaluated(arguments: argparse.Namespace, collection: Collection | None = None) -> Effectiveness:
    """Effectiveness alone."""
    return read_and_evaluated(arguments, collection)[0]


def read_and_evaluated(
    arguments: argparse.Namespace, collection: Collection | None = None
) -> tuple[Effectiveness, Collection | None]:
    """Evaluate the collection that the options describe, unless it is given, or read tables of effectiveness."""
    from adjudge.measures import default_measures, evaluate, parse_measures

    if getattr(arguments, "effectiveness", None):
        return _effectiveness_of_tables(arguments), None
    wanted = parse_measures(arguments.measures) if arguments.measures else None  # a typo should not cost a reading
    if collection is None:
        with progress("reading runs") as advance:
            collection = read_collection(arguments, advance)
    with progress("evaluating") as advance, kept_warnings():  # they are among the notes
        eff = evaluate(
            collection,
            wanted or default_measures(collection),
            unjudged=arguments.unjudged,
            missing=arguments.missing,
            ties=arguments.ties,
            seed=arguments.seed,
            progress=advance,
        )
    return eff, collection


def _effectiveness_of_tables(arguments: argparse.Namespace) -> Effectiveness:
    """Effectiveness of tables, on the scale that the options name, if any."""
    from dataclasses import replace

    from adjudge.model.effectiveness import Effectiveness
    from adjudge.model.scales import parse_scale

    scale = {} if arguments.scale is None else {"scale": str(parse_scale(arguments.scale))}
    eff = read_tables(arguments)
    if not isinstance(eff, Effectiveness):
        raise AdjudgeError("expected effectiveness of one assessor or of all together, got a column of assessors")
    return replace(eff, provenance=eff.provenance.with_settings(**scale))


@command(add_judgments_or_table, _add_table_of_scores, add_output, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Mean effectiveness of every system under every measure, its interval, and how much was judged."""
    check_output(arguments, forms=TABLE_FORMS)
    check_judgments_or_table(arguments, also=("scale",), has_bounds=True)
    show_scores(arguments, with_users_file(evaluated(arguments), arguments))


def show_scores(arguments: argparse.Namespace, eff: Effectiveness) -> None:
    """Show effectiveness as a table, or as what was asked for."""
    from adjudge.users.scores import ScoreTable

    mappings = own_mappings(arguments)
    satisfying = mappings.satisfaction if mappings is not None else () if arguments.satisfaction else None
    table = ScoreTable.of(
        eff,
        confidence=arguments.confidence,
        interval=arguments.interval,
        sort=arguments.sort,
        digits=arguments.digits,
        per_query=arguments.per_query,
        command=command_line(),
        users=satisfying,
    )
    style = style_of(arguments)
    if style == "text":
        show(arguments, table.table())
    else:
        say(eff.notes)
        show(arguments, table.text(style, **paper_of(arguments)))
