"""``adjudge fit``: from what people prefer to what effectiveness means, as a mapping file."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any, get_args

from adjudge.checks import BINS, CONFIDENCE, RESAMPLES, SEED, OneOf, TieUnit
from adjudge.cli.command import command
from adjudge.cli.options import (
    add_columns,
    add_combinations,
    add_combine,
    add_figures,
    add_run_reading,
    add_styles,
    check_run_reading,
    combination_files,
    study_combinations,
)
from adjudge.cli.output import check_output, made_from, progress, show_report
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.model.collection import Collection
    from adjudge.model.judgments import Judgments
    from adjudge.model.provenance import Provenance
    from adjudge.preferences.learning import Learnt
    from adjudge.preferences.study import Study
    from adjudge.reporting.document import Section
    from adjudge.users.files import Mappings

_EXAMPLES = """examples:
  adjudge fit answers.csv -o mapping.json
  adjudge fit answers.csv -m CG@5 -m DCG@5 --on fine,broad -o mapping.json --report study.html
  adjudge fit answers.csv --combinations thesis --csv
  adjudge fit answers.csv --judgments judgments.tsv --scale fine --runs runs/*.txt -o mapping.json
then:
  adjudge compare judgments.tsv runs/*.txt --scale fine -m CG@5 --users mapping.json
"""
_REPORTS = {".html": "html", ".md": "markdown", ".tex": "latex"}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("answers", metavar="ANSWERS", nargs="+", help="files with answers")
    parser.add_argument("--questions", metavar="FILE", help="file with the questions, where answers do not have them")
    _add_learning(parser)
    group = parser.add_argument_group("grades and runs")
    group.add_argument("--judgments", metavar="FILE", help="judgments that add grades on --scale to the questions")
    group.add_argument("--scale", help="scale of --judgments: broad, fine, binary or an interval such as 0..4")
    group.add_argument("--runs", metavar="RUN", nargs="+", help="runs to see how large differences are in practice")
    group.add_argument("--judgments-format", metavar="FORMAT", help="format of the judgments (default: recognised)")
    add_combine(group)
    group.add_argument("--metadata", metavar="FILE", help="table of documents, for the artist filter of runs")
    add_run_reading(group)
    add_columns(group)
    group = parser.add_argument_group("output")
    add_styles(group, json="as JSON, with provenance", csv="as CSV", markdown="as a Markdown page")
    group.add_argument("-o", "--output", metavar="FILE", help="write the curves to a mapping file (JSON)")
    group.add_argument("--report", metavar="FILE", help="write a report: .html, .md or .tex")
    add_figures(group)


def _add_learning(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("learning")
    add_combinations(group, usual="CG and DCG at the length of the lists")
    group.add_argument("--kind", default="bounded", help="satisfaction curve: bounded, psychometric, logistic or cubic")
    group.add_argument(
        "--ties",
        choices=get_args(TieUnit),
        default="pairs",
        help="what 'both good' and 'both bad' are about: the pair, or each list on its own as in the study of 2012, "
        "which flattens P(Sat)",
    )
    group.add_argument("--form", default="two-stage", help="agreement curve")
    group.add_argument("--bins", type=BINS, default=10)
    group.add_argument("--confidence", type=CONFIDENCE, default=0.95)
    group.add_argument("--resamples", type=RESAMPLES, default=1000, help="of queries and participants")
    group.add_argument("--seed", type=SEED, default=0, help="of everything random")


@command(_add_options, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Learn what effectiveness means to users from the answers of a preference study.

    How many are satisfied with lists of some effectiveness and how many notice differences in it, for measures on
    relevance scales.
    """
    from adjudge.formats.columns import check_columns
    from adjudge.preferences.learning import learn

    _check(arguments)
    study, collection = _read(arguments)
    check_columns()
    if not study.questions.grades:
        raise AdjudgeError(f"{study.source}: has no grades of the documents; give them with --judgments and --scale")
    wanted = study_combinations(arguments, study)
    with progress("learning") as advance:
        learnt = learn(
            study,
            wanted,
            kind=arguments.kind,
            form=arguments.form,
            ties=arguments.ties,
            collection=collection,
            bins=arguments.bins,
            confidence=arguments.confidence,
            resamples=arguments.resamples,
            seed=arguments.seed,
            progress=advance,
        )
    known = None if collection is None else collection.provenance
    _show(arguments, learnt, study, made_from(_inputs(arguments), seed=arguments.seed, known=known))


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what cannot work before any work is done."""
    from adjudge.preferences.curves import KINDS
    from adjudge.users.noticing import FORMS

    for name, known in (("kind", KINDS), ("form", FORMS)):
        OneOf(tuple(known)).check(name, getattr(arguments, name))
    if arguments.runs is not None and arguments.judgments is None:
        raise AdjudgeError("expected --judgments with --runs, to know how effective these are")
    if arguments.judgments is not None and arguments.scale is None:
        raise AdjudgeError("expected --scale with --judgments, for curves hold on one scale")
    check_run_reading(arguments)
    target, report = arguments.output, arguments.report
    if target is not None and os.path.splitext(target)[1].lower() != ".json":
        raise AdjudgeError(f"{target}: expected a mapping file that ends in .json; see --report for others")
    if report is not None and os.path.splitext(report)[1].lower() not in _REPORTS:
        raise AdjudgeError(f"{report}: expected a report that ends in {', '.join(_REPORTS)}")
    for output in (target, report):
        check_output(argparse.Namespace(output=output, style="", figures=arguments.figures, runs=_inputs(arguments)))


def _inputs(arguments: argparse.Namespace) -> list[str]:
    """Everything that is read."""
    single = (arguments.questions, arguments.judgments, arguments.metadata, arguments.teams)
    return [*arguments.answers, *filter(None, single), *(arguments.runs or ()), *combination_files(arguments)]


def _read(arguments: argparse.Namespace) -> tuple[Study, Collection | None]:
    """The study, with the grades that judgments add, and the collection that runs make."""
    from adjudge.formats import read
    from adjudge.formats.reading import read_judgments
    from adjudge.preferences.files import joined_studies, read_answers, read_questions

    asked = None if arguments.questions is None else read_questions(arguments.questions)
    studies = [read_answers(path, asked) for path in arguments.answers]
    digests = [study.sha256 for study in studies]
    for place, digest in enumerate(digests):
        if (earlier := digests.index(digest)) < place:
            raise AdjudgeError(f"{studies[place].source}: has the same answers as {studies[earlier].source}")
    study = joined_studies(studies)
    if arguments.judgments is None:
        return study, None
    named = arguments.judgments_format
    if arguments.runs is None:
        judgments = read_judgments(arguments.judgments, scale=arguments.scale, format=named)
        return _graded(study, judgments.combined(arguments.combine)), None
    collection = read(
        arguments.runs,
        arguments.judgments,
        arguments.metadata,
        scale=arguments.scale,
        teams=arguments.teams,
        format=arguments.format,
        judgments_format=named,
        names=arguments.names,
        artist_filter=arguments.artist_filter,
    ).combined(arguments.combine)
    return _graded(study, collection.need_judgments()), collection


def _graded(study: Study, judgments: Judgments) -> Study:
    """The study, its questions with the grades of judgments besides those that they have."""
    from dataclasses import replace

    return replace(study, questions=study.questions.graded(judgments))


def _show(arguments: argparse.Namespace, learnt: Learnt, study: Study, made: Provenance) -> None:
    """The report and the curves into their files; the table on the terminal or in the form asked for."""
    from adjudge.preferences.report import preference_sections
    from adjudge.text import counted
    from adjudge.users.files import write_mappings

    provenance = made.to_dict()
    names = "" if len(learnt.combinations) > 1 else f": {learnt.combinations[0].combination}"
    shared: dict[str, Any] = {
        "title": f"What effectiveness means to users{names}",
        "subtitle": f"{learnt.n_answers:,} answers about {counted(learnt.n_queries, 'query')}",
        "provenance": provenance,
        "values": {
            "combinations": learnt.to_dicts(),
            "agreement": learnt.predicts_agreement.to_dicts(),
            "satisfaction": learnt.predicts_satisfaction.to_dicts(),
            "bins": [_bins(learned) for learned in learnt.combinations],
            "provenance": provenance,
        },
        "records": learnt.to_dicts(),
    }
    notes: tuple[str, ...] = ()
    if arguments.report is not None:  # before the curves: more can go wrong with it
        page = argparse.Namespace(
            output=arguments.report, style=None, figures=arguments.figures, figure_width=arguments.figure_width
        )
        show_report(page, preference_sections(learnt, study), **shared)
    if arguments.output is not None:
        write_mappings(_with_origin(learnt.mappings(), made), arguments.output)
        notes = (f"wrote {counted(len(learnt.combinations), 'combination')} to {arguments.output}",)
    figures = None if arguments.report is not None else arguments.figures
    plain = argparse.Namespace(output=None, style=arguments.style, figures=figures, figure_width=arguments.figure_width)
    whole = arguments.style == "markdown" or figures is not None
    sections = preference_sections(learnt, study) if whole else (_summary(learnt),)
    show_report(plain, sections, **shared, notes=notes)


def _bins(learned: Any) -> dict[str, Any]:
    agreed = learned.agreement_bins
    return {
        "measure": learned.combination.measure,
        "scale": learned.combination.scale,
        "satisfied": learned.satisfaction_bins.satisfied.to_dicts(),
        "agree": agreed.agree.to_dicts(),
        "cannot_tell": agreed.cannot_tell.to_dicts(),
        "disagree": agreed.disagree.to_dicts(),
        "tied": agreed.tied,
    }


def _with_origin(mappings: Mappings, made: Provenance) -> Mappings:
    """The curves, each with the command, the seed and all inputs among its facts."""
    from dataclasses import replace

    inputs = ", ".join(f"{name} {digest}" for name, digest in made.inputs)
    facts = (*((name, str(made.settings[name])) for name in ("command", "seed")), ("inputs", inputs))
    return replace(
        mappings,
        satisfaction=tuple(
            replace(mapping, provenance=(*mapping.provenance, *facts)) for mapping in mappings.satisfaction
        ),
        agreement=tuple(replace(mapping, provenance=(*mapping.provenance, *facts)) for mapping in mappings.agreement),
    )


def _summary(learnt: Learnt) -> Section:
    """One table: what the terminal shows."""
    from adjudge.reporting.document import Paragraph, Section, TableBlock
    from adjudge.tables import Heading

    with_priors = any(learned.noticed is not None for learned in learnt.combinations)
    names = ["noticed from", "P(Sat | 0)", "P(Sat | ½)", "P(Sat | 1)", "bias", "to P(Agr = 1)", "to P(Agr = -1)",
             "unseen agreement", "unseen satisfaction"]  # fmt: skip
    columns = [Heading("combination", "left"), *map(Heading, names)]  # one, so that it stands in every part of a table
    rows = [_cells(learned, row) for learned, row in zip(learnt.combinations, learnt.to_dicts(), strict=True)]
    if with_priors:
        columns.append(Heading("comparisons noticed"))
        shares = [str(learned.noticed.share) if learned.noticed else "–" for learned in learnt.combinations]
        rows = [(*row, share) for row, share in zip(rows, shares, strict=True)]
    text = f"{learnt.title}."
    table = TableBlock("fit", "* not distinguishable from the best", tuple(columns), tuple(rows), learnt.to_dicts())
    return Section("fit", "What effectiveness means to users", (Paragraph(text), table))


def _cells(learned: Any, row: dict[str, Any]) -> tuple[str, ...]:
    ends = [f"{row[name]:.2f}" for name in ("p_sat_0", "p_sat_05", "p_sat_1")]
    distances = [learned.endpoints.bias, learned.endpoints.positive, learned.endpoints.negative]
    unseen = [
        f"{row[f'{name}_log_likelihood']:.4f}{'*' if row[f'{name}_among_best'] else ' '}"
        for name in ("agreement", "satisfaction")
    ]
    shown = ["–" if value.value != value.value else f"{value.value:.3f}" for value in distances]
    return (str(learned.combination), str(learned.noticeable), *ends, *shown, *unseen)
