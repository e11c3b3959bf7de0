"""Drive a campaign from Python: everything that the pages do, as functions over HTTP.

For example::

    lab = aj.connect("https://judge.example.org", "adj_…")
    campaign = lab.create("similarity", title="Which songs are alike?", measure="CG@5")
    campaign.put_runs("runs/*.txt")
    campaign.put_documents("tracks.csv", files="clips/*.wav")
    campaign.open()
    campaign.invite(label="all of the lab", cap=20)["url"]
    for snapshot in campaign.watch():
        print(snapshot["status"]["reason"])
    campaign.qrels()

A campaign in which people compare two lists is made with questions instead of runs::

    campaign = lab.create_preferences("lists", title="Which list is better?", quiz=4)
    campaign.put_questions("questions.csv", traps="traps.csv")
    campaign.put_documents(files="clips/*.wav")
    campaign.open()
    campaign.study()

One in which experts put documents in order is made with the candidates of each query::

    campaign = lab.create_rankings("incipits", title="Which are alike?", judged_by=10)
    campaign.put_candidates("candidates.csv")
    campaign.put_documents(files="incipits/*.pae")
    campaign.open()
    campaign.rankings()

What the server says comes back as plain dictionaries, as its API documents them; what it refuses is a
:class:`CampaignError` with its sentence. A connection that breaks is tried again for ``patience`` seconds where that
cannot do anything twice: reading, and answers, whose key tells the server that it has them already.
"""

from __future__ import annotations

import glob
import json
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from adjudge.errors import AdjudgeError, shown
from adjudge.extras import need

if TYPE_CHECKING:
    import httpx
    import polars as pl

    from adjudge.groundtruth import Rankings
    from adjudge.preferences.study import Study

Files = str | Path | Iterable[str | Path]
Read = TypeVar("Read")
Json = dict[str, Any]
PATIENCE = 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class CampaignError(AdjudgeError):
    """What the server refused, in its words; ``status`` is that of HTTP, None where it could not be reached.

    ``said`` is all that it said, such as the ranking that another window saved.
    """

    def __init__(self, message: str, *, status: int | None = None, said: Json | None = None) -> None:
        super().__init__(message)
        self.status, self.said = status, said or {}


class Connection:
    """Requests to one server in the name of one person; ends with ``close`` or ``with``."""

    def __init__(self, url: str, token: str | None = None, *, patience: float = PATIENCE) -> None:
        need("web", "Talking to a server needs", "httpx")
        import httpx

        if not url.startswith(("http://", "https://")):
            raise AdjudgeError(f"Expected the address of a server, http://… or https://…, got {shown(url)}")
        self.url, self.token, self.patience = url.rstrip("/"), token, patience
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=self.url, headers=headers, timeout=httpx.Timeout(30, read=120))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.http.close()

    def ask(self, method: str, path: str, *, again: bool | None = None, **request: Any) -> httpx.Response:
        """Send a request; refusals are raised. ``again`` says that it may be sent twice (default: what reads)."""
        import httpx

        repeatable = again if again is not None else method in ("GET", "PUT", "DELETE")
        end, pause = time.monotonic() + self.patience, _FIRST_PAUSE
        while True:
            try:
                response = self.http.request(method, f"/api{path}", **request)
                # 503 says that nothing was stored, so that anything may be sent again.
                if response.status_code != 503 or time.monotonic() + pause > end:
                    return accepted(response)
            except httpx.TransportError as error:
                safe = repeatable or isinstance(error, httpx.ConnectError)  # then nothing was sent at all
                if not safe or time.monotonic() + pause > end:
                    raise CampaignError(f"{self.url} cannot be reached: {error or type(error).__name__}") from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def get(self, path: str, **params: object) -> Any:
        """Read something."""
        return self.ask("GET", path, params=given(params)).json()

    def post(self, path: str, body: Mapping[str, object] | None = None, *, again: bool = False) -> Any:
        """Do something."""
        response = self.ask("POST", path, again=again, json=given(body or {}))
        return response.json() if response.content else None


def given(values: Mapping[str, object]) -> dict[str, Any]:
    """Values without those that are None."""
    return {name: value for name, value in values.items() if value is not None}


