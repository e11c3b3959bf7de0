"""Exports of a judging campaign, at any moment: judgments, the log of every answer, a report, the state of the engine.

Judgments are those that stand now, corrections applied. The log is everything that was ever sent, in order. People are
called by their codes.

The report is the last snapshot of the dashboard, followed by what ``adjudge report`` says of the judgments. Its first
part estimates what was not judged; the other parts count it as not relevant, as any evaluation does that knows nothing
better, and the report says so.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select
from sqlalchemy.engine import RowMapping

from adjudge.errors import AdjudgeError, kept_warnings, shown
from adjudge.measures import evaluate
from adjudge.model.collection import Collection, Table
from adjudge.relevance.report import audit_section, estimate_section
from adjudge.relevance.session import Session
from adjudge.relevance.worth import next_steps
from adjudge.reporting.document import Block, Paragraph, Report, Section, TableBlock
from adjudge.tables import Heading
from adjudge.users.report import gather, make_report
from adjudge.web.errors import Refused
from adjudge.web.kinds.exports import Exported, answer_log, export_file, harmless, plain_table, report_bytes
from adjudge.web.kinds.judging.session import judgments_of, pair_grades, session_after, session_of
from adjudge.web.kinds.judging.settings import settings_of
from adjudge.web.kinds.judging.store import CurrentGrade, candidates_of, collection_of, current_grades
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign

if TYPE_CHECKING:
    import polars as pl

_COEFFICIENTS = {"alpha": "Krippendorff's α", "fleiss": "Fleiss' κ", "cohen": "Cohen's κ"}


def campaign_report(
    connection: Connection, campaign: Campaign, *, grades: Sequence[CurrentGrade], collection: Collection
) -> Report:
    """The report about these grades; ``collection`` has them as judgments on the scale that systems are ranked on."""
    if not grades:
        raise Refused("A report needs judgments; so far there are none.")
    with kept_warnings():  # they are among the notes
        session = _session(connection, campaign, grades)
        audited = [audit_section(session.audit())] if session.audit_share else []
        first = [_estimate(connection, campaign, session), *audited, *_people(connection, campaign)]
        if len({grade.query for grade in grades}) < 2:
            subtitle = f"{session.scoring.measure}; judgments of one query so far."
            return Report(campaign.settings.title, subtitle, tuple(first), collection.provenance.to_dict())
        eff = evaluate(collection, [settings_of(campaign).measure], seed=campaign.settings.seed)
        report = make_report(gather(eff, collection=collection), title=campaign.settings.title)
    between = _between(session)
    lead = () if between else report.lead  # with documents that nobody judged, the estimate is the answer
    rest = (section for section in report.sections if section.name != "effort")  # the estimate, which comes first
    return replace(report, sections=(*first, *between, *rest), lead=lead)


def _session(connection: Connection, campaign: Campaign, grades: Sequence[CurrentGrade]) -> Session:
    pool, settings = candidates_of(connection, campaign), settings_of(campaign)
    judged = judgments_of(grades, settings.evaluated.name, session_of(pool, settings))
    return session_after(pool, settings, judged)


def _estimate(connection: Connection, campaign: Campaign, session: Session) -> Section:
    """The ranking as it is believed, and how it settled."""
    value = t.progress.c.confidence if settings_of(campaign).goal.kind == "everything" else t.progress.c.value
    points = (
        select(t.progress.c.judged, value)
        .where(t.progress.c.campaign_id == campaign.id)
        .order_by(t.progress.c.last_answer)
    )
    history = {row.judged: float(row[1]) for row in connection.execute(points)}
    section = estimate_section(session, history=sorted(history.items()), steps=next_steps(session))
    return replace(section, title="The ranking" if campaign.state == "closed" else section.title)


def _people(connection: Connection, campaign: Campaign) -> list[Section]:
    """Whether assessors agree, with one another and with themselves, as the last snapshot has it."""
    content = connection.execute(select(t.picture.c.content).where(t.picture.c.campaign_id == campaign.id)).scalar()
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
    rows = tuple((title, _number(coefficient.get("value"), 2), _interval(coefficient)) for title, coefficient in named)
    records = [
        {"coefficient": title, **{key: coefficient.get(key) for key in ("value", "low", "high")}}
        for title, coefficient in named
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
        Heading("Seconds", about="median seconds per answer"),
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


FORMS = {
    "qrels": ("trec", "csv", "tsv", "parquet", "json"),
    "log": ("csv", "parquet", "json"),
    "report": ("html", "markdown", "latex", "json"),
    "session": ("json",),
}
"""What can be had of a judging campaign, and in which forms; the first is the usual one."""


def export(connection: Connection, campaign: Campaign, what: str, *, form: str, options: Mapping[str, Any]) -> Exported:
    """One of :data:`FORMS` as a file; ``scale`` and ``per_assessor`` are options of judgments."""
    if what == "qrels":
        scale, per_assessor = options.get("scale"), bool(options.get("per_assessor"))
        return export_judgments(connection, campaign, scale=scale, per_assessor=per_assessor, form=form)
    if what == "log":
        data = export_log(connection, campaign, form=form)
    elif what == "report":
        data = export_report(connection, campaign, form=form, options=options)
    else:
        data = export_session(connection, campaign)
    return export_file(campaign, what, form, data)


def export_judgments(
    connection: Connection, campaign: Campaign, *, scale: str | None, per_assessor: bool, form: str
) -> Exported:
    """The grades on one scale: one a pair, the mean over its assessors, or one for each assessor.

    TREC's format has no place for assessors; there, each has a file of their own in a zip.
    """
    used = _scale(campaign, scale)
    grades = [grade for grade in current_grades(connection, campaign.id) if used in grade.grades]
    what = f"qrels-{used}"
    if not per_assessor:
        return export_file(campaign, what, form, _written(_mean_table(grades, used), form))
    if form != "trec":
        return export_file(campaign, f"{what}-by-assessor", form, _written(_assessor_table(grades, used), form))
    by_assessor: dict[str, list[CurrentGrade]] = defaultdict(list)
    for grade in grades:
        by_assessor[grade.assessor].append(grade)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (code, own) in enumerate(sorted(by_assessor.items()), start=1):
            plain = re.sub(r"[^A-Za-z0-9_-]", "_", code)[:60]
            name = plain if plain == code else f"{plain}-{number}"
            archive.writestr(f"{campaign.name}-{what}-{name}.txt", _written(_mean_table(own, used), form))
    return export_file(campaign, f"{what}-by-assessor", "zip", buffer.getvalue())


def _scale(campaign: Campaign, name: str | None) -> str:
    """The scale of that name, else the one that systems are ranked on."""
    names = [scale.name for scale in settings_of(campaign).scales]
    if name is not None and name not in names:
        raise Refused(f"The scales of the campaign are {', '.join(names)}; no scale is called {shown(name)}.")
    return name or settings_of(campaign).evaluated.name


def _mean_table(grades: Sequence[CurrentGrade], scale: str) -> pl.DataFrame:
    import polars as pl

    means = pair_grades(grades, scale, binary=False)
    rows = [(query, document, round(grade, 6)) for (query, document), grade in sorted(means.items())]
    return pl.DataFrame(rows, schema={"query": pl.String, "document": pl.String, "grade": pl.Float64}, orient="row")


def _assessor_table(grades: Sequence[CurrentGrade], scale: str) -> pl.DataFrame:
    import polars as pl

    columns = {"query": pl.String, "document": pl.String, "grade": pl.Float64, "assessor": pl.String}
    rows = sorted((grade.query, grade.document, grade.grades[scale], grade.assessor) for grade in grades)
    return pl.DataFrame(rows, schema=columns, orient="row")


def _written(frame: pl.DataFrame, form: str) -> bytes:
    """A table of judgments as a file; names of people never become formulas of a spreadsheet."""
    from adjudge.formats import FORMATS

    if not frame.height:
        return b"" if form == "trec" else b"[]\n" if form == "json" else plain_table(frame, form)
    if form in ("csv", "tsv") and "assessor" in frame.columns:
        frame = harmless(frame, ["assessor"])
    return FORMATS[form].write(frame, "judgments")


def export_log(connection: Connection, campaign: Campaign, *, form: str) -> bytes:
    """Every answer as it was stored, oldest first, with times in ISO 8601 (UTC); grades are in one column a scale."""
    scales = [scale.name for scale in settings_of(campaign).scales]
    return answer_log(connection, campaign, _log_schema(scales), lambda row: _log_row(row, scales), form=form)


def _log_schema(scales: Sequence[str]) -> dict[str, Any]:
    """Columns of the log and their types."""
    import polars as pl

    texts = dict.fromkeys(("at", "assessor", "kind", "query", "document"), pl.String)
    grades = {f"grade_{scale}": pl.Float64 for scale in scales}
    words = dict.fromkeys(("reason", "comment"), pl.String)
    times = dict.fromkeys(("query_ms", "candidate_ms", "took_ms"), pl.Int64)
    ends = {"late": pl.Boolean, "corrects": pl.Int64, **dict.fromkeys(("lease", "key", "sha256"), pl.String)}
    return {"answer": pl.Int64, **texts, **grades, **words, **times, **ends}


def _log_row(row: RowMapping, scales: Sequence[str]) -> dict[str, Any]:
    heard = row["heard"] or {}
    return {
        "assessor": row["code"],
        **{f"grade_{scale}": row["grades"].get(scale) for scale in scales},
        "query_ms": heard.get("query_ms"),
        "candidate_ms": heard.get("candidate_ms"),
    }


def export_report(connection: Connection, campaign: Campaign, *, form: str, options: Mapping[str, Any]) -> bytes:
    """The ranking as it is believed, and the report of ``adjudge report`` about the judgments so far."""
    used = settings_of(campaign).evaluated.name
    grades = [grade for grade in current_grades(connection, campaign.id) if used in grade.grades]
    judged = [Table(_assessor_table(grades, used), "the campaign's judgments")] if grades else []
    collection = collection_of(connection, campaign, judged)
    report = campaign_report(connection, campaign, grades=grades, collection=collection)
    return report_bytes(report, campaign, form, options)


def export_session(connection: Connection, campaign: Campaign) -> bytes:
    """What ``Session.load`` resumes on the same runs: the campaign's settings and its grades."""
    session = session_of(candidates_of(connection, campaign), settings_of(campaign))
    given = current_grades(connection, campaign.id)
    grades = judgments_of(given, settings_of(campaign).evaluated.name, session)
    judgments = [[query, document, grade, *who] for (query, document, *who), grade in grades.items()]
    state = session.to_dict() | {"judgments": judgments}
    try:
        return json.dumps(state, indent=1, ensure_ascii=False).encode() + b"\n"
    except TypeError as error:
        raise AdjudgeError(f"The state of the campaign cannot be written: {error}.") from None
