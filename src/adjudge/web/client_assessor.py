"""An assessor at a distance: what the judging page does, as functions."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from adjudge.web.client_connection import PATIENCE, Connection, Held, Json, given


@dataclass(frozen=True)
class Taken:
    """An answer that the server has for good. ``again``: it had it already. ``desk`` is the desk after it."""

    answer: int
    again: bool
    desk: Json


def join(
    url: str,
    invitation: str,
    *,
    name: str | None = None,
    language: str | None = None,
    consent: bool = True,
    patience: float = PATIENCE,
) -> Assessor:
    """Come by an invitation (its link or its token); with a personal one, come back."""
    connection = Connection(url, patience=patience)
    body = {"invitation": invitation.rstrip("/").rpartition("/")[2], "name": name, "language": language}
    try:
        said = connection.post("/join", {**body, "consent": consent})
    finally:
        connection.close()
    return Assessor(url, said["token"], participant=said["participant"], patience=patience)


class Assessor(Held):
    """An assessor: gets questions and answers them. ``token`` is all it takes to go on elsewhere."""

    def __init__(self, url: str, token: str, *, participant: Json | None = None, patience: float = PATIENCE) -> None:
        super().__init__(Connection(url, token, patience=patience))
        self.token, self.participant = token, participant

    def desk(self) -> Json:
        """The question in hand, or a new one; ``why`` there is none."""
        found: Json = self.connection.get("/judging")
        return found

    def answer(
        self,
        lease: str,
        grades: Mapping[str, float],
        *,
        heard: Mapping[str, int] | None = None,
        took_ms: int | None = None,
        comment: str | None = None,
        key: str | None = None,
    ) -> Taken:
        """Answer a question and get the next; ``heard`` is how long clips were played, query_ms and candidate_ms."""
        body = {"lease": lease, "grades": dict(grades), "heard": heard, "took_ms": took_ms, "comment": comment}
        return self._send("answers", body, key)

    def skip(self, lease: str, reason: str, *, comment: str | None = None, key: str | None = None) -> Taken:
        """Say why a question cannot be answered: broken, cannot_tell, known or other."""
        return self._send("skips", {"lease": lease, "reason": reason, "comment": comment}, key)

    def correct(
        self, answer: int, grades: Mapping[str, float], *, comment: str | None = None, key: str | None = None
    ) -> Taken:
        """Change an answer of one's own."""
        return self._send("corrections", {"answer": answer, "grades": dict(grades), "comment": comment}, key)

    def _send(self, what: str, body: Json, key: str | None) -> Taken:
        said = self.connection.post(f"/judging/{what}", {**body, "key": key or uuid.uuid4().hex}, again=True)
        return Taken(said["answer"], said["again"], said["desk"])

    def answers(self, last: int = 10) -> list[Json]:
        """One's last answers as they stand, newest first."""
        found: list[Json] = self.connection.get("/judging/answers", last=last)["answers"]
        return found

    def heartbeat(self) -> float | None:
        """Say that one is still there; until when the questions in hand are kept."""
        expires: float | None = self.connection.post("/judging/heartbeat", again=True)["expires_at"]
        return expires

    def leave(self) -> None:
        """Hand the questions in hand back."""
        self.connection.post("/judging/leave", again=True)

    def change(self, *, language: str | None = None, name: str | None = None) -> Json:
        """Another language or name."""
        body = given({"language": language, "name": name})
        changed: Json = self.connection.ask("PATCH", "/judging/me", again=True, json=body).json()
        return changed

    def erase(self, how: str = "anonymise") -> Json:
        """Be forgotten: ``anonymise`` leaves the answers, ``remove`` does not. Returns a receipt."""
        receipt: Json = self.connection.post("/judging/erase", {"how": how})
        return receipt
