"""``adjudge estimate``: rank systems with few judgments, or none, and say how sure that is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.checks import CONFIDENCE, NOT_NEGATIVE, POSITIVE
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
  adjudge estimate runs --judgments so-far.csv --scale fine -m CG@5 --audit 0.1
  adjudge estimate runs --judgments so-far.csv --opinions llm.txt --scale 0..3 -m nDCG@10 -o estimate.html
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--confidence", type=CONFIDENCE, default=0.95)
    parser.add_argument(
        "--history", action="store_true", help="follow confidence through the judgments in the order of their file"
    )
    parser.add_argument("--cost-judgment", type=NOT_NEGATIVE, default=1.0, metavar="C", help="cost of a judgment")
    parser.add_argument("--cost-query", type=NOT_NEGATIVE, default=0.0, metavar="C", help="cost of a query")
    parser.add_argument(
        "--budget", type=POSITIVE, metavar="C", help="what may be spent next (default: a quarter of what was spent)"
    )


@command(add_runs, add_judging, _add_options, add_pages, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Expected effectiveness of every system, confidence in their order, and whether judging can stop."""
    from dataclasses import asdict

    from adjudge.relevance import next_steps
    from adjudge.relevance.report import audit_section, estimate_section
    from adjudge.stats.gtheory.plan import Costs

    check_output(arguments, forms=PAGE_FORMS)
    costs = Costs(arguments.cost_judgment, arguments.cost_query)
    judging, collection = open_session(arguments)
    steps = next_steps(judging, costs=costs, budget=arguments.budget)
    history = _history(judging, collection) if arguments.history else []
    provenance = collection.provenance.with_settings(command=command_line(), seed=arguments.seed).to_dict()
    ranking = [asdict(row) for row in judging.ranking(confidence=arguments.confidence)]
    values = {
        "ranking": ranking,
        "pairs": [asdict(pair) for pair in judging.pairs(confidence=arguments.confidence)],
        "status": asdict(judging.status()),
        "next_steps": steps.to_dicts(),
        "assessors": judging.assessors.to_dicts(),
        "history": [{"n_judged": n, "mean_confidence": value} for n, value in history],
        "measure": judging.scoring.measure,
        "estimator": judging.estimator,
        "notes": judging.candidates.notes,
        "provenance": provenance,
    }
    sections = [estimate_section(judging, confidence=arguments.confidence, history=history, steps=steps)]
    if judging.audit_share:
        audit = judging.audit(confidence=arguments.confidence)
        values["audit"] = audit.to_dict()
        sections.append(audit_section(audit))
    rows = [{**row, "tied": ";".join(row["tied"])} for row in ranking]
    title = f"{judging.scoring.measure} of {judging.candidates.n_systems} systems, estimated"
    notes = judging.candidates.notes
    show_report(arguments, sections, title=title, provenance=provenance, values=values, records=rows, notes=notes)


def _history(judging: Session, collection: Collection) -> list[tuple[int, float]]:
    """Confidence after each twentieth of the judgments, as they stand in their file."""
    from adjudge.relevance import Session

    judgments = collection.judgments
    if judgments is None or not len(judgments):
        return []
    known = judging.candidates
    answered, given = set(known.queries), {name for _, name in judging.model.answers}
    queries, documents = judgments.queries.decode(judgments.query), judgments.documents.decode(judgments.document)
    names = [""] * len(judgments)
    if judgments.assessor is not None and given != {""}:
        names = [judgments.assessors[who] for who in judgments.assessor]
    rows = zip(queries, documents, names, strict=True)
    order = list(dict.fromkeys((known.find(q, d), name) for q, d, name in rows if q in answered))
    found = []
    for n in sorted({*range(0, len(order), max(1, len(order) // 20)), len(order)}):
        then = Session(
            known.with_answers({answer: judging.model.answers[answer] for answer in order[:n]}),
            judging.scoring.measure,
            estimator=judging.estimator,
            rule=judging.rule,
            goal=judging.goal,
            per_pair=judging.per_pair,
        )
        found.append((then.view.n_judged, then.view.mean_confidence))
    return found
