"""A campaign out of the server, at any moment: judgments, the log of every answer, a report, the state of the engine.

Judgments are those that stand now, corrections applied. The log is everything that was ever sent, in order. People are
called by their codes.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection
from sqlalchemy.engine import RowMapping

from adjudge.errors import AdjudgeError, shown
from adjudge.model.collection import Table
from adjudge.web.answers import CurrentGrade, current_grades
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Refused
from adjudge.web.export_files import Exported, answer_log, export_file, harmless, iso, plain_table
from adjudge.web.holdings import candidates_of, collection_of
from adjudge.web.learning import pair_grades, session_of
from adjudge.web.preference_exporting import PREFERENCE_FORMS, export_preference
from adjudge.web.ranking_exporting import RANKING_FORMS, export_ranking

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FORMS",
    "Exported",
    "export",
    "export_judgments",
    "export_log",
    "export_report",
    "export_session",
    "forms_of",
    "iso",
]

FORMS = {
    "qrels": ("trec", "csv", "tsv", "parquet", "json"),
    "log": ("csv", "parquet", "json"),
    "report": ("html", "markdown", "latex", "json"),
    "session": ("json",),
}
"""What can be had of a judging campaign, and in which forms; the first is the usual one."""


def forms_of(campaign: Campaign, what: str) -> tuple[str, ...]:
    """The forms in which something can be had of a campaign, the usual one first; refused where it cannot."""
    forms = {"preference": PREFERENCE_FORMS, "ranking": RANKING_FORMS}.get(campaign.kind, FORMS)
    if what not in forms:
        raise Refused(f"Expected one of {', '.join(forms)} to export of a {campaign.kind} campaign, got {shown(what)}")
    return forms[what]


def export(
    connection: Connection,
    campaign: Campaign,
    what: str,
    *,
    scale: str | None = None,
    per_assessor: bool = False,
    construction: str | None = None,
    form: str | None = None,
) -> Exported:
    """Anything that can be had of a campaign, by name.

    ``scale`` and ``per_assessor`` are of judgments, ``construction`` is how lists are made from rankings.
    """
    forms = forms_of(campaign, what)
    used = form or forms[0]
    if used not in forms:
        raise Refused(f"The {what} can be had as {', '.join(forms)}, not as {shown(used)}.")
    if campaign.kind != "judging" and (scale is not None or per_assessor):
        raise Refused(f"A {campaign.kind} campaign has no grades; expected no scale, and nothing by assessor.")
    if construction is not None and what != "lists":
        raise Refused(f"Expected a construction for lists only, got {shown(construction)} for {what}.")
    if campaign.kind == "ranking":
        data = export_ranking(connection, campaign, what, form=used, construction=construction)
        return export_file(campaign, what, used, data)
    if campaign.kind == "preference":
        return export_file(campaign, what, used, export_preference(connection, campaign, what, form=used))
    if what == "qrels":
        return export_judgments(connection, campaign, scale=scale, per_assessor=per_assessor, form=used)
    if what == "log":
        data = export_log(connection, campaign, form=used)
    elif what == "report":
        data = export_report(connection, campaign, form=used)
    else:
        data = export_session(connection, campaign)
    return export_file(campaign, what, used, data)


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
    names = [scale.name for scale in campaign.judging.scales]
    if name is not None and name not in names:
        raise Refused(f"The scales of the campaign are {', '.join(names)}; there is none called {shown(name)}.")
    return name or campaign.judging.evaluated.name


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
    scales = [scale.name for scale in campaign.judging.scales]
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


def export_report(connection: Connection, campaign: Campaign, *, form: str = "html") -> bytes:
    """The ranking as it is believed, and the report of ``adjudge report`` about the judgments so far."""
    from adjudge.reporting.render import render
    from adjudge.web.reporting import campaign_report

    used = campaign.judging.evaluated.name
    grades = [grade for grade in current_grades(connection, campaign.id) if used in grade.grades]
    judged = [Table(_assessor_table(grades, used), "the campaign's judgments")] if grades else []
    collection = collection_of(connection, campaign, judged)
    return render(campaign_report(connection, campaign, grades=grades, collection=collection), form).encode()


def export_session(connection: Connection, campaign: Campaign) -> bytes:
    """What ``Session.load`` resumes on the same runs: the campaign's settings and a grade for each judged pair."""
    session = session_of(candidates_of(connection, campaign), campaign.judging)
    given = current_grades(connection, campaign.id)
    grades = pair_grades(given, campaign.judging.evaluated.name, binary=session.scoring.binary)
    state = session.to_dict() | {"judgments": [[query, document, grade] for (query, document), grade in grades.items()]}
    try:
        return json.dumps(state, indent=1, ensure_ascii=False).encode() + b"\n"
    except TypeError as error:
        raise AdjudgeError(f"The state of the campaign cannot be written: {error}.") from None
