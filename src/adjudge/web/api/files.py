"""Files into a campaign (runs, questions, candidates, documents, judgments), out of it (all exports), and for browsers.

Who is asking is known before the first byte of a form is read. Uploaded files lie in a working folder under names of
our own; the names they came with are kept beside them.

Browsers get clips, images and drawings at addresses that tell nothing: neither system nor rank nor what it is.
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathParameter
from pydantic import BaseModel
from sqlalchemy.engine import RowMapping
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import FileResponse

from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.formats.columns import naming_columns
from adjudge.web.context import Context, InContext
from adjudge.web.errors import NotFound, NotLoggedIn, Refused, WebError
from adjudge.web.http.access import AsOrganiser, MaybeOrganiser, MaybeParticipant, OwnCampaign
from adjudge.web.kinds.base import KINDS
from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.exports import export
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import Campaign, campaign_by_id
from adjudge.web.store.media import MOST_FILES, find_item, served_drawing, served_file, unpacked, working_folder
from adjudge.web.store.participants import Participant
from adjudge.web.store.people import Organiser

_BLOCK = 1 << 20


@dataclass
class Received:
    """A form: its fields, and its files by field, each with the name that it was given and where it lies."""

    folder: Path
    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, list[tuple[str, Path]]] = field(default_factory=lambda: defaultdict(list))

    def named(self, name: str) -> dict[str, Path]:
        """The files of a field by name."""
        found: dict[str, Path] = {}
        for given, path in self.files.get(name, ()):
            if given in found:
                raise Refused(f"Expected files of different names, got {given!r} twice.")
            found[given] = path
        return found

    def one(self, name: str) -> tuple[str, Path] | None:
        """The only file of a field, None without one."""
        found = self.files.get(name, [])
        if len(found) > 1:
            raise Refused(f"Expected one file as {name!r}, got {len(found)}.")
        return found[0] if found else None

    def readable(self, name: str) -> list[Path]:
        """The files of a field under harmless names much like their own, for readers that go by names."""
        paths = []
        for number, (given, path) in enumerate(self.files.get(name, ())):
            folder = self.folder / f"{name}-{number}"
            folder.mkdir()
            paths.append(path.rename(folder / harmless_name(given)))
        return paths

    def plain(self, message: str) -> str:
        """A message without the places where files lie, with the field of a form in place of an option."""
        named = re.sub(r"--columns (.+) \(in Python, columns=\)", r"\1 in the field 'columns'", message)
        return re.sub(rf"{re.escape(str(self.folder))}/(?:\w+-\d+/)?", "", named)

    def choice(self, name: str) -> bool | None:
        """A field that says yes or no; None where it says nothing."""
        value = self.fields.get(name, "").lower()
        known = {"": None, "true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False}
        if value not in known:
            raise Refused(f"Expected true or false as {name!r}, got {value[:20]!r}")
        return known[value]


def harmless_name(name: str) -> str:
    """A name for the file system that tells people which file is meant.

    >>> harmless_name("../../etc/pass wd.txt"), harmless_name(".."), harmless_name("a.txt.gz")
    ('pass_wd.txt', 'file', 'a.txt.gz')
    """
    last = PurePosixPath(name.replace("\\", "/")).name
    plain = re.sub(r"[^\w.-]", "_", last, flags=re.ASCII).lstrip(".")[-100:].lstrip(".")
    return plain or "file"


@asynccontextmanager
async def received(request: Request, settings: Settings) -> AsyncIterator[Received]:
    """The form of a request; its files are gone at the end."""
    with working_folder(settings) as folder:
        form = await _parsed_form(request, folder)
        found = Received(folder)
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                if value.filename:  # a field for files that was left empty has none
                    found.files[name].append((value.filename, await run_in_threadpool(_settled, value, folder)))
            else:
                found.fields[name] = value
        yield found


async def _parsed_form(request: Request, folder: Path) -> FormData:
    """The form, unless somebody read it before, as is done to find the token of a page."""
    before: FormData | None = getattr(request, "_form", None)
    if before is not None:
        return before
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise WebError("Expected a form with files (multipart/form-data), got something else.")
    parser = _IntoFolder(request.headers, request.stream(), max_files=MOST_FILES, max_fields=100)
    parser.folder = folder
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise WebError(f"The form cannot be read: {error.message}") from None


class _IntoFolder(MultiPartParser):
    """Writes files into a folder as they come, instead of into memory and the system's own."""

    folder: Path

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        upload = self._current_part.file
        if upload is not None:
            upload.file.close()
            file: Any = tempfile.NamedTemporaryFile(dir=self.folder, delete=False)  # noqa: SIM115 - closed by whom it is for
            upload.file = file
            self._files_to_close_on_error.append(file)


