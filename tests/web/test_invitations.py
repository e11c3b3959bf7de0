"""Assessors: invitations, joining, being known again."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import select, update
from tests.web.conftest import ON_SQLITE, Clock
from tests.web.people_app import (
    browser,
    invite,
    joined,
    logged_in,
    make_app,
    make_campaign,
    make_organiser,
    rows,
)

from adjudge.web.errors import Forbidden, Gone, NotFound, NotLoggedIn, Refused
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.participants import (
    Invitation,
    Participant,
    block_participant,
    change_participant,
    find_invitation,
    find_participant,
    join,
    list_invitations,
    list_participants,
    make_invitation,
    participant_of_token,
    revoke_invitation,
    still_there,
    token_of,
)


@pytest.fixture
def campaign(database: Database) -> Campaign:
    return make_campaign(database)


def come(database: Database, settings: Settings, token: str, **told: Any) -> tuple[Participant, str]:
    """Follow a link and join."""
    secret, now = settings.secret, settings.clock()
    with database.write() as connection:
        found = find_invitation(connection, token, secret=secret, now=now)
        return join(connection, found, secret=secret, now=now, **told)


def known(database: Database, settings: Settings, token: str) -> Participant:
    with database.read() as connection:
        return participant_of_token(connection, token, secret=settings.secret)


def look(database: Database, settings: Settings, token: str) -> Invitation:
    with database.read() as connection:
        return find_invitation(connection, token, secret=settings.secret, now=settings.clock())


def with_a_bit_flipped(token: str) -> list[str]:
    """Every token that differs from this one in a bit of its signature, and some that name another row."""
    number, _, signature = token.partition(".")
    raw = base64.urlsafe_b64decode(signature)
    forged = []
    for bit in range(8 * len(raw)):
        changed = bytearray(raw)
        changed[bit // 8] ^= 1 << bit % 8
        forged.append(f"{number}.{base64.urlsafe_b64encode(changed).decode()}")
    return [*forged, f"{int(number) + 1}.{signature}", f"{int(number) ^ 2}.{signature}"]


SIGNATURE = "a" * 32
STRANGE = [
    "", ".", "1", "1.", ".abc", f"0.{SIGNATURE}", f"-1.{SIGNATURE}", f"1.{SIGNATURE}a", f"١.{SIGNATURE}",
    f"1.\x00{SIGNATURE}", f"1' OR '1'='1.{SIGNATURE}", f"{'9' * 18}.{SIGNATURE}", f"{'9' * 19}.{SIGNATURE}",
    "1." + "é" * 32, f"\ud800.{SIGNATURE}",
]  # fmt: skip


def test_people_join_an_open_invitation_under_codes_of_their_own(
    database: Database, settings: Settings, campaign: Campaign
) -> None:
    link = invite(database, settings, campaign, label="the lab").token
    people = [come(database, settings, link, name=name) for name in ("Ana", None, "  ")]
    assert [person.code for person, _ in people] == ["A1", "A2", "A3"]
    assert [person.name for person, _ in people] == ["Ana", None, None]
    assert [known(database, settings, token) for _, token in people] == [person for person, _ in people]
    assert look(database, settings, link).used == 3


def test_a_personal_invitation_leads_to_the_same_person_again(
    database: Database, settings: Settings, campaign: Campaign
) -> None:
    link = invite(database, settings, campaign, cap=1).token
    first, token = come(database, settings, link, name="Ana")
    again, same_token = come(database, settings, link)
    assert (again.id, again.name, same_token) == (first.id, "Ana", token)
    assert rows(database, schema.participant) == 1


def test_an_open_invitation_ends_at_its_cap(database: Database, settings: Settings, campaign: Campaign) -> None:
    link = invite(database, settings, campaign, cap=2).token
    come(database, settings, link)
    come(database, settings, link)
    with pytest.raises(Gone, match="was for 2 people"):
        come(database, settings, link)


def test_the_cap_holds_and_codes_differ_when_fifty_people_join_at_once(
    database: Database, settings: Settings, campaign: Campaign
) -> None:
    capped, unlimited = (invite(database, settings, campaign, cap=cap).token for cap in (20, None))

    def attempt(number: int) -> str | None:
        try:
            return come(database, settings, unlimited if number % 5 == 0 else capped)[0].code
        except Gone:
            return None

    with ThreadPoolExecutor(50) as pool:
        codes = [code for code in pool.map(attempt, range(50)) if code]
    assert sorted(codes, key=lambda code: int(code[1:])) == [f"A{number}" for number in range(1, 31)]
    assert look(database, settings, unlimited).used == 10


def test_a_personal_invitation_opened_twice_at_once_makes_one_person(
    database: Database, settings: Settings, campaign: Campaign
) -> None:
    link = invite(database, settings, campaign, cap=1).token
    with ThreadPoolExecutor(10) as pool:
        people = list(pool.map(lambda _: come(database, settings, link)[0].id, range(10)))
    assert len(set(people)) == 1


@ON_SQLITE
def test_a_forged_invitation_is_not_known(database: Database, settings: Settings, campaign: Campaign) -> None:
    invitations = [invite(database, settings, campaign) for _ in range(2)]
    for token in [*with_a_bit_flipped(invitations[0].token), *STRANGE]:
        with pytest.raises(NotFound, match="not known here"):
            look(database, settings, token)


@ON_SQLITE
def test_a_forged_participant_is_nobody(database: Database, settings: Settings, campaign: Campaign) -> None:
    link = invite(database, settings, campaign).token
    tokens = [come(database, settings, link)[1] for _ in range(2)]
    for token in [*with_a_bit_flipped(tokens[0]), *STRANGE, link]:
        with pytest.raises(NotLoggedIn, match="not known here"):
            known(database, settings, token)


@ON_SQLITE
def test_the_secret_of_another_server_opens_nothing(database: Database, settings: Settings, campaign: Campaign) -> None:
    link = invite(database, settings, campaign).token
    _, token = come(database, settings, link)
    with database.read() as connection:
        with pytest.raises(NotFound):
            find_invitation(connection, link, secret=b"another", now=0.0)
        with pytest.raises(NotLoggedIn):
            participant_of_token(connection, token, secret=b"another")


def test_an_expired_invitation_lets_nobody_in_and_nobody_out(
    database: Database, settings: Settings, campaign: Campaign, clock: Clock
) -> None:
    link = invite(database, settings, campaign, expires_at=settings.clock() + 60).token
    _, token = come(database, settings, link)
    clock.turn(61)
    with pytest.raises(Gone, match="has expired"):
        come(database, settings, link)
    assert known(database, settings, token).code == "A1"


def test_a_revoked_invitation_ends_for_those_who_joined_as_well(
    database: Database, settings: Settings, campaign: Campaign
) -> None:
    found = invite(database, settings, campaign)
    _, token = come(database, settings, found.token)
    with database.write() as connection:
        revoke_invitation(connection, campaign, found.id, who="organiser 1", now=settings.clock())
    with pytest.raises(Gone, match="was withdrawn"):
        come(database, settings, found.token)
    with pytest.raises(Gone, match="was withdrawn"):
        known(database, settings, token)


def test_an_invitation_of_another_campaign_is_not_revoked(
    database: Database, settings: Settings, campaign: Campaign
) -> None:
    other = make_campaign(database, "other")
    found = invite(database, settings, other)
    with database.write() as connection, pytest.raises(NotFound, match="in this campaign"):
        revoke_invitation(connection, campaign, found.id, who="organiser 1", now=0.0)
    assert look(database, settings, found.token).revoked_at is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"cap": 0}, "1 to 1,000,000 people, got 0"),
        ({"expires_at": 5.0}, "ends in the future"),
        ({"expires_at": 1e300}, "ends before the year 10000"),
        ({"label": "a\r\nSet-Cookie: x=1"}, "control characters"),
        ({"label": "\u202eevil"}, "control characters"),
        ({"label": "a\x00"}, "control characters"),
        ({"label": "x" * 201}, "at most 200 characters, got 201"),
    ],
)
@ON_SQLITE
def test_a_strange_invitation_is_refused(
    database: Database, campaign: Campaign, options: dict[str, Any], complaint: str
) -> None:
    with database.write() as connection, pytest.raises(Refused, match=complaint):
        make_invitation(connection, campaign, secret=b"secret", now=10.0, **options)
    assert rows(database, schema.invitation) == 0


@pytest.mark.parametrize("name", ["Robert'); DROP TABLE participant;--", "<script>alert(1)</script>", "Ünal 🎵 李"])
def test_a_name_is_kept_as_it_is(database: Database, settings: Settings, campaign: Campaign, name: str) -> None:
    person, token = come(database, settings, invite(database, settings, campaign).token, name=name)
    assert person.name == name
    assert known(database, settings, token).name == name


@pytest.mark.parametrize("told", [{"name": "a\nb"}, {"name": "a\x00b"}, {"name": "\ud800"}, {"language": "fr"}])
@ON_SQLITE
def test_what_cannot_be_stored_or_read_is_refused(
    database: Database, settings: Settings, campaign: Campaign, told: dict[str, str]
) -> None:
    link = invite(database, settings, campaign).token
    with pytest.raises(Refused, match="Expected a"):
        come(database, settings, link, **told)
    assert rows(database, schema.participant) == 0


def test_consent_is_needed_where_there_is_something_to_consent_to(database: Database, settings: Settings) -> None:
    texts = {"en": "We keep your answers.", "de": "Wir behalten Ihre Antworten."}
    asking = make_campaign(database, languages=["en", "de"], consent=texts)
    link = invite(database, settings, asking, cap=1).token
    with pytest.raises(Refused, match="read and accept"):
        come(database, settings, link, language="de")
    assert rows(database, schema.participant) == 0
    person, _ = come(database, settings, link, language="de", consent=True)
    assert person.consented_at is not None
    with database.read() as connection:
        kept = connection.execute(select(schema.participant.c.consent_sha256)).scalar_one()
    assert kept == sha256(texts["de"].encode()).hexdigest()
    assert come(database, settings, link)[0].consented_at == person.consented_at  # they did so once


def test_nobody_new_joins_a_closed_campaign(database: Database, settings: Settings, campaign: Campaign) -> None:
    mine, unused = (invite(database, settings, campaign, cap=1).token for _ in range(2))
    come(database, settings, mine)
    with database.write() as connection:
        connection.execute(update(schema.campaign).values(state="closed"))
    assert come(database, settings, mine)[0].code == "A1"
    with pytest.raises(Gone, match="is closed"):
        come(database, settings, unused)


def test_who_is_blocked_stays_out_until_let_back(database: Database, settings: Settings, campaign: Campaign) -> None:
    link = invite(database, settings, campaign, cap=1).token
    person, token = come(database, settings, link)
    with database.write() as connection:
        blocked = block_participant(connection, person, blocked=True, who="organiser 1", now=5.0)
        with pytest.raises(Forbidden, match="nothing was stored"):
            still_there(connection, person)
    for attempt in (lambda: known(database, settings, token), lambda: come(database, settings, link)):
        with pytest.raises(Forbidden, match="ended your part"):
            attempt()
    with database.write() as connection:
        block_participant(connection, blocked, blocked=False, who="organiser 1", now=6.0)
    assert known(database, settings, token).blocked_at is None


def test_codes_go_on_after_those_of_imported_assessors(
    database: Database, settings: Settings, campaign: Campaign
) -> None:
    values = {"campaign_id": campaign.id, "nonce": "n", "language": "en", "created_at": 0.0, "seen_at": 0.0}
    with database.write() as connection:
        connection.execute(schema.participant.insert().values(**values, code="A7"))
        connection.execute(schema.participant.insert().values(**values, code="Anna"))
    assert come(database, settings, invite(database, settings, campaign).token)[0].code == "A8"


def test_a_participant_is_known_on_another_device_by_their_own_link(
    database: Database, settings: Settings, campaign: Campaign
) -> None:
    person, token = come(database, settings, invite(database, settings, campaign).token)
    with database.read() as connection:
        assert token_of(connection, person, secret=settings.secret) == token


def test_a_participant_changes_name_and_language(database: Database, settings: Settings) -> None:
    spoken = make_campaign(database, languages=["en", "es"])
    person, _ = come(database, settings, invite(database, settings, spoken).token, name="Ana")
    with database.write() as connection:
        assert change_participant(connection, person, language="es").name == "Ana"
        assert change_participant(connection, person, name="").name is None
        with pytest.raises(Refused, match="a language among en, es, got 'xx'"):
            change_participant(connection, person, language="xx")
        assert find_participant(connection, spoken, "A1").language == "es"


def test_lists_tell_who_came_by_what(database: Database, settings: Settings, campaign: Campaign) -> None:
    used, unused = (invite(database, settings, campaign, label=label) for label in ("used", "unused"))
    come(database, settings, used.token)
    with database.read() as connection:
        found = list_invitations(connection, campaign, secret=settings.secret)
        people = list_participants(connection, campaign)
    assert [(one.label, one.used, one.token) for one in found] == [
        ("unused", 0, unused.token),
        ("used", 1, used.token),
    ]
    assert [person.invitation_id for person in people] == [used.id]


# Over HTTP.


@ON_SQLITE
def test_joining_gives_a_cookie_a_token_and_a_link(database: Database, settings: Settings, campaign: Campaign) -> None:
    opened = browser(make_app(settings, database))
    body = {"invitation": invite(database, settings, campaign).token, "name": "Ana", "language": "en"}
    answer = opened.post("/api/join", json=body)
    assert answer.status_code == 201
    told = answer.json()
    assert told["participant"] == {"code": "A1", "name": "Ana", "language": "en", "consented_at": None}
    assert told["resume_url"] == f"{settings.address}/r/{told['token']}"
    assert "samesite=lax" in answer.headers["set-cookie"].lower()
    assert opened.post("/api/assessor", headers={"X-CSRF-Token": told["csrf"]}).json() == {"code": "A1"}
    program = browser(opened.app, headers={"Authorization": f"Bearer {told['token']}"})  # type: ignore[arg-type]
    assert program.post("/api/assessor").json() == {"code": "A1"}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"invitation": "1." + "a" * 32}, 404),
        ({"invitation": "x" * 201}, 422),
        ({"invitation": 5}, 422),
        ({"invite": "typo"}, 422),
        ({"name": "a\nb"}, 422),
        ({"name": "\x00"}, 422),
        ({"language": "xx"}, 422),
        ({"consent": "perhaps"}, 422),
    ],
)
@ON_SQLITE
def test_bad_joining_has_the_right_status_and_stores_nothing(
    database: Database, settings: Settings, campaign: Campaign, change: dict[str, Any], status: int
) -> None:
    body = {"invitation": invite(database, settings, campaign).token} | change
    answer = browser(make_app(settings, database)).post("/api/join", json=body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"].endswith(".")
    assert rows(database, schema.participant) == 0


@ON_SQLITE
def test_an_organiser_invites_counts_and_withdraws(database: Database, settings: Settings) -> None:
    ada = make_organiser(database)
    make_campaign(database, organiser=ada)
    app = make_app(settings, database)
    opened = logged_in(app)
    made = opened.post("/api/campaigns/small/invitations", json={"label": "guest", "cap": 1, "count": 3})
    assert made.status_code == 201
    links = made.json()["invitations"]
    assert [link["label"] for link in links] == ["guest 1", "guest 2", "guest 3"]
    assert all(link["url"] == f"{settings.address}/i/{link['token']}" for link in links)
    guest = joined(app, links[0]["token"])
    people = opened.get("/api/campaigns/small/participants").json()["participants"]
    assert [(person["code"], person["answers"]) for person in people] == [("A1", 0)]
    assert opened.delete(f"/api/campaigns/small/invitations/{links[0]['id']}").status_code == 204
    assert guest.post("/api/assessor").status_code == 410
    assert opened.delete("/api/campaigns/small/invitations/12345").status_code == 404
    listed = opened.get("/api/campaigns/small/invitations").json()["invitations"]
    assert [link["used"] for link in listed] == [0, 0, 1]


@ON_SQLITE
def test_an_organiser_blocks_a_participant(database: Database, settings: Settings) -> None:
    small = make_campaign(database, organiser=make_organiser(database))
    app = make_app(settings, database)
    guest = joined(app, invite(database, settings, small).token)
    opened = logged_in(app)
    assert opened.post("/api/campaigns/small/participants/A1/block", json={"blocked": True}).json()["blocked_at"]
    assert guest.post("/api/assessor").status_code == 403
    opened.post("/api/campaigns/small/participants/A1/block", json={"blocked": False})
    assert guest.post("/api/assessor").status_code == 200
    assert opened.post("/api/campaigns/small/participants/B1/block", json={"blocked": True}).status_code == 404


def test_a_participant_is_seen_but_not_noted_at_every_request(
    database: Database, settings: Settings, campaign: Campaign, clock: Clock
) -> None:
    guest = joined(make_app(settings, database), invite(database, settings, campaign).token)

    def seen() -> float:
        guest.post("/api/assessor")
        with database.read() as connection:
            return float(connection.execute(select(schema.participant.c.seen_at)).scalar_one())

    first = seen()
    clock.turn(10)
    assert seen() == first
    clock.turn(10)
    assert seen() >= first + 20


@ON_SQLITE
def test_one_changes_what_one_is_called(database: Database, settings: Settings, campaign: Campaign) -> None:
    guest = joined(make_app(settings, database), invite(database, settings, campaign).token)
    assert guest.patch("/api/judging/me", json={"name": "Ana"}).json()["name"] == "Ana"
    assert guest.patch("/api/judging/me", json={"code": "A9"}).status_code == 422
