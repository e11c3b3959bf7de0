"""Organisers: accounts, passwords, logins, and tokens for their programs.

Passwords are hashed with argon2. Checking one takes equally long whether the login exists or not, and only a few
attempts per minute are allowed for a login and for an address. Attempts are counted in the database, which all workers
share; each is counted before the password is checked and forgotten if it was right, so that simultaneous attempts get
no further than sequential ones.

A login is a cookie that lasts ``LOGIN_SECONDS``; each is new, and all end when the password changes or the organiser is
disabled. Tokens last until they expire or are revoked, also across a change of password. Organisers see their own
campaigns; administrators see all.
"""

from __future__ import annotations

import functools
import hashlib
import ipaddress
import math
import secrets
import threading
import unicodedata
from dataclasses import dataclass
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import ColumnElement, Connection, Row, and_, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from adjudge.web.errors import Conflict, NotFound, NotLoggedIn, Refused, TooMany
from adjudge.web.store import schema as t
from adjudge.web.store.database import Database
from adjudge.web.store.signing import token_digest
from adjudge.web.store.wording import end_of, login_name, one_line_of

LEAST = 10
MOST = 1000
WINDOW = 60.0

_HASHER = PasswordHasher()
_AT_ONCE = threading.BoundedSemaphore(4)  # each takes 64 MB of memory


def hash_password(password: str) -> str:
    """What is kept of a password; refused where it is too short to be one."""
    plain = unicodedata.normalize("NFKC", password)
    if not LEAST <= len(plain) <= MOST:
        raise Refused(f"Expected a password of {LEAST} to {MOST} characters, got {len(plain)}.")
    try:
        plain.encode()
    except UnicodeEncodeError:
        raise Refused("Expected a password of letters, digits and symbols, got half a character.") from None
    with _AT_ONCE:
        return _HASHER.hash(plain)


def is_password(password: str, stored: str | None) -> bool:
    """Whether this is the password that was stored; as slow where none was."""
    nobody = _nobodys_hash()  # made before anything is compared, so that making it tells nothing
    plain = unicodedata.normalize("NFKC", password[:MOST]).encode("utf-8", "surrogatepass")
    try:
        with _AT_ONCE:
            _HASHER.verify(nobody if stored is None else stored, plain)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Whether passwords are hashed with more work nowadays."""
    return _HASHER.check_needs_rehash(stored)


@functools.cache
def _nobodys_hash() -> str:
    return _HASHER.hash("the password of nobody")


class Attempt:
    """An attempt to log in that is counted until it is forgotten."""

    def __init__(self, database: Database, *, login: str, who_ip: str, now: float, limit: int) -> None:
        self._database = database
        self._now = now
        self._login = _short("login", login)
        self._whos = (self._login, _short("address", _network(who_ip)))
        self._ids: list[int] = []
        self._check(most=limit - 1)
        self._count()
        try:
            self._check(most=limit)  # others may have come in between; then all of them wait
        except TooMany:
            self._take_back(t.login_failure.c.id.in_(self._ids))
            raise

    def forget(self) -> None:
        """The password was right: forget its failed attempts."""
        self._take_back(or_(t.login_failure.c.id.in_(self._ids), t.login_failure.c.who == self._login))

    def _count(self) -> None:
        rows = [{"who": who, "at": self._now} for who in self._whos]
        with self._database.write() as connection:
            connection.execute(delete(t.login_failure).where(~self._recent()))
            for row in rows:
                added = connection.execute(insert(t.login_failure).values(**row).returning(t.login_failure.c.id))
                self._ids.append(added.scalar_one())

    def _check(self, *, most: int) -> None:
        """Refuse where the login or the address made more attempts than this in the last minute."""
        recent = (
            select(func.count(), func.min(t.login_failure.c.at))
            .where(t.login_failure.c.who.in_(self._whos), self._recent())
            .group_by(t.login_failure.c.who)
        )
        with self._database.read() as connection:
            counts = connection.execute(recent).all()
        waits = [oldest + WINDOW - self._now for count, oldest in counts if count > most]
        if waits:
            seconds = max(1, math.ceil(min(max(waits), WINDOW)))
            raise TooMany(f"Too many attempts to log in; try again in {seconds} s.", retry_after=seconds)

    def _recent(self) -> ColumnElement[bool]:
        # Both ways: after the clock was put back, attempts of the future must not shut anybody out for long.
        return and_(t.login_failure.c.at > self._now - WINDOW, t.login_failure.c.at < self._now + WINDOW)

    def _take_back(self, which: ColumnElement[bool]) -> None:
        with self._database.write() as connection:
            connection.execute(delete(t.login_failure).where(which))


def _short(kind: str, who: str) -> str:
    """Whom attempts are counted for; people type passwords where logins belong, so that none are kept in plain."""
    return f"{kind} {hashlib.sha256(who.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _network(address: str) -> str:
    """The address itself; of IPv6 the half that one household has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.IPv6Network((int(parsed), 64), strict=False))


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
        row = connection.execute(insert(t.organiser).values(**values).returning(t.organiser)).one()
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
    rows = connection.execute(
        select(t.organiser).where(t.organiser.c.disabled_at.is_(None)).order_by(t.organiser.c.login)
    )
    return [_organiser(row) for row in rows]


def check_password(connection: Connection, *, login: str, password: str) -> Organiser:
    """The organiser of this login and password; takes equally long whatever is wrong. Attempts are not counted."""
    row = _candidate(connection, login)
    if not is_password(password, None if row is None else row.password) or row is None:
        raise NotLoggedIn(_WRONG)
    return _organiser(row)