def _settled(upload: UploadFile, folder: Path) -> Path:
    """Where a file lies; one that lies elsewhere is copied."""
    name = getattr(upload.file, "name", None)
    if isinstance(name, str) and Path(name).parent == folder:
        upload.file.close()
        return Path(name)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as copy:
        upload.file.seek(0)
        while block := upload.file.read(_BLOCK):
            copy.write(block)
    return Path(copy.name)


router = APIRouter(prefix="/campaigns/{name}", tags=["files"])


def form_description(**fields: str) -> dict[str, Any]:
    """What the description of the interface says about a form that is read by hand."""
    fields["columns"] = "which columns hold what, where names do not say it: query=userId,document=movieId,grade=rating"
    single: dict[str, Any] = {"type": "string", "format": "binary"}
    kinds = {"files": {"type": "array", "items": single}, **dict.fromkeys(("file", "table", "traps"), single)}
    properties = {name: {**kinds.get(name, {"type": "string"}), "description": about} for name, about in fields.items()}
    content = {"multipart/form-data": {"schema": {"type": "object", "properties": properties}}}
    return {"requestBody": {"required": True, "content": content}}


class OneProblem(BaseModel):
    """Why a document could not be taken."""

    document: str
    problem: str


class TakenDocuments(BaseModel):
    """What came of documents that were sent.

    ``already`` were there as they are; ``skipped`` are files of documents that nobody will be asked about; ``notes``
    say how the table was read.
    """

    taken: int
    already: int
    skipped: int
    described: int
    problems: list[OneProblem]
    notes: list[str]


@contextmanager
def telling_sender(form: Received) -> Iterator[None]:
    """What is wrong with a file is the sender's to mend, and is said without our own paths."""
    try:
        yield
    except WebError:
        raise
    except AdjudgeError as error:
        raise Refused(form.plain(str(error))) from None


def naming(form: Received) -> AbstractContextManager[None]:
    """Read tables with the names that the sender gives to their columns."""
    return naming_columns(form.fields.get("columns") or None)


