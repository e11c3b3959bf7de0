"""What can go wrong in a request, each with its status; the message is a sentence for the person at the other end."""

from __future__ import annotations

from adjudge.errors import AdjudgeError


class WebError(AdjudgeError):
    """A request that cannot be done as asked."""

    status = 400


class NotLoggedIn(WebError):
    """Nobody knows who is asking."""

    status = 401


class Forbidden(WebError):
    """Known, but not allowed."""

    status = 403


class NotFound(WebError):
    """There is no such thing, or none that this person may know of."""

    status = 404


class Conflict(WebError):
    """It contradicts what is there already."""

    status = 409


class Gone(WebError):
    """It was there, and is no more: an invitation that ended, a campaign that closed."""

    status = 410


class TooLarge(WebError):
    """More than the server takes."""

    status = 413


class Refused(WebError):
    """Understood, but wrong: a grade off its scale, a clip that was not heard."""

    status = 422


class TooMany(WebError):
    """Too often in too short a time."""

    status = 429

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after
