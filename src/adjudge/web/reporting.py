"""The report of a campaign: the last picture, and then what ``adjudge report`` says of the judgments.

What was not judged is estimated in the first part. The other parts count it as not relevant, as any evaluation would
that knows nothing better; where something is not judged the report says so between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from adjudge.errors import kept_warnings
from adjudge.measures import evaluate
from adjudge.model.collection import Collection
from adjudge.relevance.report import estimate_section
from adjudge.relevance.session import Session
from adjudge.reporting.document import Block, Paragraph, Report, Section, TableBlock
from adjudge.tables import Heading
from adjudge.users.report import gather, make_report
from adjudge.web.answers import CurrentGrade
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Refused
from adjudge.web.holdings import candidates_of
from adjudge.web.learning import pair_grades, session_of
from adjudge.web.schema import picture, progress

_COEFFICIENTS = {"alpha": "Krippendorff's α", "fleiss": "Fleiss' κ", "cohen": "Cohen's κ"}


def campaign_report(
    connection: Connection, campaign: Campaign, *, grades: Sequence[CurrentGrade], collection: Collection
) -> Report:
    """The report about these grades; ``collection`` has them as judgments on the scale that systems are ranked on."""
    if not grades:
        raise Refused("A report needs judgments; so far there are none.")
    with kept_warnings():  # they are among the notes
        session = _session(connection, campaign, grades)
        first = [_estimate(connection, campaign, session), *_people(connection, campaign)]
        if len({grade.query for grade in grades}) < 2:
            subtitle = f"{session.scoring.measure}; judgments of one query so far."
            return Report(campaign.settings.title, subtitle, tuple(first), collection.provenance.to_dict())
        eff = evaluate(collection, [campaign.judging.measure], seed=campaign.settings.seed)
        report = make_report(gather(eff, collection=collection), title=campaign.settings.title)
    return replace(report, sections=(*first, *_between(session), *report.sections))


def _session(connection: Connection, campaign: Campaign, grades: Sequence[CurrentGrade]) -> Session:
    pool = candidates_of(connection, campaign)
    binary = session_of(pool, campaign.judging).scoring.binary
    return session_of(
        pool.judged_as(pair_grades(grades, campaign.judging.evaluated.name, binary=binary)), campaign.judging
    )


def _estimate(connection: Connection, campaign: Campaign, session: Session) -> Section:
    """The ranking as it is believed, and how it settled."""
    value = progress.c.confidence if campaign.judging.goal.kind == "everything" else progress.c.value
    points = (
        select(progress.c.judged, value).where(progress.c.campaign_id == campaign.id).order_by(progress.c.last_answer)
    )
    history = {row.judged: float(row[1]) for row in connection.execute(points)}
    section = estimate_section(session, history=sorted(history.items()))
    return replace(section, title="The ranking" if campaign.state == "closed" else section.title)


def _people(connection: Connection, campaign: Campaign) -> list[Section]:
    """Whether assessors agree, with one another and with themselves, as the last picture has it."""
    content = connection.execute(select(picture.c.content).where(picture.c.campaign_id == campaign.id)).scalar()
    if content is None or not content["assessors"]:
        return []
    blocks: list[Block] = [_agreement(name, found) for name, found in content["agreement"].items() if _known(found)]
    if not blocks:
        blocks = [Paragraph("No pair was judged by two assessors, so nothing is known of their agreement.")]
    return [Section("assessors", "Who judged, and do they agree", (*blocks, _assessors(content["assessors"])))]


def _known(found: Mapping[str, Any]) -> bool:
    return any((found.get(name) or {}).get("value") is not None for name in _COEFFICIENTS)


def _agreement(scale: str, found: Mapping[str, Any]) -> TableBlock:
    named = [(title, found.get(name) or {}) for name, title in _COEFFICIENTS.items()]
    rows = tuple((title, _number(one.get("value"), 2), _interval(one)) for title, one in named)
    records = [
        {"coefficient": title, **{key: one.get(key) for key in ("value", "low", "high")}} for title, one in named
    ]
    columns = (Heading("Coefficient", "left"), Heading("Value"), Heading("95 % interval"))
    return TableBlock(f"agreement-{scale}", f"Agreement between assessors on {scale}.", columns, rows, records)


def _assessors(people: Sequence[Mapping[str, Any]]) -> TableBlock:
    """By code only: a report goes to people who need no names."""
    names = ("code", "answers", "skips", "median_seconds", "severity")
    records = [{name: person.get(name) for name in names} for person in people]
    rows = tuple(
        (
            str(person["code"]),
            f"{person['answers']:,}",
            f"{person['skips']:,}",
            _number(person["median_seconds"], 0),
            _number(person["severity"], 1),
        )
        for person in records
    )
    columns = (
        Heading("Assessor", "left"),
        Heading("Answers"),
        Heading("Skips"),
        Heading("Seconds", about="the middle of the seconds that an answer took"),
        Heading("Severity", about="points below what others, or the model, say of the same pairs"),
    )
    return TableBlock("assessors", "Assessors by their codes.", columns, rows, records)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _interval(found: Mapping[str, Any]) -> str:
    low, high = found.get("low"), found.get("high")
    return "–" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def _between(session: Session) -> list[Section]:
    """What the reader must know before the sections that know nothing of estimates."""
    left = len(session.candidates) - session.view.n_judged
    if not left:
        return []
    many = "candidates were" if left > 1 else "candidate was"
    words = (
        f"{left:,} {many} not judged. From here on they count as not relevant, which favours systems whose documents "
        "were judged. Rank systems by the estimates above; what follows is about the judgments that there are."
    )
    return [Section("judged-only", "Counting only what is judged", (Paragraph(words),))]
