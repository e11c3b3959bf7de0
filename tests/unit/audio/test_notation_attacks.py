"""Notation that means harm costs its own document and no other: endless reading, packed rubbish, readers that fail."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.unit.audio.notation_texts import pae

from adjudge.audio.notation import files
from adjudge.audio.notation.checks import NotationError
from adjudge.audio.notation.engraving import Engraving, clean_drawing, engrave
from adjudge.audio.notation.files import Piece, prepare_pieces, read_pieces

CONTAINER = b'<container><rootfiles><rootfile full-path="a.xml"/></rootfiles></container>'


def packed(how: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("ü.xml", b"<a/>" * 100)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "text",
    ["\n" * 3_000_000, "@start:a" + " " * 3_000_000 + "b", " " * 3_000_000 + "\n@start:a"],
    ids=["blank lines", "a long name", "blanks before"],
)
def test_blank_space_is_read_once_however_much_there_is(tmp_path: Path, text: str) -> None:
    # Read again from every line or blank, it would take the only process of a server for days.
    (tmp_path / "a.pae").write_text(text)
    if "@start" not in text:
        assert list(read_pieces(tmp_path / "a.pae")) == ["a"]
        return
    with pytest.raises(NotationError, match=r"expected a new name of 1 to 400 characters|expected @end:a, got the end"):
        read_pieces(tmp_path / "a.pae")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (packed(zipfile.ZIP_BZIP2), "expected 'META-INF/container.xml' deflated"),
        (packed(zipfile.ZIP_LZMA), "expected 'META-INF/container.xml' deflated"),
        (packed(zipfile.ZIP_DEFLATED).replace("ü".encode(), b"\xff\xfe"), "cannot be unpacked"),
        (b"PK\x05\x06" + bytes(8) + b"\xff\xff\xff\x7f" * 2 + bytes(2), "cannot be unpacked"),
    ],
    ids=["bzip2", "lzma", "a name that is no text", "contents before the beginning"],
)
def test_packed_rubbish_is_refused_in_one_line(tmp_path: Path, data: bytes, reason: str) -> None:
    # Whatever else is raised ends the taking in of all documents, and some bytes of bzip2 unpack to gigabytes.
    (tmp_path / "a.mxl").write_bytes(data)
    with pytest.raises(NotationError, match=reason):
        read_pieces(tmp_path / "a.mxl")


def test_numbers_of_a_drawing_are_read_in_one_way() -> None:
    # Notation can bring shapes of its own; read in all the ways that digits can be parted, this would never end.
    shape = f'<polygon points="{"1" * 200}x" transform="rotate({"1" * 200}x)" />'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{shape}</svg>'
    assert "<polygon />" in clean_drawing(svg).svg


def test_whatever_a_piece_does_to_its_reader_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str, **given: object) -> Engraving:
        if "bad" in text:
            raise RecursionError("too\ndeep")
        return engrave(text)

    monkeypatch.setattr(files, "engrave", fail)
    pieces = {"bad": Piece("bad", None, "bad.mei"), "good": Piece(pae("'8CD"))}
    played, problems = prepare_pieces(pieces, clips=tmp_path / "c", drawings=tmp_path / "d", workers=1)
    assert list(played) == ["good"]
    assert problems == {"bad": "bad.mei: expected notation that can be drawn, got RecursionError too deep"}


def test_what_is_far_too_long_is_refused_before_it_is_loaded() -> None:
    text = "@clef:G-2\n@data:'4" + "C" * 60_000
    with pytest.raises(NotationError, match=r"expected at most 50,000 characters, got 60,0\d\d of"):
        engrave(text)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_a_piece_cannot_take_all_memory() -> None:
    # Figures may be repeated: 60 kB of Plaine & Easie took 6.6 GB before its notes could be counted.
    program = (
        "from adjudge.audio.notation.files import MOST_MEMORY, limit_process\n"
        "limit_process()\n"
        "bytearray(MOST_MEMORY // 4)\n"
        "print('some is there')\n"
        "bytearray(2 * MOST_MEMORY)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stdout == "some is there\n"
    assert ended.returncode == 1
    assert "MemoryError" in ended.stderr
