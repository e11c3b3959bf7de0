"""``adjudge estimate``: rank systems with few judgments, or none, and say how sure that is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.checks import CONFIDENCE
from adjudge.cli.command import command
from adjudge.cli.judging.options import add_judging, add_runs, open_session
from adjudge.cli.options import add_pages
from adjudge.cli.output import PAGE_FORMS, check_output, command_line, show_report

if TYPE_CHECKING:
    from adjudge.model.collection import Collection
    from adjudge.relevance.session import Session


_EXAMPLES = """examples:
  adjudge estimate runs/*.txt --scale binary -m nDCG@10
  adjudge estimate runs --judgments so-far.csv --scale fine -m CG@5 --metadata tracks.csv
  adjudge estimate runs --judgments so-far.csv --opinions llm.txt --scale 0..3 -m nDCG@10 -o estimate.html
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--confidence", type=CONFIDENCE, default=0.95)
    parser.add_argument(
        "--history", action="store_true", help="follow confidence through the judgments in the order of their file"
    )


@command(add_runs, add_judging, _add_options, add_pages, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Expected effectiveness of every system, confidence in their order, and whether judging can stop."""
    from dataclasses import asdict

    from adjudge.relevance.report import estimate_section

    check_output(arguments, forms=PAGE_FORMS)
    judging, collection = open_session(arguments)
    history = _history(judging, collection) if arguments.history else []
    provenance = collection.provenance.with_settings(command=command_line(), seed=arguments.seed).to_dict()
    ranking = [asdict(row) for row in judging.ranking(confidence=arguments.confidence)]
    values = {
        "ranking": ranking,
        "pairs": [asdict(pair) for pair in judging.pairs(confidence=arguments.confidence)],
        "status": asdict(judging.status()),
        "history": [{"n_judged": n, "mean_confidence": value} for n, value in history],
        "measure": judging.scoring.measure,
        "estimator": judging.estimator,
        "notes": judging.candidates.notes,
        "provenance": provenance,
    }
    rows = [{**row, "tied": ";".join(row["tied"])} for row in ranking]
    section = estimate_section(judging, confidence=arguments.confidence, history=history)
    title = f"{judging.scoring.measure} of {judging.candidates.n_systems} systems, estimated"
    notes = judging.candidates.notes
    show_report(arguments, (section,), title=title, provenance=provenance, values=values, records=rows, notes=notes)


def _history(judging: Session, collection: Collection) -> list[tuple[int, float]]:
    """Confidence after each twentieth of the judgments, as they stand in their file."""
    from dataclasses import replace

    from adjudge.relevance import Session

    judgments = collection.judgments
    if judgments is None or not len(judgments):
        return []
    order = dict.fromkeys(
        zip(judgments.queries.decode(judgments.query), judgments.documents.decode(judgments.document), strict=True)
    )
    known = judging.candidates
    answered = set(known.queries)
    places = [known.find(*pair) for pair in order if pair[0] in answered]
    found = []
    for n in sorted({*range(0, len(places), max(1, len(places) // 20)), len(places)}):
        relevance = known.unjudged().relevance
        relevance[places[:n]] = known.relevance[places[:n]]
        then = Session(
            replace(known, relevance=relevance),
            judging.scoring.measure,
            estimator=judging.estimator,
            rule=judging.rule,
            goal=judging.goal,
        )
        found.append((n, then.view.mean_confidence))
    return found