@router.post(
    "/documents",
    summary="Give a campaign its documents",
    openapi_extra=form_description(
        table="what is known of documents: a column document, and any of artist, genre, audio, image, text, url, …",
        files="files that people hear, read or see, called after their documents; a zip is unpacked",
        role="document, or query for queries that are no documents",
    ),
)
async def documents(
    request: Request, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> TakenDocuments:
    """Take in what can be used, and say what cannot; sending the same again only fills what is missing."""
    async with received(request, context.settings) as form:
        return await run_in_threadpool(_documents, form, campaign, organiser.login, context)


def _documents(form: Received, campaign: Campaign, who: str, context: Context) -> TakenDocuments:
    table = form.one("table")
    files = unpacked(form.named("files"), form.folder, context.settings)
    if table is None and not files:
        raise Refused("Expected a table or files, got neither.")
    with telling_sender(form), naming(form), kept_warnings() as notes:
        taken = take_documents(
            context.database,
            context.settings,
            campaign,
            files=files,
            table=None if table is None else table[1],
            table_name=None if table is None else table[0],
            role=form.fields.get("role") or "document",
            who=who,
        )
    problems = [OneProblem(document=one.document, problem=form.plain(one.problem)) for one in taken.problems]
    return TakenDocuments(
        taken=taken.taken,
        already=taken.already,
        skipped=taken.skipped,
        described=taken.described,
        problems=problems,
        notes=[form.plain(note) for note in notes],
    )


def _name_exports(schema: dict[str, Any]) -> None:
    """Say in the description of the interface what any kind of campaign exports."""
    schema["enum"] = list(dict.fromkeys(what for kind in KINDS.values() for what in kind.exports))


@router.get("/export/{what}", response_class=Response, summary="Judgments, answers, log, report, … as a file")
def exported(
    what: Annotated[str, PathParameter(json_schema_extra=_name_exports)],
    campaign: OwnCampaign,
    context: InContext,
    *,
    scale: Annotated[str | None, Query(max_length=40)] = None,
    per: Literal["assessor", "aggregated"] = "aggregated",
    construction: Annotated[str | None, Query(max_length=60)] = None,
    format: Annotated[str | None, Query(max_length=20)] = None,  # noqa: A002 - as everywhere else
) -> Response:
    """As it stands now, at any moment.

    A judging campaign has qrels, log, report and session; a preference campaign has answers, questions, log, report,
    mapping and people, of which only the last has what recruiters told; a ranking campaign has rankings, lists, log,
    report and people.
    """
    with context.database.read() as connection:
        try:
            file = export(
                connection,
                campaign,
                what,
                scale=scale,
                per_assessor=per == "assessor",
                construction=construction,
                form=format,
                address=context.settings.address,
            )
        except WebError:
            raise
        except AdjudgeError as error:
            raise Refused(str(error)) from None
    headers = {"Content-Disposition": _attachment(file.name), "Cache-Control": "no-store"}
    return Response(file.data, media_type=file.media_type, headers=headers)


def _attachment(name: str) -> str:
    """What makes a browser keep a file; names of scales may be written in any script, headers may not."""
    return f'attachment; filename="{name}"' if name.isascii() else f"attachment; filename*=UTF-8''{quote(name)}"


media_router = APIRouter(tags=["media"])


@media_router.api_route("/media/{address}", methods=["GET", "HEAD"], response_class=FileResponse)
def media(
    address: str, request: Request, context: InContext, participant: MaybeParticipant, organiser: MaybeOrganiser
) -> Response:
    """Part or all of a file, for assessors of its campaign and the campaign's organiser.

    What is at an address never changes: browsers may keep it, and need not ask again.
    """
    row = _item_for(address, context, participant, organiser)
    path, media_type, digest = served_file(context.settings, row)
    return _send_file(request, path, media_type, digest)


@media_router.api_route("/media/{address}/drawing", methods=["GET", "HEAD"], response_class=FileResponse)
def drawing(
    address: str, request: Request, context: InContext, participant: MaybeParticipant, organiser: MaybeOrganiser
) -> Response:
    """How notation is drawn, and when its notes sound in its clip: ``{"svg": …, "notes": [[start, end, [id, …]], …]}``.

    Whoever may hear it may see it.
    """
    row = _item_for(address, context, participant, organiser)
    path, digest = served_drawing(context.settings, row)
    return _send_file(request, path, "application/json", digest)


def _item_for(
    address: str, context: Context, participant: Participant | None, organiser: Organiser | None
) -> RowMapping:
    """The row behind an address, for somebody who may have it."""
    if participant is None and organiser is None:
        raise NotLoggedIn("Clips are for the assessors of a campaign; open your invitation first.")
    with context.database.read() as connection:
        row = find_item(connection, address)
    _refuse_others(row, context, participant, organiser)
    return row


def _send_file(request: Request, path: Path, media_type: str, digest: str) -> Response:
    headers = {"ETag": f'"{digest}"', "Cache-Control": "private, max-age=86400, immutable"}
    if headers["ETag"] in _tags(request):
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=media_type, headers={**headers, "X-Content-Type-Options": "nosniff"})


def _tags(request: Request) -> list[str]:
    """What a browser has already; a proxy that packed it on its way made the tag a weak one."""
    return [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]


def _refuse_others(
    row: RowMapping, context: Context, participant: Participant | None, organiser: Organiser | None
) -> None:
    """Whoever has nothing to do with a campaign does not learn what it has."""
    if participant is not None and participant.campaign_id == row["campaign_id"]:
        return
    if organiser is not None:
        with context.database.read() as connection:
            campaign = campaign_by_id(connection, row["campaign_id"])
        if organiser.is_admin or campaign.organiser_id == organiser.id:
            return
    raise NotFound("There is nothing at this address.")
