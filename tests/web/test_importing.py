"""Judgments made elsewhere into a campaign: all of a file or nothing, once however often."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import insert, select

import adjudge as aj
from adjudge.errors import InputError
from adjudge.formats import Source
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import ImportSummary, current_grades, import_judgments, put_runs
from adjudge.web.kinds.lifecycle import create_campaign
from adjudge.web.kinds.verify import verify
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.items import NewItem, put_items

RUNS = {"a": {"q1": ["d1", "d2"]}, "b": {"q1": ["d3", "d2"]}}


@pytest.fixture
def campaign(database: Database) -> Campaign:
    """A draft on two scales that could open."""
    settings = JudgingSettings.parse({"title": "Songs", "measure": "CG@2"})
    items = [NewItem(name, kind="text", text=name) for name in ("d1", "d2", "d3")]
    with database.write() as connection:
        made = create_campaign(connection, name="songs", settings=settings, organiser_id=None, now=1.0)
        put_runs(connection, made, aj.read(RUNS).runs, now=1.0)
        put_items(connection, made, [*items, NewItem("q1", "query", "text", text="q")])
    return made


def take(database: Database, campaign: Campaign, text: str, *, name: str = "file.csv", **options: Any) -> ImportSummary:
    with database.write() as connection:
        return import_judgments(connection, campaign, Source(name, text.encode()), now=5.0, **options)


def grades(database: Database, campaign: Campaign) -> dict[tuple[str, str], dict[str, float]]:
    with database.read() as connection:
        return {(row.assessor, row.document): row.grades for row in current_grades(connection, campaign.id)}


def counts(database: Database) -> dict[str, tuple[int, int]]:
    with database.read() as connection:
        return {row.document: (row.taken, row.answered) for row in connection.execute(select(t.pair))}


FINE = "query,document,grade,assessor\nq1,d1,80,ann\nq1,d2,10,ann\nq1,d1,60,bob\n"


def test_judgments_become_answers_of_their_assessors(
    database: Database, settings: Settings, campaign: Campaign
) -> None:
    imported = take(database, campaign, FINE, scale="fine")
    assert imported == ImportSummary(3, 0, (), ("ann", "bob"))
    assert grades(database, campaign) == {
        ("ann", "d1"): {"fine": 80.0},
        ("ann", "d2"): {"fine": 10.0},
        ("bob", "d1"): {"fine": 60.0},
    }
    assert counts(database) == {"d1": (2, 2), "d2": (1, 1), "d3": (0, 0)}
    with database.read() as connection:
        assert connection.execute(select(t.answer.c.kind).distinct()).scalars().all() == ["import"]
    assert settings.secret
    assert verify(database, settings) == []


def test_the_same_file_again_adds_nothing(database: Database, campaign: Campaign) -> None:
    take(database, campaign, FINE, scale="fine")
    assert take(database, campaign, FINE, scale="fine") == ImportSummary(0, 3, (), ("ann", "bob"))
    with database.read() as connection:
        assert len(connection.execute(select(t.answer.c.id)).all()) == 3


def test_a_second_scale_joins_the_first(database: Database, settings: Settings, campaign: Campaign) -> None:
    take(database, campaign, FINE, scale="fine")
    broad = "q1 0 d1 2\n"
    assert take(database, campaign, "query,document,grade,assessor\nq1,d1,2,ann\n", scale="broad").taken == 1
    assert take(database, campaign, broad, scale="broad", name="qrels.txt").assessors == ("import",)
    found = grades(database, campaign)
    assert found["ann", "d1"] == {"fine": 80.0, "broad": 2.0}
    assert found["import", "d1"] == {"broad": 2.0}
    assert counts(database)["d1"] == (3, 3)
    assert settings.secret
    assert verify(database, settings) == []


def test_another_file_corrects(database: Database, campaign: Campaign) -> None:
    take(database, campaign, FINE, scale="fine")
    assert take(database, campaign, FINE.replace("80", "85"), scale="fine") == ImportSummary(1, 2, (), ("ann", "bob"))
    assert grades(database, campaign)["ann", "d1"] == {"fine": 85.0}
    assert take(database, campaign, FINE, scale="fine").taken == 0, "what was superseded does not come back"


def test_nobody_who_was_invited_is_taken_for_an_assessor(database: Database, campaign: Campaign) -> None:
    with database.write() as connection:
        number = connection.execute(
            insert(t.invitation)
            .values(campaign_id=campaign.id, nonce="n", label="", created_at=1.0)
            .returning(t.invitation.c.id)
        ).scalar_one()
        values = {"campaign_id": campaign.id, "nonce": "n", "language": "en", "created_at": 1.0, "seen_at": 1.0}
        connection.execute(insert(t.participant).values(code="ann", invitation_id=number, **values))
    assert take(database, campaign, FINE, scale="fine").assessors == ("import-ann", "bob")
    assert take(database, campaign, FINE, scale="fine").taken == 0


def nothing_came(database: Database) -> bool:
    with database.read() as connection:
        rows = [connection.execute(select(table)).first() for table in (t.answer, t.participant, t.pair)]
    return rows == [None, None, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,document,grade\nq1,d1,80\nq1,d2,101\n", r"file\.csv:3: Scale fine: expected a grade from 0 to 100"),
        ("query,document,grade\nq1,d1,80.5\n", r"file\.csv:2: Scale fine: .* in steps of 1, got 80\.5"),
        ("query,document,grade\nq1,d1,80\n\nq1,d9,8\n", r"file\.csv:4: expected candidates .* 'd9' of query 'q1'"),
        ("query,document,grade\nq1,d1,80\nq1,d1,81\n", r"file\.csv:3: expected one grade .* got 80 and 81"),
        ("query,document,grade\nq1,d1,loud\n", r"file\.csv:2: expected a finite number as grade"),
        ("nothing", r"file\.csv: expected judgments in a known format"),
    ],
)
def test_a_file_with_one_bad_line_is_refused_whole(
    database: Database, campaign: Campaign, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        take(database, campaign, text, scale="fine")
    assert nothing_came(database)


def test_pairs_that_nobody_asks_about_can_be_left_out(database: Database, campaign: Campaign) -> None:
    text = "query,document,grade\nq1,d1,80\nq1,d9,8\nq7,d1,8\n"
    imported = take(database, campaign, text, scale="fine", skip_unknown=True)
    assert imported.taken == 1
    assert [tuple(one) for one in imported.unknown] == [("q1", "d9"), ("q7", "d1")]


def test_the_scale_must_be_said_where_there_are_several(database: Database, campaign: Campaign) -> None:
    for scale in (None, "loud"):
        with pytest.raises(Refused, match="Expected the scale of the judgments, one of broad, fine"):
            take(database, campaign, FINE, scale=scale)


def test_runs_stay_once_judgments_were_imported(database: Database, campaign: Campaign) -> None:
    take(database, campaign, FINE, scale="fine")
    with database.write() as connection, pytest.raises(Conflict, match="once there are judgments"):
        put_runs(connection, campaign, aj.read(RUNS).runs, now=1.0)


def test_a_draft_that_cannot_open_takes_no_judgments(database: Database) -> None:
    settings = JudgingSettings.parse({"title": "Songs", "measure": "CG@2"})
    with database.write() as connection:
        made = create_campaign(connection, name="bare", settings=settings, organiser_id=None, now=1.0)
        put_runs(connection, made, aj.read(RUNS).runs, now=1.0)
    with pytest.raises(Refused, match="4 cannot, first 'd1'"):
        take(database, made, FINE, scale="fine")
