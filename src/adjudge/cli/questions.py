"""``adjudge questions``: pairs of lists to ask people about, from judgments or from runs."""

from __future__ import annotations

import argparse
import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from adjudge.checks import COUNT, COUNT_OR_NONE, LIST_LENGTH, PER_BIN, QUESTION_BINS, SEED
from adjudge.cli.command import command
from adjudge.cli.options import (
    add_columns,
    add_combinations,
    add_combine,
    add_run_reading,
    add_styles,
    check_run_reading,
    combination_files,
    combinations_of,
    read_runs,
)
from adjudge.cli.output import check_output, made_from, progress, say, show
from adjudge.errors import AdjudgeError
from adjudge.text import counted

if TYPE_CHECKING:
    from adjudge.model.judgments import Judgments
    from adjudge.model.provenance import Provenance
    from adjudge.preferences.questions import Combination, Coverage, Questions

_EXAMPLES = """examples:
  adjudge questions --judgments judgments.tsv --scale fine -o questions.csv
  adjudge questions --judgments fine=fine.tsv --judgments broad=broad.tsv --traps 5 -o questions.csv
  adjudge questions --judgments judgments.tsv --scale fine -m CG@5 --on fine,binary40 --per-bin 50 -o questions.csv
  adjudge questions --runs runs/*.txt --judgments judgments.tsv --scale fine --max 500 -o questions.csv
"""

_Made = tuple["Questions", "Coverage | None", list[str], "Provenance | None"]
_OFTEN = 10  # times what a query has on average


def _add_options(parser: argparse.ArgumentParser) -> None:
    _add_sources(parser)
    group = parser.add_argument_group("asking")
    add_combinations(group, usual="thesis")
    group.add_argument("--per-bin", type=PER_BIN, default=200)
    group.add_argument("--bins", type=QUESTION_BINS, default=10)
    group.add_argument("-k", type=LIST_LENGTH, default=5)
    group.add_argument("--max", type=COUNT, help="questions at most (default: as many as it takes)")
    group.add_argument("--per-query", type=COUNT, help="questions per query at most")
    group.add_argument("--per-pair", type=COUNT, help="with --runs: questions of a pair of systems")
    group.add_argument("--identical", action="store_true", help="with --runs: also lists that are the same")
    group.add_argument("--traps", type=COUNT_OR_NONE, default=0, help="traps of each kind to add")
    group.add_argument("--seed", type=SEED, default=0, help="the same seed makes the same questions")
    output = parser.add_argument_group("output")
    add_styles(output, json="coverage as JSON", csv="coverage as CSV, a line per bin")
    output.add_argument("-o", "--output", metavar="FILE", required=True, help="questions file to write (.csv)")


def _add_sources(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--judgments",
        action="append",
        default=[],
        metavar="[SCALE=]FILE",
        help="file with judgments; repeatable, with its scale in front: broad=b.csv (a table with columns fine and "
        "broad may be given for both)",
    )
    group.add_argument("--scale", help="scale of a file without one in front: broad, fine, binary or 0..4")
    group.add_argument("--judgments-format", metavar="FORMAT", help="format of the judgments (default: recognised)")
    add_combine(group)
    group.add_argument("--runs", nargs="+", metavar="RUN", help="ask about the lists of these runs instead")
    group.add_argument("--metadata", metavar="FILE", help="table of documents, for the artist filter of runs")
    add_run_reading(group)
    add_columns(group)