def accepted(response: httpx.Response) -> httpx.Response:
    """The response, unless it is a refusal."""
    if response.status_code < 400:
        return response
    said: Json = {}
    try:
        said = response.json()
        message = str(said["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"{response.request.url}: expected an answer, got status {response.status_code}"
    raise CampaignError(message, status=response.status_code, said=said)


class ConnectionHolder:
    """Something that holds a connection, and gives it up at the end of ``with``."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.connection.close()


def connect(
    url: str,
    token: str | None = None,
    *,
    login: str | None = None,
    password: str | None = None,
    patience: float = PATIENCE,
) -> Organiser:
    """A server, as an organiser: with an API token, or with login and password.

    >>> connect("judge.example.org", "adj_…")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: Expected the address of a server, http://… or https://…, got 'judge.example.org'
    """
    if (token is None) == (login is None or password is None):
        raise AdjudgeError("Expected a token, or a login and a password.")
    connection = Connection(url, token, patience=patience)
    if token is None:
        try:
            said = connection.post("/login", {"login": login, "password": password})
        except CampaignError:
            connection.close()
            raise
        connection.http.headers["X-CSRF-Token"] = said["csrf"]
    return Organiser(connection)


class Organiser(ConnectionHolder):
    """The campaigns of a server that one organiser may see."""

    def campaigns(self) -> list[Json]:
        """All of them, as the server lists them."""
        found = self.connection.get("/campaigns")
        rows: list[Json] = found["campaigns"] if isinstance(found, dict) else found
        return rows

    def campaign(self, name: str) -> Campaign:
        """A campaign by name; an unknown one is refused."""
        campaign = Campaign(self.connection, name)
        campaign.info()
        return campaign

    def create(
        self, name: str, settings: Mapping[str, object] | None = None, *, kind: str = "judging", **more: object
    ) -> Campaign:
        """A new one of any kind, as a draft; settings by name (``title``, ``scales``, ``goal``, …)."""
        body = {"name": name, "kind": kind, "settings": {**(settings or {}), **more}}
        self.connection.post("/campaigns", body)
        return Campaign(self.connection, name)

    def create_preferences(self, name: str, settings: Mapping[str, object] | None = None, **more: object) -> Campaign:
        """A new one in which two lists are compared, as a draft; settings by name (``title``, ``quiz``, ``pay``, …)."""
        return self.create(name, settings, kind="preference", **more)

    def create_rankings(self, name: str, settings: Mapping[str, object] | None = None, **more: object) -> Campaign:
        """A new one in which documents are put in order, as a draft; settings by name (``title``, ``ties``, …)."""
        return self.create(name, settings, kind="ranking", **more)

    def tokens(self) -> list[Json]:
        """API tokens, without their secrets."""
        found = self.connection.get("/tokens")
        rows: list[Json] = found["tokens"] if isinstance(found, dict) else found
        return rows

    def make_token(self, name: str, *, expires_at: float | None = None) -> Json:
        """A new one; its ``token`` is told this once."""
        made: Json = self.connection.post("/tokens", {"name": name, "expires_at": expires_at})
        return made

    def revoke_token(self, token_id: int) -> None:
        """Make one worthless."""
        self.connection.ask("DELETE", f"/tokens/{token_id}")


class Campaign:
    """One campaign, at a distance."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.connection, self.name = connection, name

    def __repr__(self) -> str:
        return f"Campaign({self.name!r} at {self.connection.url})"

    def _path(self, *rest: object) -> str:
        from urllib.parse import quote

        return "/".join(["/campaigns", quote(self.name, safe=""), *(quote(str(part), safe="") for part in rest)])

    def info(self) -> Json:
        """State and settings."""
        found: Json = self.connection.get(self._path())
        return found

    def change(self, **settings: object) -> Json:
        """Other settings, by name."""
        changed: Json = self.connection.ask("PATCH", self._path(), again=True, json={"settings": settings}).json()
        return changed

    def set_state(self, state: str) -> Json:
        """draft, open, paused or closed."""
        changed: Json = self.connection.post(self._path("state"), {"state": state})
        return changed

    def open(self) -> Json:
        """Let assessors judge; refused, with the first names, while something to hear is missing."""
        return self.set_state("open")

    def pause(self) -> Json:
        """Give out no new questions; answers to those given out are still taken."""
        return self.set_state("paused")

    def end(self) -> Json:
        """Close it; it can be opened again."""
        return self.set_state("closed")

    def put_runs(self, files: Files, *, format: str | None = None, artist_filter: bool | None = None) -> Json:  # noqa: A002 - as everywhere else
        """What systems retrieved, instead of what was there; only of a draft."""
        data = given({"format": format, "artist_filter": None if artist_filter is None else str(artist_filter).lower()})
        return self._put("runs", {"files": files}, data)

    def put_questions(self, file: str | Path, *, traps: str | Path | None = None) -> Json:
        """Questions about two lists, and attention checks among them or in a file of their own; only of a draft."""
        return self._put("questions", {"file": file, "traps": () if traps is None else traps})

    def put_candidates(self, files: Files, *, cutoff: int | None = None) -> Json:
        """The documents to be put in order for each query, or runs with the first ``cutoff`` of each; of a draft."""
        return self._put("candidates", {"files": files}, given({"cutoff": cutoff}))

    def _put(self, what: str, files: Mapping[str, Files], data: Json | None = None, *, method: str = "PUT") -> Json:
        """Send files by field; what the server says of them."""
        with ExitStack() as stack:
            parts = [(name, part) for name, some in files.items() for part in _opened(stack, some)]
            response = self.connection.ask(method, self._path(what), again=False, files=parts, data=data or {})
        said: Json = response.json()
        return said

    def put_documents(self, table: str | Path | None = None, *, files: Files = (), role: str = "document") -> Json:
        """What there is to hear, read or see: a table with a column ``document``, and the files that it names.

        Says how many were ``taken``, and the ``problems`` of the others. ``role`` is document or query.
        """
        sent = {"table": () if table is None else table, "files": files}
        return self._put("documents", sent, {"role": role}, method="POST")

    def missing(self) -> list[str]:
        """Candidates and queries that cannot be heard, read or seen yet."""
        found = self.connection.get(self._path("missing"))
        rows: list[str] = found["missing"] if isinstance(found, dict) else found
        return rows

    def put_judgments(self, file: str | Path, *, scale: str | None = None) -> Json:
        """Judgments made elsewhere."""
        return self._put("judgments", {"file": file}, given({"scale": scale}), method="POST")

    def export(self, what: str = "qrels", *, to: str | Path | None = None, **options: object) -> bytes | Path:
        """What there is to export, at any moment: its bytes, or the file ``to`` that it was written to.

        Of judged documents that is qrels, log, report and session; of compared lists it is answers, questions, log,
        report, mapping and people; of rankings it is rankings, lists, log, report and people. ``options`` are
        ``scale``, ``per`` (assessor or aggregated), ``construction`` of lists and ``format`` (trec, csv, json, …).
        """
        content = self._content(what, **options)
        if to is None:
            return content
        path = Path(to)
        path.write_bytes(content)
        return path

    def _content(self, what: str, **options: object) -> bytes:
        return self.connection.ask("GET", self._path("export", what), params=given(options)).content

    def qrels(self, *, scale: str | None = None, per: str = "aggregated") -> pl.DataFrame:
        """The judgments as they stand: ``query, document, grade`` and, by assessor, ``assessor``."""
        return self._frame("qrels", scale=scale, per=per)

    def log(self) -> pl.DataFrame:
        """Everything that was answered, in order, corrections and skips included."""
        return self._frame("log")

    def study(self) -> Study:
        """Questions and answers so far, as ``adjudge.preferences`` learns from them; of a preference campaign."""
        from adjudge.preferences.files import read_answers

        return self._read("answers", read_answers)

    def rankings(self) -> Rankings:
        """The rankings that stand now, as ``adjudge.groundtruth`` makes lists of them; of a ranking campaign."""
        from adjudge.groundtruth.files import read_rankings

        return self._read("rankings", read_rankings)

    def _read(self, what: str, reader: Callable[[Path], Read]) -> Read:
        """An export in the words of the library, read from a file of its name."""
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            path = Path(folder) / f"{self.name}-{what}.csv"
            path.write_bytes(self._content(what))
            return reader(path)

    def _frame(self, what: str, **options: object) -> pl.DataFrame:
        import polars as pl

        return pl.read_parquet(BytesIO(self._content(what, format="parquet", **options)))

    def invite(self, *, label: str | None = None, cap: int | None = None, expires_at: float | None = None) -> Json:
        """An invitation for ``cap`` people (1: personal; none: open to all); its ``url`` is what to send."""
        return self.invite_many(1, label=label, cap=cap, expires_at=expires_at)[0]

    def invite_many(self, count: int, **invitation: object) -> list[Json]:
        """Several invitations alike."""
        made = self.connection.post(self._path("invitations"), {"count": count, **invitation})
        rows: list[Json] = made["invitations"] if isinstance(made, dict) and "invitations" in made else made
        return rows

    def invitations(self) -> list[Json]:
        """All that were made, and how many came by them."""
        found = self.connection.get(self._path("invitations"))
        rows: list[Json] = found["invitations"] if isinstance(found, dict) else found
        return rows

    def revoke(self, invitation: int) -> None:
        """End an invitation, also for those who came by it."""
        self.connection.ask("DELETE", self._path("invitations", invitation))

    def participants(self) -> list[Json]:
        """Who judged, or may."""
        found = self.connection.get(self._path("participants"))
        rows: list[Json] = found["participants"] if isinstance(found, dict) else found
        return rows

    def erase(self, code: str, how: str = "anonymise") -> Json:
        """Erase a participant: ``anonymise`` keeps the answers, ``remove`` does not. Returns a receipt."""
        receipt: Json = self.connection.post(self._path("participants", code, "erase"), {"how": how})
        return receipt

    def block(self, code: str, *, blocked: bool = True) -> Json | None:
        """Keep a participant out, or let them in again."""
        said: Json | None = self.connection.post(self._path("participants", code, "block"), {"blocked": blocked})
        return said

    def picture(self) -> Json:
        """Ranking, confidence, agreement, assessors, problems: what the dashboard shows."""
        found: Json = self.connection.get(self._path("picture"))
        return found

    def watch(self) -> Generator[Json, None, None]:
        """Snapshots as they change, beginning with the present one; goes on after a lost connection."""
        import httpx

        last, failed_since = None, None
        while True:
            try:
                for snapshot in self._stream():
                    failed_since = None
                    if snapshot.get("version") != last:
                        last = snapshot.get("version")
                        yield snapshot
            except httpx.TransportError as error:
                failed_since = failed_since or time.monotonic()
                if time.monotonic() - failed_since > self.connection.patience:
                    raise CampaignError(f"{self.connection.url} cannot be reached: {error}") from error
            time.sleep(0.5)

    def _stream(self) -> Iterator[Json]:
        import httpx

        timeout = httpx.Timeout(30, read=60)  # the server says something every 15 seconds
        with self.connection.http.stream("GET", f"/api{self._path('events')}", timeout=timeout) as response:
            if response.status_code >= 400:
                response.read()
                accepted(response)
            event, data = "", []
            for line in response.iter_lines():
                name, _, value = line.partition(":")
                if name == "event":
                    event = value.strip()
                elif name == "data":
                    data.append(value.removeprefix(" "))
                elif not line:
                    if event == "picture" and data:
                        yield json.loads("\n".join(data))
                    event, data = "", []

    def problems(self) -> list[Json]:
        """Pairs that somebody could not judge."""
        found = self.connection.get(self._path("problems"))
        rows: list[Json] = found["problems"] if isinstance(found, dict) else found
        return rows

    def hold_back(self, pair: int, *, held: bool = True) -> None:
        """Ask nobody about a pair, or ask again."""
        self.connection.post(self._path("pairs", pair, "held"), {"held": held})


def _opened(stack: ExitStack, files: Files) -> list[tuple[str, Any]]:
    """Names and open files of paths and patterns; a pattern that finds nothing is refused."""
    given: Sequence[str | Path] = [files] if isinstance(files, str | Path) else list(files)
    found = []
    for name in given:
        paths = sorted(glob.glob(str(name))) if not Path(name).exists() else [str(name)]
        if not paths:
            raise AdjudgeError(f"{name}: there is no such file")
        found += [(Path(path).name, stack.enter_context(Path(path).open("rb"))) for path in paths]  # noqa: SIM115
    return found


@dataclass(frozen=True)
class Taken:
    """An answer that the server has for good. ``again``: it had it already. ``desk`` is the next assignment."""

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
        """Answer a question with first, second, good or bad, and get the next.

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
        """Open a ranking that was sent again; the assignment with it."""
        desk: Json = self.connection.post("/ranking/reopen", {"answer": answer}, again=True)
        return desk

    def hand_back(self, question: Json) -> Json:
        """Leave a query to others, or a reopened ranking as it was; the next assignment."""
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
