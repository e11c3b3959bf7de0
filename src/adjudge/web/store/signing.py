"""What links, cookies and forms are trusted by.

Links of invitations and participants say which row they mean and carry a signature over its number and a nonce, made
with the server's secret: they need not be stored, cannot be guessed, and end when the nonce changes. Logins of
organisers and tokens of programs are random; the database holds their digests only, so that a copy of it opens nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets

_SIGNED = re.compile(r"([1-9][0-9]{0,17})\.([A-Za-z0-9_-]{32})", re.ASCII)


def new_nonce() -> str:
    """Something nobody can guess, for a signature to cover."""
    return secrets.token_urlsafe(16)


def token_digest(token: str) -> str:
    """What is kept of a random token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def signed_token(secret: bytes, purpose: str, number: int, nonce: str) -> str:
    """The token of a row: its number and a signature; one made for another purpose does not pass.

    >>> signed_token(b"secret", "invitation", 7, "nonce") == signed_token(b"secret", "participant", 7, "nonce")
    False
    """
    return f"{number}.{_signature(secret, purpose, str(number), nonce)}"


def number_in(token: str) -> int | None:
    """Which row a token means, None where it is no token at all; whether it is genuine is another question.

    >>> number_in("12." + "a" * 32), number_in("012." + "a" * 32), number_in("12.a' OR 1=1")
    (12, None, None)
    """
    found = _SIGNED.fullmatch(token)
    return int(found[1]) if found else None


def is_genuine(token: str, secret: bytes, purpose: str, number: int, nonce: str) -> bool:
    """Whether a token is the one of this row; takes equally long wherever they differ."""
    return _same(token, signed_token(secret, purpose, number, nonce))


def csrf_token(secret: bytes, cookie: str) -> str:
    """What a page sends back with everything it changes: proof that it could read what this server gave it."""
    return _signature(secret, "csrf", token_digest(cookie))


def is_csrf_token(offered: str, secret: bytes, cookie: str) -> bool:
    """Whether a page gave back what belongs to its cookie."""
    return _same(offered, csrf_token(secret, cookie))


def _same(this: str, other: str) -> bool:
    return hmac.compare_digest(this.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def _signature(secret: bytes, *parts: str) -> str:
    """192 bits of an HMAC in 32 letters of a link."""
    message = "\0".join(parts).encode()
    return base64.urlsafe_b64encode(hmac.digest(secret, message, "sha256")[:24]).decode()
