"""``adjudge fit``: from what people prefer to what effectiveness means, as a mapping file."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from adjudge.cli.options import Subparsers, add_run_reading
from adjudge.cli.output import check_output, command_line, progress, show_report, with_inputs
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.model.collection import Collection
    from adjudge.model.judgments import Judgments
    from adjudge.preferences.combinations import Combination
    from adjudge.preferences.learning import Learnt
    from adjudge.preferences.study import Study
    from adjudge.reports.document import Section

_EXAMPLES = """examples:
  adjudge fit answers.csv -o mapping.json
  adjudge fit answers.csv -m CG@5 -m DCG@5 --on fine,broad -o mapping.json --report study.html
  adjudge fit answers.csv --combinations thesis --csv
  adjudge fit answers.csv --judgments judgments.tsv --scale fine --runs runs/*.txt -o mapping.json
then:
  adjudge compare judgments.tsv runs/*.txt --scale fine -m CG@5 --users mapping.json
"""
_REPORTS = {".html": "html", ".md": "markdown", ".tex": "latex"}


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "fit",
        help="learn what effectiveness means to users from their answers",
        description="Learn from the answers of a preference study how many users are satisfied with lists of some "
        "effectiveness and how many notice differences in it, for measures on relevance scales.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("answers", metavar="ANSWERS", nargs="+", help="files with answers")
    parser.add_argument("--questions", metavar="FILE", help="file with the questions, where answers do not have them")
    _add_learning(parser)
    group = parser.add_argument_group("grades and runs")
    group.add_argument("--judgments", metavar="FILE", help="judgments that add grades on --scale to the questions")
    group.add_argument("--scale", help="scale of --judgments: broad, fine, binary or an interval such as 0..4")
    group.add_argument("--runs", metavar="RUN", nargs="+", help="runs to see how large differences are in practice")
    group.add_argument("--judgments-format", metavar="FORMAT", help="format of the judgments (default: recognised)")
    add_run_reading(group)
    group = parser.add_argument_group("output")
    kinds = group.add_mutually_exclusive_group()
    for style, about in (("json", "as JSON, with provenance"), ("csv", "as CSV"), ("markdown", "as a Markdown page")):
        kinds.add_argument(f"--{style}", dest="style", action="store_const", const=style, help=about)
    group.add_argument("-o", "--output", metavar="FILE", help="write the curves to a mapping file (JSON)")
    group.add_argument("--report", metavar="FILE", help="write a report: .html, .md or .tex")
    group.add_argument("--figures", metavar="DIR", help="write every figure as SVG and PDF, too")
    parser.set_defaults(run=run)


def _add_learning(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("learning")
    group.add_argument(
        "--combinations",
        action="append",
        metavar="WHICH",
        help="'thesis' (its 95, as far as the grades allow) or one such as 'CG@5 on fine'; repeatable",
    )
    group.add_argument(
        "-m", "--measure", dest="measures", action="append", metavar="MEASURE",
        help="a measure, on the scales of --on (default: CG and DCG at the length of the lists); repeatable",
    )  # fmt: skip
    group.add_argument("--on", metavar="SCALES", help="scales, with commas: fine,binary40 (default: those with grades)")
    group.add_argument(
        "--kind",
        default="bounded",
        help="satisfaction curve: bounded, psychometric, logistic or cubic (default: bounded)",
    )
    group.add_argument("--form", default="two-stage", help="agreement curve (default: two-stage)")
    group.add_argument("--bins", type=int, default=10, metavar="N", help="bins of [0, 1] (default: 10)")
    group.add_argument("--confidence", type=float, default=0.95, help="level of the intervals (default: 0.95)")
    group.add_argument(
        "--resamples", type=int, default=1000, metavar="N", help="of queries and participants (default: 1000)"
    )
    group.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")


def run(arguments: argparse.Namespace) -> None:
    """Read, learn, show, write."""
    from adjudge.preferences.learning import learn
    from adjudge.users.mapping_files import write_mappings

    _check(arguments)
    study, collection = _read(arguments)
    wanted = _combinations(arguments, study)
    with progress("learning") as advance:
        learnt = learn(
            study,
            wanted,
            kind=arguments.kind,
            form=arguments.form,
            collection=collection,
            bins=arguments.bins,
            confidence=arguments.confidence,
            bootstrap=arguments.resamples,
            seed=arguments.seed,
            progress=advance,
        )
    if arguments.output is not None:
        write_mappings(learnt.mappings(), arguments.output)
    _show(arguments, learnt, study)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what cannot work before any work is done."""
    from adjudge.preferences.curves import KINDS
    from adjudge.users.agreement import FORMS

    if arguments.kind not in KINDS:
        raise AdjudgeError(f"'kind' must be one of {', '.join(KINDS)}, got {arguments.kind!r}")
    if arguments.form not in FORMS:
        raise AdjudgeError(f"'form' must be one of {', '.join(FORMS)}, got {arguments.form!r}")
    for name, least in (("bins", 1), ("resamples", 100), ("seed", 0)):
        if getattr(arguments, name) < least:
            raise AdjudgeError(f"'{name}' must be {least} or more, got {getattr(arguments, name)}")
    if not 0 < arguments.confidence < 1:
        raise AdjudgeError(f"'confidence' must be in (0, 1), got {arguments.confidence:g}")
    if arguments.runs is not None and arguments.judgments is None:
        raise AdjudgeError("expected --judgments with --runs, to know how effective these are")
    if arguments.judgments is not None and arguments.scale is None:
        raise AdjudgeError("expected --scale with --judgments, for curves hold on one scale")
    target, report = arguments.output, arguments.report
    if target is not None and os.path.splitext(target)[1].lower() != ".json":
        raise AdjudgeError(f"{target}: expected a mapping file that ends in .json; see --report for others")
    if report is not None and os.path.splitext(report)[1].lower() not in _REPORTS:
        raise AdjudgeError(f"{report}: expected a report that ends in {', '.join(_REPORTS)}")
    inputs = [*arguments.answers, *filter(None, [arguments.questions, arguments.judgments]), *(arguments.runs or ())]
    for output in (target, report):
        check_output(argparse.Namespace(output=output, style="", figures=arguments.figures, runs=inputs))


def _read(arguments: argparse.Namespace) -> tuple[Study, Collection | None]:
    """The study, with the grades that judgments add, and the collection that runs make."""
    from adjudge.formats import read
    from adjudge.formats.reading import read_judgments
    from adjudge.preferences.files import read_answers, read_questions
    from adjudge.preferences.files_joining import joined_studies

    asked = None if arguments.questions is None else read_questions(arguments.questions)
    studies = [read_answers(path, asked) for path in arguments.answers]
    digests = [one.sha256 for one in studies]
    for place, digest in enumerate(digests):
        if (earlier := digests.index(digest)) < place:
            raise AdjudgeError(f"{studies[place].source}: has the same answers as {studies[earlier].source}")
    study = joined_studies(studies)
    if arguments.judgments is None:
        return study, None
    named = arguments.judgments_format
    if arguments.runs is None:
        return _graded(study, read_judgments(arguments.judgments, scale=arguments.scale, format=named)), None
    collection = read(
        arguments.runs,
        arguments.judgments,
        scale=arguments.scale,
        teams=arguments.teams,
        format=arguments.format,
        judgments_format=named,
        names=arguments.names,
        artist_filter=arguments.artist_filter,
    )
    return _graded(study, collection.need_judgments()), collection


def _graded(study: Study, judgments: Judgments) -> Study:
    """The study, its questions with the grades of judgments besides those that they have."""
    from dataclasses import replace

    import numpy as np

    from adjudge.users.combinations import RelevanceScale

    scale = str(RelevanceScale(judgments.scale))
    pool = judgments.pool
    query = np.repeat(np.arange(len(pool.offsets) - 1), np.diff(pool.offsets))
    pairs = zip(judgments.queries.decode(query), judgments.documents.decode(pool.documents), strict=True)
    graded = dict(zip(pairs, pool.grades.tolist(), strict=True))
    added, own = study.questions.with_grades(scale, graded), study.questions.grades.get(scale)
    if own is not None:  # its own grades come first
        added = replace(added, grades={**added.grades, scale: np.where(np.isnan(own), added.grades[scale], own)})
    return replace(study, questions=added)


def _combinations(arguments: argparse.Namespace, study: Study) -> tuple[Combination, ...]:
    """What to learn curves for."""
    from adjudge.measures import parse_measures
    from adjudge.preferences.combinations import as_combinations, crossed

    questions = study.questions
    if not questions.grades:
        raise AdjudgeError(f"{study.source}: has no grades of the documents; give them with --judgments and --scale")
    found: list[Combination] = []
    for which in arguments.combinations or ():
        is_thesis = which.strip().lower() == "thesis"
        found.extend(_thesis(study) if is_thesis else as_combinations([which]))
    if arguments.measures or not found:
        measures = arguments.measures or [f"CG@{questions.n_ranks}", f"DCG@{questions.n_ranks}"]
        scales = list(questions.grades) if arguments.on is None else [s for s in arguments.on.split(",") if s.strip()]
        found.extend(crossed([str(one) for one in parse_measures(measures)], scales))
    return as_combinations(found)


def _thesis(study: Study) -> list[Combination]:
    """The combinations of the thesis that the grades allow, but for those by which all answers are about one size."""
    from adjudge.preferences.combinations import possible, thesis_combinations
    from adjudge.preferences.curves import has_several_sizes
    from adjudge.preferences.evidence import evidence

    known = possible(thesis_combinations(study.questions.n_ranks), study.questions.grades)
    return [one for one in known if has_several_sizes(evidence(study, one.measure, one.scale).delta)]


def _show(arguments: argparse.Namespace, learnt: Learnt, study: Study) -> None:
    """The table on the terminal or in the form asked for; the report into its file."""
    from adjudge.preferences.wording import counted_of
    from adjudge.reports.preference_sections import preference_sections

    provenance = _provenance(arguments)
    names = "" if len(learnt.combinations) > 1 else f": {learnt.combinations[0].combination}"
    shared: dict[str, Any] = {
        "title": f"What effectiveness means to users{names}",
        "subtitle": f"{learnt.n_answers:,} answers about {counted_of(learnt.n_queries, 'query')}",
        "provenance": provenance,
        "values": {
            "combinations": learnt.rows(),
            "agreement": learnt.predicts_agreement.to_dicts(),
            "satisfaction": learnt.predicts_satisfaction.to_dicts(),
            "bins": [_bins(one) for one in learnt.combinations],
            "provenance": provenance,
        },
        "records": learnt.rows(),
    }
    notes = (f"wrote {len(learnt.combinations)} combinations to {arguments.output}",) if arguments.output else ()
    if arguments.report is not None:
        page = argparse.Namespace(output=arguments.report, style=None, figures=arguments.figures)
        show_report(page, preference_sections(learnt, study), **shared)
        notes = (*notes, f"wrote the report to {arguments.report}")
    figures = None if arguments.report is not None else arguments.figures
    plain = argparse.Namespace(output=None, style=arguments.style, figures=figures)
    whole = arguments.style == "markdown" or figures is not None
    sections = preference_sections(learnt, study) if whole else (_summary(learnt),)
    show_report(plain, sections, **shared, notes=notes)


def _bins(one: Any) -> dict[str, Any]:
    agreed = one.agreement_bins
    return {
        "measure": one.combination.measure,
        "scale": one.combination.scale,
        "satisfied": one.satisfaction_bins.satisfied.rows(),
        "agree": agreed.agree.rows(),
        "cannot_tell": agreed.cannot_tell.rows(),
        "disagree": agreed.disagree.rows(),
        "tied": agreed.tied,
    }


def _provenance(arguments: argparse.Namespace) -> dict[str, Any]:
    from adjudge.model.provenance import Provenance

    files = [*arguments.answers, *filter(None, [arguments.questions, arguments.judgments])]
    settings = Provenance().with_settings(command=command_line(), seed=arguments.seed)
    return with_inputs(settings, files).to_dict()


def _summary(learnt: Learnt) -> Section:
    """One table: what the terminal shows."""
    from adjudge.reports.document import Column, Paragraph, Section, TableBlock

    with_priors = any(one.noticed is not None for one in learnt.combinations)
    names = ["noticed from", "P(Sat | 0)", "P(Sat | ½)", "P(Sat | 1)", "bias", "to P(Agr = 1)", "to P(Agr = -1)",
             "unseen agreement", "unseen satisfaction"]  # fmt: skip
    columns = [Column("measure", "left"), Column("scale", "left"), *map(Column, names)]
    rows = [_cells(learnt, one, row) for one, row in zip(learnt.combinations, learnt.rows(), strict=True)]
    if with_priors:
        columns.append(Column("comparisons noticed"))
        shares = [str(one.noticed.share) if one.noticed else "–" for one in learnt.combinations]
        rows = [(*row, share) for row, share in zip(rows, shares, strict=True)]
    text = str(learnt).split("\n", 1)[0] + "."
    table = TableBlock("fit", "* not distinguishable from the best", tuple(columns), tuple(rows), learnt.rows())
    return Section("fit", "What effectiveness means to users", (Paragraph(text), table))


def _cells(learnt: Learnt, one: Any, row: dict[str, Any]) -> tuple[str, ...]:
    ends = [f"{row[name]:.2f}" for name in ("p_sat_0", "p_sat_05", "p_sat_1")]
    distances = [one.endpoints.bias, one.endpoints.positive, one.endpoints.negative]
    unseen = [
        f"{row[f'{name}_log_likelihood']:.4f}{'*' if row[f'{name}_among_best'] else ' '}"
        for name in ("agreement", "satisfaction")
    ]
    shown = ["–" if value.value != value.value else f"{value.value:.3f}" for value in distances]
    return (one.combination.measure, one.combination.scale, str(one.noticeable), *ends, *shown, *unseen)
