"""An assessor or participant at a distance: what the pages do, as functions."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from adjudge.web.client.connection import PATIENCE, Connection, ConnectionHolder, Json, given


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
    said = _join(url, invitation, {"name": name, "language": language, "consent": consent}, patience)
    return Assessor(url, said["token"], participant=said["participant"], patience=patience)


def join_preference(
    url: str,
    invitation: str,
    *,
    recruited: Mapping[str, str] | None = None,
    name: str | None = None,
    language: str | None = None,
    consent: bool = True,
    patience: float = PATIENCE,
) -> PreferenceParticipant:
    """Come to a preference campaign; ``recruited`` are the parameters of a recruiter's link, also with who comes back.

    Parameters that stand in the link are taken from it.
    """
    from urllib.parse import parse_qsl, urlsplit

    parts = urlsplit(invitation)
    parameters = {**dict(parse_qsl(parts.query)), **(recruited or {})}
    body = {"name": name, "language": language, "consent": consent, "recruited": parameters or None}
    said = _join(url, parts.path, body, patience)
    return PreferenceParticipant(url, said["token"], participant=said["participant"], patience=patience)


def join_ranking(
    url: str,
    invitation: str,
    *,
    name: str | None = None,
    language: str | None = None,
    consent: bool = True,
    patience: float = PATIENCE,
) -> RankingExpert:
    """Come to a ranking campaign by an invitation; with a personal one, come back."""
    said = _join(url, invitation, {"name": name, "language": language, "consent": consent}, patience)
    return RankingExpert(url, said["token"], participant=said["participant"], patience=patience)


def _join(url: str, invitation: str, body: Json, patience: float) -> Json:
    connection = Connection(url, patience=patience)
    try:
        said: Json = connection.post("/join", {**body, "invitation": invitation.rstrip("/").rpartition("/")[2]})
    finally:
        connection.close()
    return said


class _Person(ConnectionHolder):
    """Somebody who is asked things. ``token`` is all it takes to go on elsewhere."""

    _at: ClassVar[str]

    def __init__(self, url: str, token: str, *, participant: Json | None = None, patience: float = PATIENCE) -> None:
        super().__init__(Connection(url, token, patience=patience))
        self.token, self.participant = token, participant

    def desk(self) -> Json:
        """The question in hand, or a new one; ``why`` says why there is no question."""
        found: Json = self.connection.get(self._at)
        return found

    def _send(self, what: str, body: Json, key: str | None) -> Taken:
        said = self.connection.post(f"{self._at}/{what}", {**body, "key": key or uuid.uuid4().hex}, again=True)
        return Taken(said["answer"], said["again"], said["desk"])

    def heartbeat(self) -> float | None:
        """Say that they are still there; until when their questions are kept."""
        expires: float | None = self.connection.post(f"{self._at}/heartbeat", again=True)["expires_at"]
        return expires

    def change(self, *, language: str | None = None, name: str | None = None) -> Json:
        """Another language or name."""
        body = given({"language": language, "name": name})
        changed: Json = self.connection.ask("PATCH", "/judging/me", again=True, json=body).json()
        return changed

    def erase(self, how: str = "anonymise") -> Json:
        """Be forgotten: ``anonymise`` leaves the answers, ``remove`` does not. Returns a receipt."""
        receipt: Json = self.connection.post("/judging/erase", {"how": how})
        return receipt


class _Visitor(_Person):
    """Somebody whose questions go to others when they leave."""

    def leave(self) -> None:
        """Hand the questions in hand back."""
        self.connection.post(f"{self._at}/leave", again=True)


class Assessor(_Visitor):
    """An assessor: gets pairs of query and candidate, and grades them."""

    _at = "/judging"

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

    def answers(self, last: int = 10) -> list[Json]:
        """One's last answers as they stand, newest first."""
        found: list[Json] = self.connection.get("/judging/answers", last=last)["answers"]
        return found


