"""Taking documents in: a table of what is known of them, and the files that people will hear, read or see.

A file belongs to the document of its name (``track17.flac`` to ``track17``), unless the table has a column ``audio`` or
``image`` with names of files. Columns ``text`` and ``url`` say what to read and where to look. All other columns are
facts about the document: artist, genre, title.

A column ``pae``, ``notation`` or ``incipit`` has music as notation, or the name of a file with it; ``clef``, ``keysig``
and ``timesig`` may be columns of their own, as in RISM's data. People get a clip and a drawing of it.

A problem with a file is one line about its document, and nothing of that file is kept; everything else is taken. Taking
the same files again changes nothing and takes hardly any time, so that problems can be fixed and the files sent again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adjudge.errors import AdjudgeError, InputError, kept_warnings, shown
from adjudge.formats import Source, read_table
from adjudge.formats.columns import fold, naming_columns, places_of
from adjudge.formats.schema import Field, Schema
from adjudge.formats.source import is_json, json_lines
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.base import kind_of
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import Campaign, log_event
from adjudge.web.store.database import Database
from adjudge.web.store.items import NewItem, items_by_identifier, put_items
from adjudge.web.store.media import (
    NOTATION,
    Files,
    checked_picture,
    checked_text,
    checked_words,
    digest_of,
    keep_original,
    keep_picture,
    kept_files,
    kind_of_file,
    safe_name,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import RowMapping

    from adjudge.audio.notation.files import Piece
    from adjudge.parallel import Progress

COLUMNS = ("pae", "notation", "incipit")
_PARTS = ("clef", "keysig", "timesig")


def pieces_of_file(name: str, path: Path, *, needed: set[str] | None) -> dict[str, Piece]:
    """The pieces of a file by document; a file of one document that nobody needs is not even read."""
    from adjudge.audio.notation.files import Piece, read_pieces

    given = PurePosixPath(name)
    if needed is not None and given.suffix.lower() != ".pae" and given.stem not in needed:
        return {given.stem: Piece("")}
    return read_pieces(path, name=name)


def piece_of_row(document: str, row: Mapping[str, str], files: Files) -> Piece:
    """The piece of a row whose column ``notation`` has the music, or the name of a file that has it."""
    from adjudge.audio.notation.files import Piece, read_pieces

    value = row["notation"].strip()
    if PurePosixPath(value).suffix.lower() in NOTATION and len(value.splitlines()) == 1:
        name = safe_name(value).as_posix()
        if name not in files:
            raise AdjudgeError(f"{name}: expected a file, got none")
        pieces = read_pieces(files[name], name=name)
        if document in pieces or len(pieces) == 1:
            return pieces.get(document) or next(iter(pieces.values()))
        raise AdjudgeError(f"{name}: expected @start:{document} among its pieces, got none")
    folded = {name.lower(): part for name, part in row.items()}
    if folded.get("clef") and not value.startswith(("@", "%", "<")):
        fields = [f"@{name}:{folded.get(name, '')}" for name in _PARTS]
        return Piece("\n".join([*fields, f"@data:{value}"]), "pae")
    return Piece(value)


def stored_pieces(
    settings: Settings, pieces: Mapping[str, Piece], *, role: str, workers: int | None, progress: Progress
) -> tuple[list[NewItem], dict[str, str]]:
    """Items of pieces whose files are all there, and one line for each piece that cannot be used."""
    from adjudge.audio.clips import write_media
    from adjudge.audio.notation.files import prepare_pieces

    folders = {"clips": settings.media / "clips", "drawings": settings.media / "drawings"}
    played, problems = prepare_pieces(pieces, **folders, workers=workers, progress=progress)
    items = []
    for document, playable in played.items():
        piece, clip = pieces[document], playable.clip
        name = PurePosixPath(piece.source or document).name[-400:]
        try:
            write_media(settings.media / "originals" / piece.sha256, piece.text.encode())
        except (OSError, UnicodeEncodeError) as error:
            problems[document] = f"{name}: {error.strerror if isinstance(error, OSError) else 'expected text'}"
            continue
        files = (piece.sha256, name, clip.clip_sha256, "audio/mpeg")
        heard = (clip.seconds, clip.loudness - clip.gain_db, clip.gain_db)
        items.append(NewItem(document, role, "notation", None, *files, *heard, playable.drawing_sha256))
    return items, problems


_CONTENT = ("audio", "image", "text", "url", *COLUMNS)
_AT_ONCE = 200  # clips between two steps into the store: what is done stays done


@dataclass(frozen=True)
class Problem:
    """Why a document could not be taken, in one line."""

    document: str
    problem: str


@dataclass(frozen=True)
class IntakeSummary:
    """What came of taking documents in.

    ``taken`` are those of which there is something new to hear, read or see, ``already`` those that were there as they
    are, ``skipped`` files of documents that nobody will be asked about, ``described`` rows of the table.
    """

    taken: int = 0
    already: int = 0
    skipped: int = 0
    described: int = 0
    problems: tuple[Problem, ...] = ()


@dataclass
class _Plan:
    """What is to be done, by document."""

    described: list[NewItem] = field(default_factory=list)
    files: dict[str, tuple[str, str]] = field(default_factory=dict)  # kind and name of the file
    pieces: dict[str, Piece] = field(default_factory=dict)
    ready: list[NewItem] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: int = 0
    already: int = 0


def take_documents(
    database: Database,
    settings: Settings,
    campaign: Campaign,
    *,
    files: Mapping[str, Path] | None = None,
    table: Path | None = None,
    table_name: str | None = None,
    role: str = "document",
    who: str = "command line",
    workers: int | None = None,
    progress: Progress | None = None,
) -> IntakeSummary:
    """Take in what is given for a campaign's documents, or with ``role`` for queries that are none.

    The store is written to in short steps, never while sound is prepared.
    """
    if role not in ("document", "query"):
        raise Refused(f"Expected documents or queries as role, got {shown(role)}")
    if campaign.state == "closed":
        raise Conflict("The campaign is closed; reopen it to change its documents.")
    given: Files = dict(files or {})
    with database.read() as connection:
        needed = kind_of(campaign).needed_items(connection, campaign)
        there = items_by_identifier(connection, campaign.id)
    rows = {} if table is None else table_rows(table, table_name, role=role)
    plan = _planned(rows, given, role=role, needed=None if needed is None else needed[role])
    intake = _Intake(database, settings, campaign, role, given, plan, there)
    n_changed = intake.store(plan.described)
    taken = intake.take_sounds(intake.sort_files(), workers=workers, progress=progress) + intake.store_ready()
    taken += intake.take_pieces(intake.new_pieces(), workers=workers, progress=progress)
    result = IntakeSummary(taken, plan.already, plan.skipped, len(plan.described), tuple(plan.problems))
    if taken or n_changed:
        counts = {"taken": taken, "described": result.described, "problems": len(result.problems), "role": role}
        with database.write() as connection:
            log_event(connection, campaign.id, who=who, what="documents", details=counts, now=settings.clock())
    return result


def table_rows(path: Path, name: str | None = None, *, role: str = "document") -> dict[str, dict[str, str]]:
    """What the table says of each document, or query: text by column, without what is empty."""
    import polars as pl

    name = name or str(path)
    source = Source(name, Source.open(path).packed)
    with naming_columns(_queries_as_documents(source) if role == "query" else None):
        frame, _ = read_table(source, "metadata")
    frame = frame.unique(maintain_order=True)
    twice = frame.filter(frame["document"].is_duplicated())
    if twice.height:
        raise InputError(f"expected one row a document, got several for {shown(twice['document'][0])}", source=name)
    if any(column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary) for column in frame):
        raise InputError("expected columns of text or numbers, got others", source=name)
    rows = frame.with_columns(pl.all().cast(pl.String)).to_dicts()
    return {row["document"]: {k: v for k, v in row.items() if v and k != "document"} for row in rows}


def _queries_as_documents(source: Source) -> dict[str, str] | None:
    """The column of queries, where readers of metadata look for documents and there are none."""
    if is_json(source) and json_lines(source) is None:
        return None
    with kept_warnings():
        names = Schema((Field("query", needed=True), Field("document"))).open(source).names
    queries = places_of(names, "query", needed=True)
    has_documents = places_of(names, "document") or "id" in map(fold, names)
    return {"document": names[queries[0]]} if queries and not has_documents else None


def _planned(rows: Mapping[str, Mapping[str, str]], files: Files, *, role: str, needed: set[str] | None) -> _Plan:
    """Which document gets what."""
    plan, named = _Plan(), set[str]()
    for document, row in rows.items():
        facts = {name: value for name, value in row.items() if name.lower() not in _CONTENT}
        content = {name.lower(): value for name, value in row.items() if name.lower() in _CONTENT}
        column = next(iter(content), "audio")
        kind = "notation" if column in COLUMNS else column
        plan.described.append(NewItem(document, role, kind, facts=facts))
        if len(content) > 1:
            came = " and ".join(content)
            plan.problems.append(Problem(document, f"expected one of {', '.join(_CONTENT)} for a document, got {came}"))
        elif content:
            given = {**row, "notation": content[column]} if kind == "notation" else {kind: content[column]}
            _plan_column(plan, document, kind, given, files, role=role, needed=needed)
            named.add(content[column])
    by_row = set(plan.files) | set(plan.pieces) | {item.identifier for item in plan.ready}
    strange: dict[str, str] = {}
    for name in files:
        found, document = kind_of_file(name), PurePosixPath(name).stem
        if name in named or document in by_row:
            continue
        if found is None:
            strange[document] = name
        elif found == "notation":
            _plan_notation(plan, name, files[name], needed=needed)
        elif needed is not None and document not in needed:
            plan.skipped += 1
        elif document in plan.files:
            plan.problems.append(Problem(document, f"expected one file, got {plan.files[document][1]} and {name}"))
        else:
            plan.files[document] = (found, name)
    for document in sorted((strange.keys() & (needed or set())) - plan.files.keys() - plan.pieces.keys()):
        problem = f"{strange[document]}: expected sound, notation, a picture or a text, got a file of another kind"
        plan.problems.append(Problem(document, problem))
    return plan


def _plan_notation(plan: _Plan, name: str, path: Path, *, needed: set[str] | None) -> None:
    """What a file with notation gives: one document, or several."""
    try:
        pieces = pieces_of_file(name, path, needed=needed)
    except AdjudgeError as error:
        plan.problems.append(Problem(PurePosixPath(name).stem, str(error)))
        return
    for document, piece in pieces.items():
        other = plan.pieces[document].source if document in plan.pieces else plan.files.get(document, ("", None))[1]
        if needed is not None and document not in needed:
            plan.skipped += 1
        elif other is not None:
            plan.problems.append(Problem(document, f"expected one file, got {other} and {name}"))
        else:
            plan.pieces[document] = piece


def _plan_column(
    plan: _Plan, document: str, kind: str, row: Mapping[str, str], files: Files, *, role: str, needed: set[str] | None
) -> None:
    """What a column of the table gives a document."""
    value = row[kind]
    if needed is not None and document not in needed:
        plan.skipped += 1
        return
    try:
        if kind == "notation":
            plan.pieces[document] = piece_of_row(document, row, files)
        elif kind == "text":
            plan.ready.append(NewItem(document, role, kind, text=checked_words(value)))
        elif kind == "url":
            plan.ready.append(NewItem(document, role, kind, text=checked_url(value)))
        elif (name := safe_name(value).as_posix()) in files:
            plan.files[document] = (kind, name)
        else:
            plan.problems.append(Problem(document, f"{name}: expected a file, got none"))
    except AdjudgeError as error:
        plan.problems.append(Problem(document, str(error)))


def checked_url(url: str) -> str:
    """An address that a browser may be sent to; only of the web, as ``javascript:`` is one of another kind.

    >>> checked_url("javascript:alert(1)")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: expected an address that begins with http:// or https://, got 'javascript:alert(1)'
    """
    plain = url.strip()
    try:
        parts = urlsplit(plain)
        good = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good or len(plain) > 2000 or any(ord(character) <= 32 for character in plain):
        raise AdjudgeError(f"expected an address that begins with http:// or https://, got {shown(url)}")
    return plain


@dataclass(frozen=True)
class _Intake:
    """One taking in: where from, where to, and the plan that it follows."""

    database: Database
    settings: Settings
    campaign: Campaign
    role: str
    files: Files
    plan: _Plan
    there: Mapping[tuple[str, str], RowMapping]

    def store(self, items: list[NewItem]) -> int:
        """Put items into the store; the number that is new or changed."""
        if not items:
            return 0
        with self.database.write() as connection:
            return put_items(connection, self.campaign, items)

    def store_ready(self) -> int:
        """Put in what needs no sound."""
        changed = self.store(self.plan.ready)
        self.plan.already += len(self.plan.ready) - changed
        return changed

    def sort_files(self) -> dict[str, str]:
        """Get pictures and texts ready, leave out what is there already; the files with sound by document."""
        sounds: dict[str, str] = {}
        for document, (kind, name) in self.plan.files.items():
            path = self.files[name]
            try:
                digest = digest_of(path)
                if _is_there(self.there.get((self.role, document)), kind, digest, self.settings):
                    self.plan.already += 1
                elif kind == "audio":
                    sounds[document] = name
                else:
                    self.plan.ready.append(self._seen(document, kind, path, name=name, digest=digest))
            except (AdjudgeError, OSError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                self.plan.problems.append(Problem(document, f"{name}: {reason}"))
        return sounds

    def _seen(self, document: str, kind: str, path: Path, *, name: str, digest: str) -> NewItem:
        """A picture or a text as an item."""
        short = PurePosixPath(name).name[-400:]
        if kind == "text":
            return NewItem(document, self.role, kind, checked_text(path), digest, short)
        media_type = checked_picture(path)
        keep_picture(self.settings, path, sha256=digest, media_type=media_type)
        return NewItem(document, self.role, kind, None, digest, short, media_type=media_type)

    def take_sounds(self, sounds: Mapping[str, str], *, workers: int | None, progress: Progress | None) -> int:
        """Prepare clips, and store them some at a time; the number that is new."""
        taken, names = 0, list(sounds)
        for start in range(0, len(names), _AT_ONCE):
            part = {name: sounds[name] for name in names[start : start + _AT_ONCE]}

            def advance(done: int, total: int, before: int = start) -> None:
                if progress is not None:
                    progress(before + done, len(names))

            taken += self.store(self._prepared(part, workers=workers, progress=advance))
        return taken

    def new_pieces(self) -> dict[str, Piece]:
        """Notation that is not there already."""
        new: dict[str, Piece] = {}
        for document, piece in self.plan.pieces.items():
            if _is_there(self.there.get((self.role, document)), "notation", piece.sha256, self.settings):
                self.plan.already += 1
            else:
                new[document] = piece
        return new

    def take_pieces(self, pieces: Mapping[str, Piece], *, workers: int | None, progress: Progress | None) -> int:
        """Draw and play notation, and store it some at a time; the number that is new."""
        taken, names = 0, list(pieces)
        for start in range(0, len(names), _AT_ONCE):
            part = {name: pieces[name] for name in names[start : start + _AT_ONCE]}

            def advance(done: int, total: int, before: int = start) -> None:
                if progress is not None:
                    progress(before + done, len(names))

            items, problems = stored_pieces(self.settings, part, role=self.role, workers=workers, progress=advance)
            self.plan.problems.extend(Problem(document, line) for document, line in problems.items())
            taken += self.store(items)
        return taken

    def _prepared(self, sounds: Mapping[str, str], *, workers: int | None, progress: Progress) -> list[NewItem]:
        """Clips of some documents as items; what cannot be used is among the problems."""
        from adjudge.audio.clips import prepare_clips

        sources = {document: self.files[name] for document, name in sounds.items()}
        prepared = prepare_clips(sources, self.settings.media / "clips", workers=workers, progress=progress)
        for document, line in prepared.problems.items():
            reason = line.removeprefix(str(InputError("", source=str(sources[document]))))
            self.plan.problems.append(Problem(document, f"{sounds[document]}: {reason}"))
        items = []
        for document, clip in prepared.clips.items():
            name = PurePosixPath(sounds[document]).name
            try:
                keep_original(self.settings, sources[document], sha256=clip.original_sha256, name=name)
            except (AdjudgeError, OSError) as error:
                told = error.strerror if isinstance(error, OSError) else error
                self.plan.problems.append(Problem(document, f"{sounds[document]}: {told}"))
                continue
            files = (clip.original_sha256, name[-400:], clip.clip_sha256, "audio/mpeg")
            heard = (clip.seconds, clip.loudness - clip.gain_db, clip.gain_db)
            items.append(NewItem(document, self.role, "audio", None, *files, *heard))
        return items


def _is_there(row: RowMapping | None, kind: str, digest: str, settings: Settings) -> bool:
    """Whether a document has this very file already, and the disk has it, too."""
    if row is None or row["kind"] != kind or row["original_sha256"] != digest:
        return False
    kept = kept_files(settings, row)
    return bool(row["text"]) if kind == "text" else bool(kept) and all(path.is_file() for path, _ in kept)