@command(_add_options, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Make the questions of a preference study: two lists of documents for a query.

    They are artificial lists from judgments, such that every bin of their difference has enough, or the lists of real
    systems. It says what is covered and what the judgments do not allow.
    """
    from adjudge.formats.columns import check_columns
    from adjudge.preferences.files import write_questions
    from adjudge.preferences.questions import joined

    judged = dict(map(_named, arguments.judgments))
    single = (arguments.metadata, arguments.teams)
    inputs = [*judged.values(), *filter(None, single), *(arguments.runs or ()), *combination_files(arguments)]
    _check(arguments, judged)
    check_output(argparse.Namespace(output=arguments.output, runs=inputs))
    judgments = _read_judgments(arguments)
    wanted = combinations_of(arguments, list(judgments), arguments.k)
    made = _from_runs(arguments, judgments, wanted) if arguments.runs else _from_judgments(arguments, judgments, wanted)
    check_columns()
    questions, coverage, notes, known = made
    if arguments.traps:
        from adjudge.preferences.attention_checks import make_traps

        traps = make_traps(judgments, per_choice=arguments.traps, k=arguments.k, seed=arguments.seed)
        questions = joined([questions, traps])
        notes = [*notes, f"{len(traps)} traps are among the questions: listen to each before you use it."]
    provenance = made_from(inputs, seed=arguments.seed, known=known)
    write_questions(questions, arguments.output)
    _show(arguments, questions, coverage, notes, provenance)


def _named(text: str) -> tuple[str | None, str]:
    """Scale and path of ``SCALE=FILE``; a file whose name has a = is meant where it exists."""
    scale, separator, path = text.partition("=")
    return (None, text) if not separator or os.path.exists(text) else (scale, path)


def _check(arguments: argparse.Namespace, inputs: dict[str | None, str]) -> None:
    """Refuse what does not go together, before anything is read."""
    from adjudge.preferences.files import check_name

    check_name(arguments.output)
    check_run_reading(arguments)
    if not arguments.judgments and not arguments.runs:
        raise AdjudgeError("expected --judgments to make lists of, or --runs whose lists to ask about, got neither")
    if len(inputs) < len(arguments.judgments) or (None in inputs and len(inputs) > 1):
        raise AdjudgeError("--judgments: expected a different scale in front of each of several files, as broad=b.csv")
    if arguments.traps and not arguments.judgments:
        raise AdjudgeError("--traps needs --judgments: grades say what the right answer is")
    if not arguments.judgments and (arguments.measures or arguments.combinations):
        raise AdjudgeError("measures need --judgments: grades say how effective the lists of runs are")
    for name in ("per_pair", "identical"):
        if getattr(arguments, name) and not arguments.runs:
            raise AdjudgeError(f"--{name.replace('_', '-')} is about the lists of --runs, got none")
    if arguments.per_query is not None and arguments.runs:
        raise AdjudgeError("--per-query is about artificial lists; with --runs, queries take turns by themselves")


def _read_judgments(arguments: argparse.Namespace) -> dict[str, Judgments]:
    """Judgments by the name of their scale."""
    from adjudge.formats.reading import read_judgments
    from adjudge.users.combinations import RelevanceScale

    found = {}
    for scale, path in map(_named, arguments.judgments):
        with _grades_named(scale):
            judged = read_judgments(path, scale=scale or arguments.scale, format=arguments.judgments_format)
        found[str(RelevanceScale(judged.scale))] = judged.combined(arguments.combine)
    return found


def _grades_named(scale: str | None) -> AbstractContextManager[None]:
    """Take the column with the name of a scale, as tables with a column for each have it (MIREX's fine and broad)."""
    from adjudge.formats.columns import naming_columns

    return naming_columns(None if scale is None else {"grade": scale}, is_strict=False)


def _from_judgments(
    arguments: argparse.Namespace, judgments: dict[str, Judgments], wanted: tuple[Combination, ...]
) -> _Made:
    from adjudge.preferences.generation import make_questions

    with progress("making questions") as advance:
        made = make_questions(
            judgments,
            wanted,
            per_bin=arguments.per_bin,
            bins=arguments.bins,
            k=arguments.k,
            seed=arguments.seed,
            max_questions=arguments.max,
            per_query=arguments.per_query,
            progress=advance,
        )
    most, even = made.coverage.most_of_a_query, len(made.questions) / max(1, made.coverage.n_queries)
    often = [f"{most} questions are of one query; --per-query sets a limit."] if most > _OFTEN * even else []
    return made.questions, made.coverage, [*often, *_too_deep(wanted, arguments.k)], None


def _too_deep(wanted: tuple[Combination, ...], k: int) -> list[str]:
    """A note about measures that look further down than lists go."""
    deep = dict.fromkeys(combination.measure for combination in wanted if (combination.parsed.cutoff or 0) > k)
    if not deep:
        return []
    return [f"{', '.join(deep)}: lists have {counted(k, 'document')}, and the ranks below count as nothing relevant."]


def _from_runs(
    arguments: argparse.Namespace, judgments: dict[str, Judgments], wanted: tuple[Combination, ...]
) -> _Made:
    from adjudge.preferences.generation import questions_from_runs
    from adjudge.preferences.questions import coverage_of

    collection = read_runs(arguments)
    made = questions_from_runs(
        collection,
        k=arguments.k,
        n=arguments.max,
        per_pair=arguments.per_pair,
        judgments=judgments or None,
        combinations=wanted,
        bins=arguments.bins,
        identical=arguments.identical,
        seed=arguments.seed,
    )
    coverage = coverage_of(made.questions, wanted, bins=arguments.bins, per_bin=arguments.per_bin) if wanted else None
    return made.questions, coverage, [str(made)], collection.provenance


def _show(
    arguments: argparse.Namespace, questions: Questions, coverage: Coverage | None, notes: list[str], made: Provenance
) -> None:
    """Coverage on standard output: what is lacking for people, everything as JSON or CSV."""
    from adjudge.tables import as_csv, as_json

    wrote = f"wrote {counted(len(questions), 'question')} to {arguments.output}"
    here = argparse.Namespace(output=None)
    if arguments.style == "json":
        say(notes)
        show(here, as_json(_values(questions, coverage, notes) | {"provenance": made.to_dict()}))
    elif arguments.style == "csv":
        say([*notes, wrote])
        rows = coverage.to_dicts() if coverage is not None else []
        show(here, as_csv(rows) if rows else "")
    else:
        lines = [*([] if coverage is None else [str(coverage)]), *notes, wrote]
        show(here, "\n".join(lines) + "\n")


def _values(questions: Questions, coverage: Coverage | None, notes: list[str]) -> dict[str, Any]:
    about: dict[str, Any] = {}
    if coverage is not None:
        about = {"summary": coverage.summary, **{str(name): n for name, n in coverage.totals.items()}}
        about["bins"] = coverage.to_dicts()
    return {
        "questions": len(questions),
        "traps": sum(question.is_trap for question in questions.questions),
        "queries": len(set(questions.queries)),
        "coverage": about,
        "notes": notes,
    }