class PreferenceParticipant(_Visitor):
    """A participant of a preference campaign: gets a query with two lists, and says which is better."""

    _at = "/preference"

    def choose(
        self,
        question: Json,
        choice: str,
        *,
        heard: Mapping[str, int | Sequence[int]] | None = None,
        took_ms: int | None = None,
        comment: str | None = None,
        key: str | None = None,
    ) -> Taken:
        """Answer a question of the desk with first, second, good or bad, and get the next.

        ``heard`` is how long clips were played: query_ms, and first_ms and second_ms by rank; all of them to their end
        where it is not told.
        """
        whole = whole_question(question) if heard is None else dict(heard)
        body = {"lease": question["lease"], "choice": choice, "heard": whole, "took_ms": took_ms, "comment": comment}
        return self._send("answers", body, key)

    def skip(self, question: Json, reason: str, *, comment: str | None = None, key: str | None = None) -> Taken:
        """Say why a question cannot be answered: broken or other."""
        return self._send("skips", {"lease": question["lease"], "reason": reason, "comment": comment}, key)


class RankingExpert(_Person):
    """An expert of a ranking campaign: gets a query with its candidates, and puts them in order.

    Groups are lists of candidates' ``id``, the most similar group first.
    """

    _at = "/ranking"

    def save(self, question: Json, groups: Sequence[Sequence[int]], *, version: int | None = None) -> Json:
        """Keep a ranking that is not finished, made from a ``version`` of it (default: that of the question).

        Where it was changed elsewhere since, the error has ``said["arrangement"]``.
        """
        made_from = question["arrangement"]["version"] if version is None else version
        body = {"lease": question["lease"], "version": made_from, "groups": [list(group) for group in groups]}
        saved: Json = self.connection.ask("PUT", "/ranking/arrangement", json=body).json()
        return saved

    def order(
        self,
        question: Json,
        groups: Sequence[Sequence[int]],
        *,
        heard: Mapping[str, object] | None = None,
        took_ms: int | None = None,
        comment: str | None = None,
        key: str | None = None,
    ) -> Taken:
        """Send a ranking, or the change of one, and get the next query; what is in no group is unranked.

        ``heard`` is how long clips were played: query_ms, and candidates_ms by id; all of them to their end where it is
        not told.
        """
        whole = heard_whole(question) if heard is None else dict(heard)
        body: Json = {"lease": question["lease"], "groups": [list(group) for group in groups], "heard": whole}
        return self._send("answers", {**body, "took_ms": took_ms, "comment": comment}, key)

    def skip(self, question: Json, reason: str, *, comment: str | None = None, key: str | None = None) -> Taken:
        """Say why a query cannot be done: broken or other."""
        return self._send("skips", {"lease": question["lease"], "reason": reason, "comment": comment}, key)

    def reopen(self, answer: int) -> Json:
        """Open a ranking that was sent again; the desk with it."""
        desk: Json = self.connection.post("/ranking/reopen", {"answer": answer}, again=True)
        return desk

    def hand_back(self, question: Json) -> Json:
        """Leave a query to others, or a reopened ranking as it was; the desk after it."""
        desk: Json = self.connection.post("/ranking/hand-back", {"lease": question["lease"]}, again=True)
        return desk


def _whole(clip: Json) -> int:
    """Milliseconds of a clip that is heard to its end; a minute where its length is not known."""
    return int(1000 * (clip["seconds"] if clip["seconds"] is not None else 60))


def heard_whole(question: Json) -> Json:
    """Times of somebody who heard the query and every candidate of a query to its end."""
    candidates = {str(clip["id"]): _whole(clip) for clip in question["candidates"]}
    return {"query_ms": _whole(question["query"]), "candidates_ms": candidates}


def whole_question(question: Json) -> Json:
    """Times of somebody who heard every clip of a question to its end."""
    lists = {f"{side}_ms": [_whole(clip) for clip in question[side]] for side in ("first", "second")}
    return {"query_ms": _whole(question["query"]), **lists}
