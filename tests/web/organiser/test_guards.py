"""The organisers' pages in process: whom they refuse, and what they let nobody run."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.web.conftest import ON_BOTH, SmallCampaign
from tests.web.organiser.visiting import PASSWORD, Visitor, invitation_of, join, new_campaign

from adjudge.web.kinds.lifecycle import list_campaigns
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.people import add_organiser, list_tokens

OWN_PAGES = ("", "/set-up", "/settings", "/people", "/judgments", "/report", "/people/erase?code=A1", "/pairs/1/clips")


@pytest.mark.parametrize("page", OWN_PAGES)
def test_nobody_learns_of_the_campaigns_of_others(
    carla: Visitor, small_campaign: Callable[..., SmallCampaign], page: str
) -> None:
    small_campaign("small")
    carla.get(f"/campaigns/small{page}")
    assert carla.status == 404
    assert "There is no campaign called 'small'." in carla.words
    carla.get("/")
    assert "/campaigns/small" not in carla.page


CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/campaigns/small/state", {"state": "closed"}),
    ("/campaigns/small/settings", new_campaign()),
    ("/campaigns/small/people/personal", {"names": "Mallory"}),
    ("/campaigns/small/people/open", {"cap": "5"}),
    ("/campaigns/small/people/revoke", {"invitation": "1"}),
    ("/campaigns/new", new_campaign()),
    ("/account/tokens", {"name": "Mallory"}),
    ("/account/password", {"current": PASSWORD, "new": "a longer sentence", "again": "a longer sentence"}),
    ("/logout", {}),
)


@pytest.mark.parametrize(("address", "fields"), CHANGES)
def test_a_form_that_is_not_ours_changes_nothing(
    owner: Visitor, database: Database, address: str, fields: dict[str, Any]
) -> None:
    with database.read() as connection:
        before = find_campaign(connection, "small")
    owner.send(address, csrf="made-up", **fields)
    assert owner.status == 403
    with database.read() as connection:
        assert find_campaign(connection, "small") == before
        assert len(list_campaigns(connection)) == 1
    for shown, known in (("/account", "Account of"), ("/campaigns/small/people", "Invitations")):
        owner.get(shown)
        assert known in owner.words
        assert "Mallory" not in owner.words


def test_the_preview_is_what_assessors_see_and_runs_nothing(carla: Visitor) -> None:
    carla.get("/account")
    token = re.search(r'name="csrf" content="([^"]*)"', carla.page)
    assert token is not None
    text = "**Hear** <script>alert(1)</script> [a](javascript:alert(1))"
    response = carla.client.post("/preview", json={"text": text}, headers={"X-CSRF-Token": token[1]})
    made = response.json()["html"]
    assert "<strong>Hear</strong>" in made
    assert "<script" not in made
    assert 'href="javascript' not in made


def test_titles_cannot_end_the_script_that_holds_the_picture(
    visitor: Visitor, small_campaign: Callable[..., SmallCampaign]
) -> None:
    made = small_campaign("small", title="</script><script>alert(1)</script>")
    visitor.log_in(made.login, made.password)
    visitor.get("/campaigns/small")
    assert visitor.status == 200
    assert "<script>alert" not in visitor.page


@ON_BOTH
def test_no_page_brings_scripts_or_styles_of_its_own(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    join(owner.client, invitation_of(owner), name="Ann")
    pages = ["/", "/account", "/campaigns/new", *(f"/campaigns/small{page}" for page in OWN_PAGES[:5])]
    for address in [*pages, "/campaigns/small/people/erase?code=A1"]:
        page = owner.get(address)
        assert owner.status == 200, address
        assert "<style" not in page
        assert not re.search(r"<[^>]+\s(style|on[a-z]+)=", page), address
        scripts = re.findall(r"<script([^>]*)>", page)
        assert all("src=" in script or "application/json" in script for script in scripts), address
        assert not re.search(r'(src|href)="(https?:)?//', page), address


def test_the_clips_of_a_pair_are_those_assessors_get(owner: Visitor, database: Database) -> None:
    from sqlalchemy import select

    from adjudge.web.store import schema as t

    with database.read() as connection:
        row = connection.execute(select(t.pair.c.id, t.pair.c.query, t.pair.c.document)).first()
    assert row is not None
    clips = owner.client.get(f"/campaigns/small/pairs/{row.id}/clips").json()
    assert (clips["query"]["text"], clips["candidate"]["text"]) == (row.query, row.document)
    assert owner.client.get("/campaigns/small/pairs/999999/clips").status_code == 404


def test_administrators_see_the_campaigns_of_everybody(
    visitor: Visitor, database: Database, settings: Settings, small_campaign: Callable[..., SmallCampaign]
) -> None:
    small_campaign("small")
    with database.write() as connection:
        add_organiser(connection, login="root", password=PASSWORD, is_admin=True, now=settings.clock())
    visitor.log_in("root")
    assert "The campaign small" in visitor.words
    visitor.get("/campaigns/small")
    assert visitor.status == 200


def test_tokens_of_others_cannot_be_revoked(carla: Visitor, database: Database, settings: Settings) -> None:
    from adjudge.web.store.people import make_token

    with database.write() as connection:
        bob = add_organiser(connection, login="bob", password=PASSWORD, is_admin=False, now=settings.clock())
        token, _ = make_token(connection, bob, name="his", now=settings.clock())
    carla.get("/account")
    carla.send("/account/tokens/revoke", token=str(token.id))
    assert carla.status == 404
    with database.read() as connection:
        assert list_tokens(connection, bob)[0].revoked_at is None
