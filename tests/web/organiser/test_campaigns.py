"""The organisers' pages in process: the login, the list, the form of a campaign, its set-up."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.web.conftest import ON_BOTH
from tests.web.organiser.visiting import PASSWORD, RUNS, Visitor, answer, invitation_of, join, new_campaign

from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.lifecycle import list_campaigns
from adjudge.web.store.campaigns import find_campaign
from adjudge.web.store.database import Database


def test_a_new_server_says_how_to_make_its_first_organiser(visitor: Visitor) -> None:
    visitor.get("/")
    assert "adjudge campaign user add LOGIN" in visitor.words
    assert "<form" not in visitor.page  # nobody registers by themselves


def test_who_is_not_logged_in_is_led_to_the_login_and_back(carla: Visitor) -> None:
    carla.client.cookies.clear()
    carla.get("/account")
    assert "/login?next=/account" in carla.address
    carla.log_in("carla", after="/account")
    assert carla.address.endswith("/account")
    assert "Account of carla" in carla.words


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
def test_the_login_leads_to_no_other_site(carla: Visitor, elsewhere: str) -> None:
    carla.client.cookies.clear()
    carla.get("/login")
    carla.send("/login", login="carla", password=PASSWORD, next=elsewhere)
    assert carla.address == "http://127.0.0.1:8000/"


def test_a_wrong_password_is_refused_in_words_that_tell_nothing(carla: Visitor) -> None:
    carla.client.cookies.clear()
    carla.log_in("carla", "wrong")
    wrong = (carla.status, re.sub(r"value=\S+", "", carla.page))
    carla.log_in("nobody", "wrong")
    assert (carla.status, re.sub(r"value=\S+", "", carla.page)) == wrong
    assert carla.status == 401
    assert "There is no such login, or its password is another one." in carla.words
    carla.get("/account")
    assert "/login" in carla.address


def test_too_many_wrong_passwords_have_to_wait(carla: Visitor) -> None:
    carla.client.cookies.clear()
    carla.get("/login")
    for _ in range(20):
        carla.send("/login", login="carla", password="wrong", next="/")
        if carla.status == 429:
            break
    assert carla.status == 429
    assert "again" in carla.words


def test_a_login_form_of_another_site_does_not_log_in(carla: Visitor) -> None:
    carla.client.cookies.clear()
    carla.send("/login", csrf="made-up", login="carla", password=PASSWORD, next="/")
    assert carla.status == 403
    assert "adjudge_organiser" not in carla.client.cookies


def test_logging_out_ends_the_login(carla: Visitor) -> None:
    kept = dict(carla.client.cookies)
    carla.get("/")
    carla.send("/logout")
    assert "You are logged out." in carla.words
    carla.client.cookies.update(kept)
    carla.get("/account")
    assert "/login" in carla.address


def test_an_empty_list_tells_how_to_begin(carla: Visitor) -> None:
    carla.get("/")
    assert "Create the first campaign" in carla.words
    assert "adjudge campaign create" in carla.words


def test_a_campaign_is_made_as_it_was_filled_in(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    assert carla.address.startswith("http://127.0.0.1:8000/campaigns/spring/set-up")
    with database.read() as connection:
        made = find_campaign(connection, "spring")
    settings = made.settings_as(JudgingSettings)
    assert made.state == "draft"
    assert [scale.name for scale in settings.scales] == ["fine"]
    assert (settings.goal.kind, settings.goal.level, settings.goal.zone) == ("tau", 0.8, 0.02)
    assert (settings.judged_by, settings.agreement_share, settings.repeat_share) == (3, 0.25, 0.1)
    assert settings.languages == ("en", "de")
    assert settings.instructions == {"en": "Listen **well**."}
    assert settings.consent == {}


def test_a_second_campaign_of_the_same_name_is_refused_and_nothing_written_is_lost(carla: Visitor) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign(title="Another", instructions_en="Long & careful <words>"))
    assert carla.status == 409
    assert "There is a campaign called 'spring' already." in carla.words
    assert 'value="Another"' in carla.page
    assert "Long &amp; careful &lt;words&gt;</textarea>" in carla.page


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "No Spaces"}, "lower-case letters"),
        ({"measure": "QQ@5"}, "QQ"),
        ({"title": ""}, "Title:"),
        ({"judged_by": "1.5"}, "whole number"),
        ({"judged_by": "many"}, "Expected a number as ‘Assessors for a pair’"),
        ({"goal": "tau", "level_tau": "1.5"}, "level"),
        ({"goal": "luck"}, "expected one of"),
        ({"agreement_share": "0"}, "Pairs that several judge: expected more than 0 %, got 0 %"),
        ({"scales": "own", "own_minimum": "1", "own_maximum": "4"}, "Expected a scale"),
        ({"scales": "own", "own_step": "inf"}, "Expected a number as the step"),
        ({"scales": "sevenfold"}, "Expected one of the scales"),
        ({"languages": []}, "Languages:"),
        ({"zone": "nan"}, "Expected a number"),
    ],
)
def test_a_field_that_is_wrong_is_named_and_nothing_is_stored(
    carla: Visitor, database: Database, wrong: dict[str, Any], said: str
) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign(**wrong))
    assert carla.status == 422
    assert said in carla.words
    with database.read() as connection:
        assert list_campaigns(connection) == []


def test_a_scale_of_ones_own_is_kept_when_other_settings_change(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign(scales="own", own_minimum="0", own_maximum="2", own_step="0.5"))
    carla.get("/campaigns/spring/settings")
    assert re.search(r'value="own"\s+checked', carla.page)
    assert 'name="own_step" value="0.5"' in carla.page
    changed = new_campaign(scales="own", own_minimum="0", own_maximum="2", own_step="0.5", title="Summer")
    carla.send("/campaigns/spring/settings", **changed)
    assert "The settings are saved." in carla.words
    with database.read() as connection:
        settings = find_campaign(connection, "spring").settings_as(JudgingSettings)
    assert settings.title == "Summer"
    assert [(scale.name, scale.step) for scale in settings.scales] == [("0..2", 0.5)]


def test_settings_that_the_form_does_not_show_stay(owner: Visitor, database: Database) -> None:
    with database.read() as connection:
        before = find_campaign(connection, "small").settings_as(JudgingSettings)
    owner.get("/campaigns/small/settings")
    owner.send("/campaigns/small/settings", **new_campaign(scales="broad+fine", measure=before.measure))
    assert owner.status == 200
    with database.read() as connection:
        after = find_campaign(connection, "small").settings_as(JudgingSettings)
    assert after.title == "Spring"
    for name in ("estimator", "rule", "seed", "scales"):
        assert getattr(after, name) == getattr(before, name)


def test_scales_cannot_change_once_there_are_answers(owner: Visitor, database: Database) -> None:
    owner.get("/campaigns/small/people")
    answer(join(owner.client, invitation_of(owner)), 1)
    owner.get("/campaigns/small/settings")
    assert "There are answers already" in owner.words
    owner.send("/campaigns/small/settings", **new_campaign(scales="binary"))
    assert owner.status == 409
    with database.read() as connection:
        assert len(find_campaign(connection, "small").settings_as(JudgingSettings).scales) == 2


def test_what_keeps_a_campaign_from_opening_is_said_on_its_set_up_page(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    carla.send("/campaigns/spring/state", state="open")
    assert carla.status == 422
    assert "no runs yet" in carla.words
    runs = [("files", ("both.txt", RUNS.encode(), "text/plain"))]
    carla.send("/campaigns/spring/set-up/runs", files=runs)
    assert "2 systems with 2 queries: 6 pairs to judge at most." in carla.words
    assert "8 of 8 documents and queries still need" in carla.words
    carla.send("/campaigns/spring/state", state="open")
    assert carla.status == 422
    assert "'q1-a'" in carla.words
    with database.read() as connection:
        assert find_campaign(connection, "spring").state == "draft"


@ON_BOTH
def test_a_campaign_is_set_up_and_opened_without_scripts(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    carla.send("/campaigns/spring/set-up/runs", files=[("files", ("both.txt", RUNS.encode(), "text/plain"))])
    texts = [("document", "text"), *((f"{q}-{d}", f"{q} {d}") for q in ("q1", "q2") for d in "abc"), ("q1", "one")]
    table = "".join(f"{document},{text}\n" for document, text in texts).encode()
    carla.send("/campaigns/spring/set-up/documents", role="document", files=[("table", ("t.csv", table, "text/csv"))])
    assert "7 taken" in carla.words
    assert "1 of 8 documents and queries still needs" in carla.words
    carla.send(
        "/campaigns/spring/set-up/documents",
        role="query",
        files=[("table", ("t.csv", b"document,text\nq2,two\n", "text/csv"))],
    )
    assert "All 8 documents and queries can be heard" in carla.words
    carla.send("/campaigns/spring/state", state="open")
    assert carla.address.startswith("http://127.0.0.1:8000/campaigns/spring")
    with database.read() as connection:
        assert find_campaign(connection, "spring").state == "open"


def test_runs_that_cannot_be_read_are_refused_with_their_line(carla: Visitor) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    broken = [("files", ("broken.txt", b"q1 Q0 a 1 2.0 s\nq1 Q0 b 2\n", "text/plain"))]
    carla.send("/campaigns/spring/set-up/runs", files=broken)
    assert carla.status == 422
    assert "broken.txt:2" in carla.words


def test_columns_of_uploaded_runs_can_be_named_on_the_page(carla: Visitor) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    table = [("files", ("odd.csv", b"who,what,grade,points\nq1,a,0,2\nq1,b,1,1\n", "text/csv"))]
    carla.send("/campaigns/spring/set-up/runs", files=table)
    assert carla.status == 422
    assert "--columns" not in carla.words
    assert "where it is a header: query=NAME,document=NAME in the field 'columns'" in carla.words
    assert "Columns, optional" in carla.words
    carla.send("/campaigns/spring/set-up/runs", files=table, columns="query=who,document=what,score=points")
    assert "1 system with 1 query: 2 pairs to judge at most." in carla.words
