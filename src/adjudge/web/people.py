"""Organisers: who they are, how they log in, the tokens their programs use.

A login is a cookie that lasts ``LOGIN_SECONDS``; a new one is made each time, and all of them end when the password
changes or the organiser is disabled. Tokens are for programs: they last until they expire or are revoked, also across
a change of password. Organisers see their own campaigns; administrators see all.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from adjudge.web.database import Database
from adjudge.web.errors import Conflict, NotFound, NotLoggedIn, Refused
from adjudge.web.passwords import Attempt, hash_password, is_outdated, is_password
from adjudge.web.schema import api_token, login, organiser
from adjudge.web.signing import token_digest
from adjudge.web.wording import end_of, login_name, one_line_of

LOGIN_SECONDS = 7 * 24 * 3600.0
TOKEN_PREFIX = "adj_"
MOST_TOKENS = 100
USE_SECONDS = 60.0
"""How often the use of a token is noted."""

_WRONG = "There is no such login, or its password is another one."


@dataclass(frozen=True)
class Organiser:
    """Somebody who runs campaigns; an administrator sees those of everybody."""

    id: int
    login: str
    is_admin: bool


@dataclass(frozen=True)
class ApiToken:
    """A token of an organiser's program, without the token itself: only its digest is kept."""

    id: int
    organiser_id: int
    name: str
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    used_at: float | None


def add_organiser(
    connection: Connection, *, login: str, password: str, is_admin: bool = False, now: float
) -> Organiser:
    """Somebody new who may run campaigns; refused where the login is taken or the password too short."""
    name = login_name(login)
    if _row_of(connection, name) is not None:
        raise Conflict(f"There is an organiser called {name!r} already.")
    values = {"login": name, "password": hash_password(password), "is_admin": is_admin, "created_at": now}
    try:
        row = connection.execute(insert(organiser).values(**values).returning(organiser)).one()
    except IntegrityError:  # somebody else took it in this moment
        raise Conflict(f"There is an organiser called {name!r} already.") from None
    return _organiser(row)


def find_organiser(connection: Connection, login: str) -> Organiser:
    """The organiser of a login."""
    row = _row_of(connection, login_name(login))
    if row is None:
        raise NotFound(f"There is no organiser called {login_name(login)!r}.")
    return _organiser(row)


def list_organisers(connection: Connection) -> list[Organiser]:
    """Everybody who may log in, by login."""
    rows = connection.execute(select(organiser).where(organiser.c.disabled_at.is_(None)).order_by(organiser.c.login))
    return [_organiser(row) for row in rows]


def check_password(connection: Connection, *, login: str, password: str) -> Organiser:
    """The organiser of this login and password; takes equally long whatever is wrong. Attempts are not counted."""
    row = _candidate(connection, login)
    if not is_password(password, None if row is None else row.password) or row is None:
        raise NotLoggedIn(_WRONG)
    return _organiser(row)


def change_password(connection: Connection, found: Organiser, *, password: str) -> None:
    """Give an organiser another password, and log them out everywhere."""
    connection.execute(update(organiser).where(organiser.c.id == found.id).values(password=hash_password(password)))
    connection.execute(delete(login).where(login.c.organiser_id == found.id))


def disable_organiser(connection: Connection, found: Organiser, *, now: float) -> None:
    """Shut an organiser out: logins end, tokens are revoked, campaigns stay."""
    connection.execute(update(organiser).where(organiser.c.id == found.id).values(disabled_at=now))
    connection.execute(delete(login).where(login.c.organiser_id == found.id))
    theirs = (api_token.c.organiser_id == found.id) & api_token.c.revoked_at.is_(None)
    connection.execute(update(api_token).where(theirs).values(revoked_at=now))


def log_in(
    database: Database, *, login: str, password: str, who_ip: str, now: float, limit: int
) -> tuple[str, Organiser]:
    """A new login for a cookie, and whose it is; at most ``limit`` wrong attempts a minute.

    Takes the database, not a connection: a wrong attempt must stay counted although it fails, and the hundred
    milliseconds that a password takes must not keep others from writing.
    """
    attempt = Attempt(database, login=_folded(login), who_ip=who_ip, now=now, limit=limit)
    with database.read() as connection:
        row = _candidate(connection, login)
    if not is_password(password, None if row is None else row.password) or row is None:
        raise NotLoggedIn(_WRONG)
    better = hash_password(password) if is_outdated(row.password) else row.password
    with database.write() as connection:
        token = _begin_login(connection, row, better, now=now)
    attempt.forget()
    return token, _organiser(row)


def check_again(database: Database, found: Organiser, *, password: str, who_ip: str, now: float, limit: int) -> None:
    """Refuse where somebody who is logged in does not know the password; counted as attempts to log in are."""
    attempt = Attempt(database, login=found.login, who_ip=who_ip, now=now, limit=limit)
    with database.read() as connection:
        row = _candidate(connection, found.login)
    if not is_password(password, None if row is None else row.password):
        raise Refused("The password so far is another one; nothing was changed.")
    attempt.forget()


