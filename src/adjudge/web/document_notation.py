"""Documents that are notation: from files, from files with many, and from a column of the table.

A table may have the notes in one column and ``clef``, ``keysig`` and ``timesig`` in others, as RISM's data has them.
What people get is a clip and a drawing; both, and the notation itself, are files named by their content.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from adjudge.errors import AdjudgeError
from adjudge.web.items import NewItem
from adjudge.web.media import NOTATION, safe_name
from adjudge.web.settings import Settings
from adjudge.web.uploads import Files

if TYPE_CHECKING:
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
    for document, one in played.items():
        piece, clip = pieces[document], one.clip
        name = PurePosixPath(piece.source or document).name[-400:]
        try:
            write_media(settings.media / "originals" / piece.sha256, piece.text.encode())
        except (OSError, UnicodeEncodeError) as error:
            problems[document] = f"{name}: {error.strerror if isinstance(error, OSError) else 'expected text'}"
            continue
        files = (piece.sha256, name, clip.clip_sha256, "audio/mpeg")
        heard = (clip.seconds, clip.loudness - clip.gain_db, clip.gain_db)
        items.append(NewItem(document, role, "notation", None, *files, *heard, one.drawing_sha256))
    return items, problems
