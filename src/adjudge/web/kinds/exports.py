"""Files that leave the server: their names and types, and tables that no spreadsheet takes for a program."""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select
from sqlalchemy.engine import RowMapping

from adjudge.errors import shown
from adjudge.web.errors import Refused
from adjudge.web.kinds.base import kind_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign

if TYPE_CHECKING:
    import polars as pl

    from adjudge.reporting.document import Report

_SUFFIXES = {"trec": "txt", "markdown": "md", "latex": "tex"}
_TYPES = {
    "trec": "text/plain; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "groups": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "latex": "text/x-tex; charset=utf-8",
    "zip": "application/zip",
}
_FORMULA = re.compile(r"^[=+\-@\t\r]")


@dataclass(frozen=True)
class Exported:
    """A file to be written or sent."""

    name: str
    media_type: str
    data: bytes


def export_file(campaign: Campaign, what: str, form: str, data: bytes) -> Exported:
    """The file of an export, called after its campaign."""
    return Exported(f"{campaign.name}-{what}.{_SUFFIXES.get(form, form)}", _TYPES[form], data)


def written(write: Callable[[Path], None], suffix: str) -> bytes:
    """What a function writes into a file of that suffix."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export.{suffix}"
        write(path)
        return path.read_bytes()


def plain_table(frame: pl.DataFrame, form: str) -> bytes:
    """A table as csv, tsv, parquet or json."""
    buffer = io.BytesIO()
    if form == "parquet":
        frame.write_parquet(buffer)
    elif form == "json":
        return json.dumps(frame.to_dicts(), ensure_ascii=False, indent=1).encode() + b"\n"
    else:
        frame.write_csv(buffer, separator="\t" if form == "tsv" else ",")
    return buffer.getvalue()


def answer_log(
    connection: Connection,
    campaign: Campaign,
    schema: Mapping[str, Any],
    row_of: Callable[[RowMapping], Mapping[str, Any]],
    *,
    form: str,
) -> bytes:
    """Every answer as it was stored, oldest first, with times in ISO 8601 (UTC), in the columns of ``schema``.

    ``row_of`` gives those that only one kind of campaign has; it gets the answer, query and document of its pair, and
    of its participant the code and why they are excluded. As CSV, text that a spreadsheet would take for a formula
    gets an apostrophe.
    """
    import polars as pl

    columns = (t.answer, t.pair.c.query, t.pair.c.document, t.participant.c.code, t.participant.c.set_aside_why)
    rows = connection.execute(
        select(*columns)
        .join(t.pair, t.pair.c.id == t.answer.c.pair_id)
        .join(t.participant, t.participant.c.id == t.answer.c.participant_id)
        .where(t.answer.c.campaign_id == campaign.id)
        .order_by(t.answer.c.id)
    ).mappings()
    known = [{**_stored(row), **row_of(row)} for row in rows]
    frame = pl.DataFrame([tuple(row[name] for name in schema) for row in known], schema=dict(schema), orient="row")
    if form == "csv":
        frame = harmless(frame, [name for name, dtype in schema.items() if dtype == pl.String])
    return plain_table(frame, form)


def _stored(row: RowMapping) -> dict[str, Any]:
    """What every answer has, whatever was asked."""
    named = {"answer": row["id"], "at": iso(row["created_at"]), "set_aside": row["set_aside_why"]}
    plain = ("kind", "query", "document", "reason", "comment", "took_ms", "late", "corrects", "key", "sha256")
    return {**named, "lease": row["lease_id"], **{name: row[name] for name in plain}}


def harmless(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Put an apostrophe before what a spreadsheet would calculate."""
    import polars as pl

    return frame.with_columns(
        pl.when(pl.col(name).str.contains(_FORMULA.pattern))
        .then("'" + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name in columns
    )


def iso(seconds: float) -> str:
    """A time as people and programs read it.

    >>> iso(0.25)
    '1970-01-01T00:00:00.250+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def forms_of(campaign: Campaign, what: str) -> tuple[str, ...]:
    """The forms in which something can be exported, the usual one first; refused where it cannot."""
    exports = kind_of(campaign).exports
    if what not in exports:
        raise Refused(
            f"Expected one of {', '.join(exports)} to export of a {campaign.kind} campaign, got {shown(what)}"
        )
    return exports[what]


def export(
    connection: Connection,
    campaign: Campaign,
    what: str,
    *,
    form: str | None = None,
    address: str | None = None,
    **options: str | bool | None,
) -> Exported:
    """Anything that can be exported of a campaign, by name; ``options`` are those of its kind, None for the usual.

    A report leads back to the campaign, where the server's ``address`` is given.
    """
    forms, kind = forms_of(campaign, what), kind_of(campaign)
    used = form or forms[0]
    if used not in forms:
        raise Refused(f"The {what} can be had as {', '.join(forms)}, not as {shown(used)}.")
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    for name, value in given.items():
        if name not in kind.export_options:
            raise Refused(f"Exports of a {campaign.kind} campaign take no {name}, got {shown(value)}.")
        if kind.export_options[name] != what:
            raise Refused(f"Expected a {name} for {kind.export_options[name]} only, got {shown(value)} for {what}.")
    if address is not None:
        given["address"] = address
    return kind.export(connection, campaign, what, form=used, options=given)


def report_bytes(report: Report, campaign: Campaign, form: str, options: Mapping[str, Any]) -> bytes:
    """A report with a link back to its campaign, where the address is known; in LaTeX a document that compiles."""
    from adjudge.reporting.render import render

    if "address" in options:
        home = (f"Campaign {campaign.name}", f"{options['address'].rstrip('/')}/campaigns/{campaign.name}")
        report = replace(report, home=home)
    return render(report, form, standalone=True).encode()
