"""Judgments, log, report and session out of a campaign, at any moment and as they stand."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import insert, select, update
from tests.web.conftest import ON_BOTH

import adjudge as aj
from adjudge.relevance import Session
from adjudge.relevance.candidates import candidates
from adjudge.web.errors import Refused
from adjudge.web.kinds.exports import Exported, export
from adjudge.web.kinds.judging.settings import JudgingSettings, asked_scale
from adjudge.web.kinds.judging.store import put_runs
from adjudge.web.kinds.lifecycle import change_settings, create_campaign, set_state
from adjudge.web.store import schema as t
from adjudge.web.store.answers import append_answer
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.items import NewItem, put_items

RUNS = {"a": {"q1": ["d1", "d2"], "q2": ["d1", "d3"]}, "b": {"q1": ["d3", "d2"], "q2": ["d2", "d4"]}}
METADATA = {f"d{n}": {"artist": f"artist {n % 2}", "genre": "jazz"} for n in range(1, 7)}


@pytest.fixture
def campaign(database: Database) -> Campaign:
    """An open campaign on two scales."""
    settings = JudgingSettings.parse(
        {"title": "Songs & more", "measure": "CG@2", "estimator": "uniform", "repeat_share": 0}
    )
    items = [NewItem(name, kind="text", text=name, facts=facts) for name, facts in METADATA.items()]
    queries = [NewItem(name, "query", "text", text=name) for name in ("q1", "q2")]
    with database.write() as connection:
        made = create_campaign(connection, name="songs", settings=settings, organiser_id=None, now=1.0)
        put_runs(connection, made, aj.read(RUNS).runs, now=1.0)
        put_items(connection, made, [*items, *queries])
        return set_state(connection, made, "open", who="ann", now=2.0)


def answered(database: Database, campaign: Campaign, code: str, query: str, document: str, **more: Any) -> int:
    """Put an answer into the store; the number of it."""
    with database.write() as connection:
        who = connection.execute(select(t.participant.c.id).where(t.participant.c.code == code)).scalar_one_or_none()
        if who is None:
            person = {"code": code, "nonce": "n", "name": "Real Name", "language": "en"}
            times = {"created_at": 3.0, "seen_at": 3.0, "campaign_id": campaign.id}
            made = connection.execute(insert(t.participant).values(**person, **times).returning(t.participant.c.id))
            who = made.scalar_one()
        this = (t.pair.c.query == query) & (t.pair.c.document == document)
        found = connection.execute(select(t.pair.c.id).where(this)).scalar_one()
        values = {
            "campaign_id": campaign.id, "pair_id": found, "participant_id": who, "lease_id": None, "kind": "judgment",
            "key": f"{code}{query}{document}{len(more)}{more.get('kind')}", "heard": {"query_ms": 5, "candidate_ms": 7},
            "grades": {"broad": 1.0, "fine": 50.0}, "took_ms": 9000, "late": False, "created_at": 1e9 + 0.5, **more,
        }  # fmt: skip
        if values["kind"] == "judgment":
            counts = {"taken": t.pair.c.taken + 1, "answered": t.pair.c.answered + 1}
            connection.execute(update(t.pair).where(t.pair.c.id == found).values(**counts))
        return append_answer(connection, values)


@pytest.fixture
def judged(database: Database, campaign: Campaign) -> Campaign:
    """Two assessors, who do not agree; one thinks again, asked about the same once more, and skips something."""
    first = answered(database, campaign, "A1", "q1", "d1", grades={"broad": 2.0, "fine": 90.0})
    answered(
        database, campaign, "A1", "q1", "d1", kind="correction", corrects=first, grades={"broad": 1.0, "fine": 60.0}
    )
    answered(database, campaign, "A2", "q1", "d1", grades={"broad": 2.0, "fine": 71.0}, comment="=1+1")
    answered(database, campaign, "A2", "q2", "d1", grades={"broad": 0.0, "fine": 0.0}, comment="fine, really\n")
    answered(database, campaign, "A2", "q2", "d1", kind="repeat", grades={"broad": 1.0, "fine": 20.0})
    answered(database, campaign, "A1", "q2", "d3", kind="skip", grades={}, reason="broken", comment="-silent")
    return campaign


def out(database: Database, campaign: Campaign, what: str, **options: Any) -> Exported:
    with database.read() as connection:
        return export(connection, campaign, what, **options)


@ON_BOTH
def test_qrels_are_means_of_what_stands_now(database: Database, judged: Campaign) -> None:
    file = out(database, judged, "qrels")
    assert (file.name, file.media_type) == ("songs-qrels-fine.txt", "text/plain; charset=utf-8")
    assert file.data == b"q1 0 d1 65.5\nq2 0 d1 0\n"
    assert out(database, judged, "qrels", scale="broad").data == b"q1 0 d1 1.5\nq2 0 d1 0\n"


def test_qrels_are_read_back_in_every_form(database: Database, judged: Campaign, tmp_path: Path) -> None:
    for form in ("trec", "csv", "tsv", "parquet", "json"):
        file = out(database, judged, "qrels", form=form)
        path = tmp_path / file.name
        path.write_bytes(file.data)
        back = aj.read(RUNS, str(path), scale="fine").judgments
        assert back is not None
        assert back.to_polars().sort("query").rows() == [("q1", "d1", 65.5), ("q2", "d1", 0.0)]


def test_every_assessor_has_a_column_or_a_file(database: Database, judged: Campaign) -> None:
    table = out(database, judged, "qrels", scale="broad", per_assessor=True, form="csv")
    assert table.data.decode().splitlines() == [
        "query,document,grade,assessor", "q1,d1,1.0,A1", "q1,d1,2.0,A2", "q2,d1,0.0,A2"
    ]  # fmt: skip
    packed = out(database, judged, "qrels", scale="broad", per_assessor=True)
    assert (packed.name, packed.media_type) == ("songs-qrels-broad-by-assessor.zip", "application/zip")
    with zipfile.ZipFile(io.BytesIO(packed.data)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {
        "songs-qrels-broad-A1.txt": b"q1 0 d1 1\n",
        "songs-qrels-broad-A2.txt": b"q1 0 d1 2\nq2 0 d1 0\n",
    }


def test_an_assessor_called_like_a_formula_stays_text(database: Database, campaign: Campaign) -> None:
    answered(database, campaign, "=HYPERLINK(1)", "q1", "d1")
    table = out(database, campaign, "qrels", per_assessor=True, form="csv").data.decode()
    assert table.splitlines()[1] == "q1,d1,50.0,'=HYPERLINK(1)"
    with zipfile.ZipFile(io.BytesIO(out(database, campaign, "qrels", per_assessor=True).data)) as archive:
        assert archive.namelist() == ["songs-qrels-fine-_HYPERLINK_1_-1.txt"]


def test_nothing_judged_is_an_empty_file_not_an_error(database: Database, campaign: Campaign) -> None:
    assert out(database, campaign, "qrels").data == b""
    assert out(database, campaign, "qrels", form="csv").data == b"query,document,grade\n"
    assert json.loads(out(database, campaign, "qrels", form="json").data) == []
    assert len(out(database, campaign, "log", form="csv").data.splitlines()) == 1
    with pytest.raises(Refused, match="A report needs judgments; so far there are none"):
        out(database, campaign, "report")


@ON_BOTH
def test_the_log_has_every_answer_in_order(database: Database, judged: Campaign) -> None:
    rows = json.loads(out(database, judged, "log", form="json").data)
    assert [row["kind"] for row in rows] == ["judgment", "correction", "judgment", "judgment", "repeat", "skip"]
    assert [row["assessor"] for row in rows] == ["A1", "A1", "A2", "A2", "A2", "A1"]
    assert rows[0]["at"] == "2001-09-09T01:46:40.500+00:00"
    assert rows[1]["corrects"] == rows[0]["answer"]
    assert (rows[1]["grade_broad"], rows[5]["grade_broad"], rows[5]["reason"]) == (1.0, None, "broken")
    assert (rows[0]["query_ms"], rows[0]["candidate_ms"], rows[0]["took_ms"], rows[0]["late"]) == (5, 7, 9000, False)
    assert all(len(row["sha256"]) == 64 for row in rows)
    assert "Real Name" not in json.dumps(rows)


def test_the_log_as_csv_holds_no_formulas(database: Database, judged: Campaign) -> None:
    rows = list(csv.DictReader(io.StringIO(out(database, judged, "log").data.decode())))
    assert [row["comment"] for row in rows] == ["", "", "'=1+1", "fine, really\n", "", "'-silent"]
    table = pl.read_parquet(io.BytesIO(out(database, judged, "log", form="parquet").data))
    assert table["comment"].to_list() == [None, None, "=1+1", "fine, really\n", None, "-silent"]
    assert table["grade_fine"].to_list() == [90.0, 60.0, 71.0, 0.0, 20.0, None]


REPORTED = ("The ranking so far", "Counting only what is judged", "Overview")


def test_the_report_of_one_judged_query_is_the_estimate(database: Database, campaign: Campaign) -> None:
    answered(database, campaign, "A1", "q1", "d1")
    html = out(database, campaign, "report").data.decode()
    assert "The ranking so far" in html
    assert "judgments of one query so far" in html


@ON_BOTH
def test_the_report_is_about_the_judgments_so_far(database: Database, judged: Campaign) -> None:
    page = out(database, judged, "report")
    assert page.name == "songs-report.html"
    html = page.data.decode()
    assert "Songs &amp; more" in html
    assert html.count(">Estimated ranking.<") == 1
    assert "CG@2" in html
    first, warning, counted = (html.index(f">{title}<") for title in REPORTED)
    assert first < warning < counted  # estimates come before what counts the unjudged as not relevant
    assert json.loads(out(database, judged, "report", form="json").data)


def test_the_report_of_a_campaign_with_an_audit_has_it(database: Database, judged: Campaign) -> None:
    assert ">Audit<" not in out(database, judged, "report").data.decode()
    with database.write() as connection:
        wanted = judged.settings_as(JudgingSettings).model_copy(update={"audit": 0.1})
        audited = change_settings(connection, judged, wanted, who="ann", now=9.0)
    html = out(database, audited, "report").data.decode()
    assert ">Audit<" in html
    assert "Audit of CG@2: not contradicted after" in html
    names = re.findall(r' id="([^"]+)"', html)
    assert len(names) == len(set(names)), "a table or figure has the name of a section"


def test_a_session_is_resumed_on_the_same_files(database: Database, judged: Campaign, tmp_path: Path) -> None:
    file = out(database, judged, "session")
    (tmp_path / "session.json").write_bytes(file.data)
    pool = candidates(aj.read(RUNS, metadata=METADATA), cutoff=2, scale=aj.model.FINE)
    session = Session.load(tmp_path / "session.json", pool)
    assert session.judgments == [("q1", "d1", 65.5), ("q2", "d1", 0.0)]
    assert (session.estimator, session.scoring.measure) == ("uniform", "CG@2")


@pytest.mark.parametrize("estimator", ["uniform", "hierarchical"])
def test_a_session_of_a_binary_measure_has_what_most_assessors_said_or_what_each_of_them_did(
    database: Database, campaign: Campaign, tmp_path: Path, estimator: str
) -> None:
    binary = JudgingSettings.parse(
        {"title": "Songs", "scales": [asked_scale("binary")], "measure": "P@2", "estimator": estimator}
    )
    with database.write() as connection:
        asked = change_settings(connection, campaign, binary, who="ann", now=3.0)
    for code, grade in (("A1", 1.0), ("A2", 0.0), ("A3", 1.0)):
        answered(database, asked, code, "q1", "d1", grades={"binary": grade})
    (tmp_path / "session.json").write_bytes(out(database, asked, "session").data)
    pool = candidates(aj.read(RUNS, metadata=METADATA), cutoff=2, scale=aj.model.BINARY)
    each = [("q1", "d1", 1.0, "A1"), ("q1", "d1", 0.0, "A2"), ("q1", "d1", 1.0, "A3")]
    judgments = Session.load(tmp_path / "session.json", pool).judgments
    assert judgments == ([("q1", "d1", 1.0)] if estimator == "uniform" else each)


def test_what_is_not_there_to_be_had_is_refused(database: Database, campaign: Campaign) -> None:
    for options, message in (
        ({"what": "people"}, "Expected one of qrels, log, report, session"),
        ({"what": "log", "form": "trec"}, "The log can be had as csv, parquet, json"),
        ({"what": "qrels", "scale": "loud"}, "scales of the campaign are broad, fine"),
    ):
        with pytest.raises(Refused, match=message):
            out(database, campaign, **options)
