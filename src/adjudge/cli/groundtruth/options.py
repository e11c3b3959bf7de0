"""What the commands about ground truth share: their options, how answers are read, how lists are tabulated."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adjudge.checks import ALPHA, COUNT, DEFAULT_CONSTRUCTION, DEFAULT_LIST_ALPHA, SEED
from adjudge.cli.options import add_columns, add_option
from adjudge.cli.output import check_output, made_from, page_of
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.groundtruth import GroundTruth, Preferences, Rankings
    from adjudge.groundtruth.comparing import ComparedConstructions
    from adjudge.model.provenance import Provenance
    from adjudge.reporting.document import Section, TableBlock


LISTS = (".groups", ".json", ".csv", ".tsv", ".parquet", ".jsonl", ".qrels")
REPORTS = {".html": "html", ".md": "markdown", ".tex": "latex", ".json": "json"}
_ABOUT = "file with experts' rankings, or with preferences between two documents"


def _as_now(word: str) -> str:
    """A word of version 1.0 as it is written now."""
    return {"left-out": "skip", "as-given": "given"}.get(word, word)


def add_answers(parser: argparse.ArgumentParser) -> None:
    """What experts said, and how to take it."""
    parser.add_argument("answers", metavar="ANSWERS", help=_ABOUT)
    group = parser.add_argument_group("answers")
    group.add_argument(
        "--unranked",
        choices=("skip", "last"),
        type=_as_now,
        help="what it means that an expert left a document unranked: nothing, or that it comes last (default: skip)",
    )
    group.add_argument(
        "--places",
        choices=("counted", "given"),
        type=_as_now,
        help="count ranks again in each expert's ranking, ties sharing the mean of their places, or take them as they "
        "are (default: counted)",
    )
    group.add_argument("--without", metavar="QUERY", action="append", default=[], help="leave out a query; repeatable")
    add_columns(group)


def add_alpha(group: argparse._ArgumentGroup) -> None:
    """Significance level and seed."""
    group.add_argument("--alpha", type=ALPHA, default=DEFAULT_LIST_ALPHA, help="significance level")
    group.add_argument("--seed", type=SEED, default=0, help="of everything random")


def add_construction(group: argparse._ArgumentGroup) -> None:
    """One way of making lists."""
    group.add_argument(
        "-c",
        "--construction",
        default=DEFAULT_CONSTRUCTION,
        metavar="WAY",
        help="how to make lists, as Any-1, All-2 or Any-1:plackett-luce; see 'adjudge groundtruth constructions'",
    )
    add_option(
        group,
        "--least-experts",
        type=COUNT,
        help="documents that fewer experts ranked are in no list",
        usual="{adjudge.groundtruth.building:build.least_experts}",
    )


def check_lists_name(target: str | None) -> None:
    """Refuse a name that promises something else than lists; standard output (``-``) takes any."""
    from pathlib import Path

    from adjudge.io import without_compression

    if target is not None and target != "-" and without_compression(Path(target)).suffix.lower() not in LISTS:
        raise AdjudgeError(f"{target}: expected a name of lists that ends in {', '.join(LISTS)}")


def check_report(arguments: argparse.Namespace, inputs: list[str], *, needs_report: bool = True) -> None:
    """Refuse a report that cannot be written, and figures of a report where there is none."""
    target, report = arguments.output, arguments.report
    if report is None:
        if needs_report and arguments.figures is not None:
            raise AdjudgeError("--figures are those of a report; expected --report, got none")
        return
    if os.path.splitext(report)[1].lower() not in REPORTS:
        raise AdjudgeError(f"{report}: expected a report that ends in {', '.join(REPORTS)}")
    if target is not None and os.path.realpath(target) == os.path.realpath(report):
        raise AdjudgeError(f"{target}: expected one file for the report and another for the rest")
    check_output(argparse.Namespace(output=report, style="", figures=arguments.figures, runs=inputs))


def write_report(
    arguments: argparse.Namespace,
    truth: GroundTruth,
    answers: Rankings | Preferences,
    *,
    made: Provenance,
    comparison: ComparedConstructions | None = None,
) -> list[str]:
    """The report of lists into ``--report``, where asked for, and its figures into ``--figures``; what was written."""
    if arguments.report is None:
        return []
    from pathlib import Path

    from adjudge.groundtruth.report import groundtruth_document
    from adjudge.io import write_whole
    from adjudge.reporting.render import write_figures

    document = groundtruth_document(truth, answers=answers, comparison=comparison, inputs=made)
    form = REPORTS[os.path.splitext(arguments.report)[1].lower()]
    page = argparse.Namespace(output=arguments.report, figures=arguments.figures)
    write_whole(Path(arguments.report), page_of(page, document, form).encode())
    wrote = [f"wrote the report to {arguments.report}"]
    if arguments.figures is not None:
        written = write_figures(document, Path(arguments.figures), width=arguments.figure_width)
        wrote.append(f"wrote {len(written)} figures to {arguments.figures}")
    return wrote


def read_answers(arguments: argparse.Namespace) -> Rankings | Preferences:
    """The answers that the options describe; they are read after all else."""
    from adjudge.formats.columns import check_columns
    from adjudge.groundtruth import Rankings
    from adjudge.groundtruth.files import read_experts

    places: Any = arguments.places or "counted"
    with without_hint():
        answers = read_experts(arguments.answers, places=places, without=arguments.without)
    check_columns()
    if not isinstance(answers, Rankings):
        for name in ("unranked", "places", "least_experts"):
            if getattr(arguments, name, None) is not None:
                raise AdjudgeError(
                    f"--{name.replace('_', '-')} is about rankings, and {arguments.answers} has preferences"
                )
    return answers


@contextmanager
def without_hint(*, is_needed: bool = True) -> Iterator[None]:
    """Say how to leave out the query that an error is about, where it is about a whole one."""
    from adjudge.groundtruth.answers import QueryError

    try:
        yield
    except AdjudgeError as error:
        about = error if isinstance(error, QueryError) else error.__cause__
        if not is_needed or not isinstance(about, QueryError):
            raise
        raise AdjudgeError(f"{error} (leave it out with --without {shlex.quote(about.query)})") from None


def check_queries(asked: Sequence[str], answers: Rankings | Preferences) -> list[str]:
    """All queries; those asked for must be among them."""
    from adjudge.groundtruth.answers import check_named

    known = [query.query for query in answers.queries]
    check_named(asked, known)
    return known


def provenance_of(
    arguments: argparse.Namespace, answers: Rankings | Preferences, files: Sequence[str] = ()
) -> Provenance:
    """What made the results; answers say themselves what they were read from, also from standard input."""
    from adjudge.model.provenance import Provenance

    read = () if answers.source is None or answers.sha256 is None else ((answers.source, answers.sha256),)
    return made_from(files or [arguments.answers], seed=arguments.seed, known=Provenance(inputs=read))


def build_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of :func:`adjudge.groundtruth.build`."""
    return {
        "alpha": arguments.alpha,
        "unranked": arguments.unranked or "skip",
        "least_experts": arguments.least_experts or 1,
        "seed": arguments.seed,
    }


