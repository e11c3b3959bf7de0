"""Organisers: logins, passwords, limits, tokens."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select, update
from tests.web.conftest import ON_SQLITE
from tests.web.people_app import (
    PASSWORD,
    browser,
    logged_in,
    make_app,
    make_campaign,
    make_organiser,
    rows,
)

from adjudge.web.errors import Conflict, NotFound, NotLoggedIn, Refused, TooMany
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.database import Database
from adjudge.web.store.people import (
    LOGIN_SECONDS,
    add_organiser,
    change_password,
    check_password,
    disable_organiser,
    find_organiser,
    list_organisers,
    list_tokens,
    log_in,
    log_out,
    make_token,
    organiser_of_login,
    organiser_of_token,
    revoke_token,
)


def enter(database: Database, login: str = "ada", password: str = PASSWORD, **options: Any) -> str:
    asked = {"who_ip": "192.0.2.1", "now": 1000.0, "limit": 10, **options}
    return log_in(database, login=login, password=password, **asked)[0]


@ON_SQLITE
def test_a_password_is_kept_as_an_argon2_hash(database: Database, in_earnest: None) -> None:
    make_organiser(database)
    with database.read() as connection:
        stored = connection.execute(select(schema.organiser.c.password)).scalar_one()
    assert stored.startswith("$argon2id$")
    assert PasswordHasher().verify(stored, PASSWORD)


@ON_SQLITE
@pytest.mark.parametrize("password", ["", "ninechars", "x" * 1001])
def test_a_password_of_a_strange_length_is_refused(database: Database, password: str) -> None:
    with database.write() as connection, pytest.raises(Refused, match="password of 10 to 1000 characters"):
        add_organiser(connection, login="ada", password=password, is_admin=False, now=0.0)


def test_half_a_character_is_no_password_and_logs_nobody_in(database: Database) -> None:
    with database.write() as connection, pytest.raises(Refused, match="half a character"):
        add_organiser(connection, login="ada", password="\ud800" * 12, is_admin=False, now=0.0)
    make_organiser(database)
    with pytest.raises(NotLoggedIn):
        enter(database, password="\ud800")


@pytest.mark.parametrize("typed", ["ada", "ADA", " Ada ", "ＡＤＡ", "𝒶𝒹𝒶"])
@ON_SQLITE
def test_a_login_is_the_same_however_it_is_typed(database: Database, typed: str) -> None:
    made = make_organiser(database)
    with database.read() as connection:
        assert check_password(connection, login=typed, password=PASSWORD) == made
    with database.write() as connection, pytest.raises(Conflict, match="organiser called 'ada' already"):
        add_organiser(connection, login=typed, password=PASSWORD, is_admin=False, now=0.0)


def test_letters_of_another_script_make_another_login(database: Database) -> None:
    make_organiser(database)
    with pytest.raises(NotLoggedIn):
        enter(database, login="аda")  # the first letter is Cyrillic


@pytest.mark.parametrize("login", ["", "   ", "a b", "a\u200bda", "a\nb", "a\x00b", "\u202eada", "x" * 201, "ﷺ" * 20])
@ON_SQLITE
def test_a_login_that_cannot_be_seen_or_stored_is_refused(database: Database, login: str) -> None:
    with database.write() as connection, pytest.raises(Refused, match="Expected a login"):
        add_organiser(connection, login=login, password=PASSWORD, is_admin=False, now=0.0)
    with pytest.raises(NotLoggedIn):
        enter(database, login=login)


@pytest.mark.parametrize("login", ["' OR '1'='1", "ada'--", 'ada"; DROP TABLE organiser;--', "%", "_da"])
@ON_SQLITE
def test_a_login_that_looks_like_sql_is_just_unknown(database: Database, login: str) -> None:
    make_organiser(database)
    with pytest.raises(NotLoggedIn):
        enter(database, login=login)
    assert rows(database, schema.organiser) == 1


def test_only_digests_of_logins_are_kept_and_each_login_is_new(database: Database) -> None:
    made = make_organiser(database)
    first, second = enter(database), enter(database)
    assert first != second
    with database.read() as connection:
        kept = connection.execute(select(schema.login.c.digest)).scalars().all()
        assert organiser_of_login(connection, first, now=1000.0) == made
    assert len(kept) == 2
    assert not {first, second} & set(kept)


def test_a_login_ends_by_itself_and_by_logging_out(database: Database) -> None:
    make_organiser(database)
    token = enter(database)
    with database.read() as connection, pytest.raises(NotLoggedIn, match="log in again"):
        organiser_of_login(connection, token, now=1000.0 + LOGIN_SECONDS)
    with database.write() as connection:
        log_out(connection, token)
    with database.read() as connection, pytest.raises(NotLoggedIn, match="log in again"):
        organiser_of_login(connection, token, now=1000.0)


def test_a_new_password_logs_out_everywhere_and_the_old_one_is_worth_nothing(database: Database) -> None:
    made = make_organiser(database)
    token = enter(database)
    with database.write() as connection:
        change_password(connection, made, password="another long one")
    with database.read() as connection, pytest.raises(NotLoggedIn):
        organiser_of_login(connection, token, now=1000.0)
    with pytest.raises(NotLoggedIn):
        enter(database)
    assert enter(database, password="another long one")


def test_a_disabled_organiser_gets_in_neither_with_password_nor_login_nor_token(database: Database) -> None:
    made = make_organiser(database)
    token = enter(database)
    with database.write() as connection:
        _, plain = make_token(connection, made, name="notebook", now=1000.0)
        disable_organiser(connection, made, now=1001.0)
    with database.read() as connection:
        with pytest.raises(NotLoggedIn):
            organiser_of_login(connection, token, now=1002.0)
        with pytest.raises(NotLoggedIn):
            organiser_of_token(connection, plain, now=1002.0)
        assert list_organisers(connection) == []
    with pytest.raises(NotLoggedIn):
        enter(database)


@ON_SQLITE
def test_an_old_hash_is_made_anew_at_the_next_login(database: Database, in_earnest: None) -> None:
    make_organiser(database)
    weak = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with database.write() as connection:
        connection.execute(update(schema.organiser).values(password=weak))
    assert enter(database)
    with database.read() as connection:
        stored = connection.execute(select(schema.organiser.c.password)).scalar_one()
    assert stored != weak
    assert not PasswordHasher().check_needs_rehash(stored)


@ON_SQLITE
def test_an_unknown_login_takes_as_long_as_a_wrong_password(database: Database, in_earnest: None) -> None:
    make_organiser(database)

    def seconds(login: str) -> float:
        started = time.process_time()  # of this process alone, however busy the machine is
        with database.read() as connection, pytest.raises(NotLoggedIn):
            check_password(connection, login=login, password="wrong password")
        return time.process_time() - started

    seconds("nobody")
    known, unknown = (min(seconds(login) for _ in range(5)) for login in ("ada", "nobody"))
    assert unknown > known / 3  # without work for unknown logins it would be a hundredth


def test_only_so_many_wrong_passwords_a_minute_for_a_login(database: Database) -> None:
    make_organiser(database)
    for number in range(3):
        with pytest.raises(NotLoggedIn):
            enter(database, login="ＡDA", password="wrong password", who_ip=f"192.0.2.{number}", limit=3)
    with pytest.raises(TooMany, match="try again in 60 s") as caught:
        enter(database, who_ip="192.0.2.9", limit=3)
    assert caught.value.retry_after == 60
    assert enter(database, who_ip="192.0.2.9", limit=3, now=1060.0)


def test_only_so_many_wrong_passwords_a_minute_from_an_address(database: Database) -> None:
    make_organiser(database)
    for login in ("b", "c", "d"):
        with pytest.raises(NotLoggedIn):
            enter(database, login=login, who_ip=f"2001:db8::{login}", limit=3)
    with pytest.raises(TooMany):
        enter(database, who_ip="2001:db8::1:2:3:4", limit=3)  # the same household
    assert enter(database, who_ip="2001:db8:0:1::1", limit=3)


def test_right_passwords_are_not_counted(database: Database) -> None:
    make_organiser(database)
    for _ in range(5):
        assert enter(database, limit=2)
    assert rows(database, schema.login_failure) == 0


def test_a_clock_that_was_put_back_shuts_nobody_out(database: Database) -> None:
    make_organiser(database)
    for _ in range(2):
        with pytest.raises(NotLoggedIn):
            enter(database, password="wrong password", limit=2, now=1e9)
    assert enter(database, limit=2, now=1000.0)


def test_what_is_typed_as_a_login_is_not_kept_in_plain(database: Database) -> None:
    with pytest.raises(NotLoggedIn):
        enter(database, login="oops-my-password")
    with database.read() as connection:
        assert not any("oops" in who for who in connection.execute(select(schema.login_failure.c.who)).scalars())


def test_many_attempts_at_once_get_no_further_than_one_after_the_other(database: Database) -> None:
    make_organiser(database)

    def attempt(number: int) -> str:
        try:
            enter(database, password="wrong password", who_ip=f"198.51.100.{number}", limit=3)
        except TooMany:
            return "too many"
        except NotLoggedIn:
            return "wrong"
        return "in"

    with ThreadPoolExecutor(16) as pool:
        outcomes = list(pool.map(attempt, range(16)))
    assert outcomes.count("wrong") <= 3
    assert outcomes.count("in") == 0


def test_two_organisers_of_one_login_at_once_become_one(database: Database) -> None:
    def add(_: int) -> bool:
        try:
            make_organiser(database)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(add, range(6))) == 1
    assert rows(database, schema.organiser) == 1


def test_a_token_is_shown_once_and_only_its_digest_kept(database: Database) -> None:
    made = make_organiser(database)
    with database.write() as connection:
        token, plain = make_token(connection, made, name="notebook", now=0.0)
        stored = connection.execute(select(schema.api_token.c.digest)).scalar_one()
        assert organiser_of_token(connection, plain, now=1.0) == (made, token)
    assert plain.startswith("adj_")
    assert plain not in stored


@ON_SQLITE
def test_a_token_ends_before_calendars_do(database: Database) -> None:
    made = make_organiser(database)
    with database.write() as connection, pytest.raises(Refused, match="ends before the year 10000"):
        make_token(connection, made, name="for ever", expires_at=1e300, now=0.0)


def test_a_token_ends_when_it_expires_or_is_revoked(database: Database) -> None:
    made = make_organiser(database)
    with database.write() as connection:
        _, brief = make_token(connection, made, name="brief", expires_at=10.0, now=0.0)
        token, plain = make_token(connection, made, name="notebook", now=0.0)
        with pytest.raises(NotLoggedIn, match="has expired"):
            organiser_of_token(connection, brief, now=10.0)
        revoke_token(connection, made, token.id, now=5.0)
        with pytest.raises(NotLoggedIn, match="was revoked"):
            organiser_of_token(connection, plain, now=6.0)
        with pytest.raises(NotLoggedIn, match="not known"):
            organiser_of_token(connection, plain[:-1] + "~", now=6.0)


def test_nobody_revokes_the_token_of_somebody_else(database: Database) -> None:
    ada, eve = make_organiser(database), make_organiser(database, "eve")
    with database.write() as connection:
        token, _ = make_token(connection, ada, name="notebook", now=0.0)
        with pytest.raises(NotFound, match="no such token of yours"):
            revoke_token(connection, eve, token.id, now=1.0)
        assert list_tokens(connection, eve) == []
        assert list_tokens(connection, ada)[0].revoked_at is None


def test_an_organiser_is_found_by_login(database: Database) -> None:
    made = make_organiser(database)
    with database.read() as connection:
        assert find_organiser(connection, "ADA") == made
        with pytest.raises(NotFound, match="no organiser called 'bob'"):
            find_organiser(connection, "bob")


# Over HTTP.


@ON_SQLITE
def test_logging_in_sets_a_cookie_that_scripts_and_other_sites_cannot_use(
    settings: Settings, database: Database
) -> None:
    make_organiser(database)
    answer = browser(make_app(settings, database)).post("/api/login", json={"login": "ada", "password": PASSWORD})
    assert answer.json()["organiser"] == {"login": "ada", "is_admin": False}
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("adjudge_organiser=")
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie


@ON_SQLITE
def test_a_login_chosen_by_somebody_else_is_not_taken_over(settings: Settings, database: Database) -> None:
    make_organiser(database)
    app = make_app(settings, database)
    opened = browser(app, cookies={"adjudge_organiser": "chosen-by-eve"})
    opened.post("/api/login", json={"login": "ada", "password": PASSWORD})
    assert browser(app, cookies={"adjudge_organiser": "chosen-by-eve"}).get("/api/organiser").status_code == 401


@ON_SQLITE
def test_the_login_before_ends_when_one_logs_in_again(settings: Settings, database: Database) -> None:
    make_organiser(database)
    opened = logged_in(make_app(settings, database))
    opened.post("/api/login", json={"login": "ada", "password": PASSWORD})
    assert rows(database, schema.login) == 1


@ON_SQLITE
def test_wrong_passwords_and_too_many_of_them_have_their_statuses(settings: Settings, database: Database) -> None:
    make_organiser(database)
    opened = browser(make_app(settings, database))
    wrong = {"login": "ada", "password": "wrong password"}
    statuses = [opened.post("/api/login", json=wrong).status_code for _ in range(settings.logins_per_minute + 1)]
    assert statuses == [401] * settings.logins_per_minute + [429]
    refused = opened.post("/api/login", json={"login": "ada", "password": PASSWORD})
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 60


@ON_SQLITE
def test_logging_out_ends_the_login(settings: Settings, database: Database) -> None:
    make_organiser(database)
    opened = logged_in(make_app(settings, database))
    cookie = opened.cookies["adjudge_organiser"]
    assert opened.post("/api/logout").status_code == 204
    opened.cookies.set("adjudge_organiser", cookie)
    assert opened.get("/api/organiser").status_code == 401


@ON_SQLITE
def test_the_password_is_changed_by_who_knows_it(settings: Settings, database: Database) -> None:
    make_organiser(database)
    opened = logged_in(make_app(settings, database))
    body = {"password": "wrong password", "new_password": "another long one"}
    assert opened.post("/api/password", json=body).status_code == 422
    assert opened.post("/api/password", json={"password": PASSWORD, "new_password": "short"}).status_code == 422
    assert opened.get("/api/organiser").status_code == 200
    assert opened.post("/api/password", json=body | {"password": PASSWORD}).status_code == 204
    assert rows(database, schema.login) == 0


@ON_SQLITE
def test_a_program_works_with_a_token_until_it_is_revoked(settings: Settings, database: Database) -> None:
    make_organiser(database)
    app = make_app(settings, database)
    opened = logged_in(app)
    made = opened.post("/api/tokens", json={"name": "notebook"}).json()
    program = browser(app, headers={"Authorization": f"Bearer {made['token']}"})
    assert program.get("/api/organiser").json() == {"login": "ada"}
    assert program.post("/api/tokens", json={"name": "another"}).status_code == 201  # and needs no csrf token
    listed = opened.get("/api/tokens").json()["tokens"]
    assert [token["name"] for token in listed] == ["another", "notebook"]
    assert "token" not in listed[0]
    assert listed[1]["used_at"] is not None
    assert opened.delete(f"/api/tokens/{made['id']}").status_code == 204
    refused = program.get("/api/organiser")
    assert refused.status_code == 401
    assert refused.json()["error"]["message"] == "This token was revoked."
    assert opened.delete(f"/api/tokens/{2**63}").status_code == 422


@ON_SQLITE
def test_organisers_do_not_see_the_campaigns_of_each_other(settings: Settings, database: Database) -> None:
    ada = make_organiser(database)
    make_organiser(database, "eve")
    make_organiser(database, "root", is_admin=True)
    make_campaign(database, "adas", organiser=ada)
    app = make_app(settings, database)
    statuses = {login: logged_in(app, login).get("/api/own/adas").status_code for login in ("ada", "eve", "root")}
    assert statuses == {"ada": 200, "eve": 404, "root": 200}
    eve = logged_in(app, "eve")
    hidden, missing = eve.get("/api/own/adas").json(), eve.get("/api/own/nothing").json()
    assert hidden["error"]["message"].replace("adas", "nothing") == missing["error"]["message"]
    for path in ("invitations", "participants"):
        assert eve.get(f"/api/campaigns/adas/{path}").status_code == 404
    assert eve.post("/api/campaigns/adas/invitations", json={}).status_code == 404
    assert eve.post("/api/campaigns/adas/participants/A1/erase", json={"how": "remove"}).status_code == 404
    assert rows(database, schema.invitation) == 0