def change_password(connection: Connection, organiser: Organiser, *, password: str) -> None:
    """Give an organiser another password, and log them out everywhere."""
    connection.execute(
        update(t.organiser).where(t.organiser.c.id == organiser.id).values(password=hash_password(password))
    )
    connection.execute(delete(t.login).where(t.login.c.organiser_id == organiser.id))


def disable_organiser(connection: Connection, organiser: Organiser, *, now: float) -> None:
    """Shut an organiser out: logins end, tokens are revoked, campaigns stay."""
    connection.execute(update(t.organiser).where(t.organiser.c.id == organiser.id).values(disabled_at=now))
    connection.execute(delete(t.login).where(t.login.c.organiser_id == organiser.id))
    theirs = (t.api_token.c.organiser_id == organiser.id) & t.api_token.c.revoked_at.is_(None)
    connection.execute(update(t.api_token).where(theirs).values(revoked_at=now))


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


def check_again(
    database: Database, organiser: Organiser, *, password: str, who_ip: str, now: float, limit: int
) -> None:
    """Refuse where somebody who is logged in does not know the password; counted as attempts to log in are."""
    attempt = Attempt(database, login=organiser.login, who_ip=who_ip, now=now, limit=limit)
    with database.read() as connection:
        row = _candidate(connection, organiser.login)
    if not is_password(password, None if row is None else row.password):
        raise Refused("The password so far is another one; nothing was changed.")
    attempt.forget()


def organiser_of_login(connection: Connection, token: str, *, now: float) -> Organiser:
    """Whose login a cookie is."""
    row = connection.execute(
        select(t.organiser)
        .join(t.login, t.login.c.organiser_id == t.organiser.c.id)
        .where(t.login.c.digest == token_digest(token), t.login.c.expires_at > now, t.organiser.c.disabled_at.is_(None))
    ).first()
    if row is None:
        raise NotLoggedIn("Your login has ended; log in again.")
    return _organiser(row)


def log_out(connection: Connection, token: str) -> None:
    """End a login; nothing happens where it has ended already."""
    connection.execute(delete(t.login).where(t.login.c.digest == token_digest(token)))


def make_token(
    connection: Connection, organiser: Organiser, *, name: str, expires_at: float | None = None, now: float
) -> tuple[ApiToken, str]:
    """A token for a program, and its text, which is shown this once."""
    label = one_line_of(name, what="the name of a token")
    if not label:
        raise Refused("Expected a name for the token, got none.")
    end_of(expires_at, what="a token", now=now)
    if sum(token.revoked_at is None for token in list_tokens(connection, organiser)) >= MOST_TOKENS:
        raise Conflict(f"You have {MOST_TOKENS} tokens already; revoke one first.")
    plain = TOKEN_PREFIX + secrets.token_urlsafe(32)
    values = {"organiser_id": organiser.id, "name": label, "digest": token_digest(plain), "created_at": now}
    row = connection.execute(insert(t.api_token).values(**values, expires_at=expires_at).returning(t.api_token)).one()
    return _token(row), plain


def list_tokens(connection: Connection, organiser: Organiser) -> list[ApiToken]:
    """The tokens of an organiser, newest first, also those that have ended."""
    theirs = select(t.api_token).where(t.api_token.c.organiser_id == organiser.id).order_by(t.api_token.c.id.desc())
    return [_token(row) for row in connection.execute(theirs)]


def revoke_token(connection: Connection, organiser: Organiser, token_id: int, *, now: float) -> None:
    """End a token of this organiser; those of others are not known here."""
    mine = (t.api_token.c.id == token_id) & (t.api_token.c.organiser_id == organiser.id)
    if connection.execute(select(t.api_token.c.id).where(mine)).first() is None:
        raise NotFound("There is no such token of yours.")
    connection.execute(update(t.api_token).where(mine, t.api_token.c.revoked_at.is_(None)).values(revoked_at=now))


def organiser_of_token(connection: Connection, token: str, *, now: float) -> tuple[Organiser, ApiToken]:
    """Whom a program acts for, and with which token."""
    row = connection.execute(
        select(t.api_token, t.organiser.c.login, t.organiser.c.is_admin)
        .join(t.organiser, t.organiser.c.id == t.api_token.c.organiser_id)
        .where(t.api_token.c.digest == token_digest(token), t.organiser.c.disabled_at.is_(None))
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
    connection.execute(update(t.api_token).where(t.api_token.c.id == token.id).values(used_at=now))


def _begin_login(connection: Connection, row: Row[Any], better: str, *, now: float) -> str:
    """Store a login, unless the password was changed or the organiser disabled while it was checked."""
    same = select(t.organiser).where(
        t.organiser.c.id == row.id, t.organiser.c.password == row.password, t.organiser.c.disabled_at.is_(None)
    )
    if connection.execute(same.with_for_update()).first() is None:
        raise NotLoggedIn(_WRONG)
    if better != row.password:
        connection.execute(update(t.organiser).where(t.organiser.c.id == row.id).values(password=better))
    connection.execute(delete(t.login).where(t.login.c.expires_at <= now))
    token = secrets.token_urlsafe(32)
    values = {"digest": token_digest(token), "organiser_id": row.id, "created_at": now}
    connection.execute(insert(t.login).values(**values, expires_at=now + LOGIN_SECONDS))
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
    return connection.execute(select(t.organiser).where(t.organiser.c.login == name)).first()


def _organiser(row: Row[Any]) -> Organiser:
    return Organiser(row.id, row.login, row.is_admin)


def _token(row: Row[Any]) -> ApiToken:
    return ApiToken(row.id, row.organiser_id, row.name, row.created_at, row.expires_at, row.revoked_at, row.used_at)