def lists_section(truth: GroundTruth, said: Sequence[str]) -> Section:
    """Sentences and one table of all lists: what the terminal shows."""
    from adjudge.reporting.document import Paragraph, Section

    about = (
        f"intra: pairs in one group that experts tell apart; inter: pairs in different groups that they do not (one "
        f"tail, α = {truth.alpha:g}, {truth.measured_by}); triples: alike | ordered | circular."
    )
    return Section("lists", "Partially ordered lists", (*map(Paragraph, said), lists_table(truth), Paragraph(about)))


def lists_table(truth: GroundTruth) -> TableBlock:
    """A row per query, and one for all."""
    from adjudge.groundtruth.building import list_records, total_record
    from adjudge.reporting.document import TableBlock
    from adjudge.tables import Heading

    names = ("query", "documents", "groups", "ADR-1", "ADR-2", "intra", "inter", "misordered", "triples")
    records = list_records(truth)
    rows = [*records, total_record(truth)] if len(records) > 1 else records
    columns = tuple(Heading(name, "left" if name == "query" else "right") for name in names)
    return TableBlock("lists", f"Lists, {truth.made_by}.", columns, tuple(map(_cells, rows)), records)


def _cells(record: dict[str, Any]) -> tuple[str, ...]:
    from adjudge.text import number

    return (
        record["query"],
        f"{record['documents']:,}",
        f"{record['groups']:,}",
        number(record["adr_1"], 3),
        number(record["adr_2"], 3),
        f"{record['intra']:,}/{record['pairs_within']:,}",
        f"{record['inter']:,}/{record['pairs_between']:,}",
        f"{record['misordered']:,}",
        " | ".join(f"{record[f'triples_{kind}']:,}" for kind in ("alike", "ordered", "circular")),
    )
