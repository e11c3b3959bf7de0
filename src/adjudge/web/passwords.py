"""Passwords of organisers: argon2, and few attempts a minute.

Checking a password takes equally long whether its login exists or not. Attempts are counted in the database, because
several workers share it, for the login and for the address they come from; an attempt is counted before the password is
looked at and forgotten when it was right, so that many at once get no further than one after the other.
"""

from __future__ import annotations

import functools
import hashlib
import ipaddress
import math
import threading
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select

from adjudge.web.database import Database
from adjudge.web.errors import Refused, TooMany
from adjudge.web.schema import login_failure

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
        raise Refused("Expected a password of letters, digits and signs, got half a character.") from None
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
            self._take_back(login_failure.c.id.in_(self._ids))
            raise

    def forget(self) -> None:
        """The password was right: its login starts anew."""
        self._take_back(or_(login_failure.c.id.in_(self._ids), login_failure.c.who == self._login))

    def _count(self) -> None:
        rows = [{"who": who, "at": self._now} for who in self._whos]
        with self._database.write() as connection:
            connection.execute(delete(login_failure).where(~self._recent()))
            for row in rows:
                added = connection.execute(insert(login_failure).values(**row).returning(login_failure.c.id))
                self._ids.append(added.scalar_one())

    def _check(self, *, most: int) -> None:
        """Refuse where the login or the address made more attempts than this in the last minute."""
        recent = (
            select(func.count(), func.min(login_failure.c.at))
            .where(login_failure.c.who.in_(self._whos), self._recent())
            .group_by(login_failure.c.who)
        )
        with self._database.read() as connection:
            counts = connection.execute(recent).all()
        waits = [oldest + WINDOW - self._now for count, oldest in counts if count > most]
        if waits:
            seconds = max(1, math.ceil(min(max(waits), WINDOW)))
            raise TooMany(f"Too many attempts to log in; try again in {seconds} s.", retry_after=seconds)

    def _recent(self) -> ColumnElement[bool]:
        # Both ways: after the clock was put back, attempts of the future must not shut anybody out for long.
        return and_(login_failure.c.at > self._now - WINDOW, login_failure.c.at < self._now + WINDOW)

    def _take_back(self, which: ColumnElement[bool]) -> None:
        with self._database.write() as connection:
            connection.execute(delete(login_failure).where(which))


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