def organiser_of_login(connection: Connection, token: str, *, now: float) -> Organiser:
    """Whose login a cookie is."""
    row = connection.execute(
        select(organiser)
        .join(login, login.c.organiser_id == organiser.c.id)
        .where(login.c.digest == token_digest(token), login.c.expires_at > now, organiser.c.disabled_at.is_(None))
    ).first()
    if row is None:
        raise NotLoggedIn("Your login has ended; log in again.")
    return _organiser(row)


def log_out(connection: Connection, token: str) -> None:
    """End a login; nothing happens where it has ended already."""
    connection.execute(delete(login).where(login.c.digest == token_digest(token)))


def make_token(
    connection: Connection, found: Organiser, *, name: str, expires_at: float | None = None, now: float
) -> tuple[ApiToken, str]:
    """A token for a program, and its text, which is shown this once."""
    label = one_line_of(name, what="the name of a token")
    if not label:
        raise Refused("Expected a name for the token, got none.")
    end_of(expires_at, what="a token", now=now)
    if sum(token.revoked_at is None for token in list_tokens(connection, found)) >= MOST_TOKENS:
        raise Conflict(f"You have {MOST_TOKENS} tokens already; revoke one first.")
    plain = TOKEN_PREFIX + secrets.token_urlsafe(32)
    values = {"organiser_id": found.id, "name": label, "digest": token_digest(plain), "created_at": now}
    row = connection.execute(insert(api_token).values(**values, expires_at=expires_at).returning(api_token)).one()
    return _token(row), plain


def list_tokens(connection: Connection, found: Organiser) -> list[ApiToken]:
    """The tokens of an organiser, newest first, also those that have ended."""
    theirs = select(api_token).where(api_token.c.organiser_id == found.id).order_by(api_token.c.id.desc())
    return [_token(row) for row in connection.execute(theirs)]


def revoke_token(connection: Connection, found: Organiser, token_id: int, *, now: float) -> None:
    """End a token of this organiser; those of others are not known here."""
    mine = (api_token.c.id == token_id) & (api_token.c.organiser_id == found.id)
    if connection.execute(select(api_token.c.id).where(mine)).first() is None:
        raise NotFound("There is no such token of yours.")
    connection.execute(update(api_token).where(mine, api_token.c.revoked_at.is_(None)).values(revoked_at=now))


def organiser_of_token(connection: Connection, token: str, *, now: float) -> tuple[Organiser, ApiToken]:
    """Whom a program acts for, and with which token."""
    row = connection.execute(
        select(api_token, organiser.c.login, organiser.c.is_admin)
        .join(organiser, organiser.c.id == api_token.c.organiser_id)
        .where(api_token.c.digest == token_digest(token), organiser.c.disabled_at.is_(None))
    ).first()
    if row is None:
        raise NotLoggedIn("This token is not known here.")
    if row.revoked_at is not None:
        raise NotLoggedIn("This token was revoked.")
    if row.expires_at is not None and row.expires_at <= now:
        raise NotLoggedIn("This token has expired.")
    return Organiser(row.organiser_id, row.login, row.is_admin), _token(row)


def note_use(connection: Connection, token: ApiToken, *, now: float) -> None:
    """When a token was last used, for its organiser to see."""
    connection.execute(update(api_token).where(api_token.c.id == token.id).values(used_at=now))


def _begin_login(connection: Connection, row: Row[Any], better: str, *, now: float) -> str:
    """Store a login, unless the password was changed or the organiser disabled while it was checked."""
    same = select(organiser).where(
        organiser.c.id == row.id, organiser.c.password == row.password, organiser.c.disabled_at.is_(None)
    )
    if connection.execute(same.with_for_update()).first() is None:
        raise NotLoggedIn(_WRONG)
    if better != row.password:
        connection.execute(update(organiser).where(organiser.c.id == row.id).values(password=better))
    connection.execute(delete(login).where(login.c.expires_at <= now))
    token = secrets.token_urlsafe(32)
    values = {"digest": token_digest(token), "organiser_id": row.id, "created_at": now}
    connection.execute(insert(login).values(**values, expires_at=now + LOGIN_SECONDS))
    return token


def _folded(text: str) -> str:
    """A login for counting attempts: one that cannot exist is counted as it was typed."""
    try:
        return login_name(text)
    except Refused:
        return text


def _candidate(connection: Connection, login: str) -> Row[Any] | None:
    """The row that a login means, None where it cannot exist, does not, or was disabled."""
    try:
        row = _row_of(connection, login_name(login))
    except Refused:
        return None
    return row if row is not None and row.disabled_at is None else None


def _row_of(connection: Connection, name: str) -> Row[Any] | None:
    return connection.execute(select(organiser).where(organiser.c.login == name)).first()


def _organiser(row: Row[Any]) -> Organiser:
    return Organiser(row.id, row.login, row.is_admin)


def _token(row: Row[Any]) -> ApiToken:
    return ApiToken(row.id, row.organiser_id, row.name, row.created_at, row.expires_at, row.revoked_at, row.used_at)
