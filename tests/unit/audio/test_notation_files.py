"""Files give the pieces that are in them, pieces become clips and drawings, and malicious ones cost no others."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.unit.audio.notation_texts import mei, musicxml, note, pae

from adjudge.audio.notation import files
from adjudge.audio.notation.checks import NotationError
from adjudge.audio.notation.engraving import Engraving, engrave
from adjudge.audio.notation.files import Piece, prepare_piece, prepare_pieces, read_pieces

QUARTER = 0.6


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


CONTAINER = b'<container><rootfiles><rootfile full-path="s/score.xml"/></rootfiles></container>'
SCORE = musicxml(note("C", 4, 2, "quarter"))


def test_every_kind_of_file_is_read(tmp_path: Path) -> None:
    contents = {
        "a.pae": pae("'4C").encode(),
        "b.mei": mei('<note dur="4" pname="c" oct="4"/>').encode(),
        "c.musicxml": SCORE.encode(),
        "d.xml": b"\xef\xbb\xbf" + SCORE.encode(),
        "e.mxl": zipped({"META-INF/container.xml": CONTAINER, "s/score.xml": SCORE.encode()}),
        "g.xml": SCORE.replace("UTF-8", "UTF-16").encode("utf-16"),
        "h.xml": SCORE.replace("UTF-8", "ISO-8859-1").replace("Secret", "Sécret").encode("latin-1"),
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
        ((found, piece),) = read_pieces(tmp_path / name).items()
        assert found == name[0]
        assert [n.pitches for n in engrave(piece.text, form=piece.form).notes] == [(60,)]


def test_a_file_may_have_several_incipits(tmp_path: Path) -> None:
    path = tmp_path / "many.pae"
    blocks = [f"@start:inc {n}\n{pae(data)}\n@end:inc {n}\n" for n, data in enumerate(("'4C", "'4D", "'4Z"))]
    path.write_text("\n".join(blocks).replace("\n", "\r\n"))
    pieces = read_pieces(path, name="sent.pae")
    assert list(pieces) == ["inc 0", "inc 1", "inc 2"]
    assert pieces["inc 1"].text == pae("'4D")
    (tmp_path / "empty lines.pae").write_text("\n" * 500_000)  # read once, not again from every line
    assert list(read_pieces(tmp_path / "empty lines.pae")) == ["empty lines"]
    bad = pieces["inc 2"]
    with pytest.raises(NotationError, match=r"^sent\.pae:19: expected characters of Plaine & Easie, got 'Z'"):
        engrave(bad.text, source=bad.source, form=bad.form, line=bad.line)


UNUSABLE = {
    "no end": ("a.pae", b"@start:a\n@clef:G-2\n", "expected @end:a, got the end"),
    "start inside": ("a.pae", b"@start:a\n@start:b\n", ":2: expected @end:a"),
    "another end": ("a.pae", b"@start:a\n@end:b\n", ":2: expected @end:a, got '@end:b'"),
    "end first": ("a.pae", b"@end:a\n@start:a", ":1: expected @start:"),
    "text before": ("a.pae", b"hm\n@start:a\n@end:a", ":1: expected @start:, got 'hm'"),
    "no name": ("a.pae", b"@start:\n@end:", ":1: expected a new name"),
    "same name": ("a.pae", b"@start:a\n@end:a\n@start:a\n@end:a", ":3: expected a new name"),
    # Read again from every space, these two would take a server's only process for days.
    "a long name": ("a.pae", b"@start:a" + b" " * 500_000 + b"b", "expected a new name of 1 to 400 characters"),
    "spaces before": ("a.pae", b" " * 500_000 + b"\n@start:a", "expected @end:a, got the end"),
    "empty": ("a.pae", b"", "zero bytes"),
    "no UTF-8": ("a.pae", b"@clef:G-2\n@data:\xff\xfe", ":2: expected text in UTF-8"),
    "UTF-7": ("a.xml", b"<?xml version='1.0' encoding='utf-7'?><mei/>", "expected XML in UTF-8, got 'utf-7'"),
    "no zip": ("a.mxl", b"no zip", "cannot be unpacked"),
    "no container": ("a.mxl", zipped({"x": b""}), "expected 'META-INF/container.xml'"),
    "no score": ("a.mxl", zipped({"META-INF/container.xml": b"<container/>"}), "names a score"),
    "score missing": ("a.mxl", zipped({"META-INF/container.xml": CONTAINER}), "expected 's/score.xml'"),
    "entity": ("a.mxl", zipped({"META-INF/container.xml": b'<!DOCTYPE a [<!ENTITY x "y">]><a/>'}), "without entities"),
    # Some bytes of bzip2 and lzma unpack to gigabytes.
    "bzip2": ("a.mxl", zipped({"META-INF/container.xml": CONTAINER}, zipfile.ZIP_BZIP2), "container.xml' deflated"),
    "lzma": ("a.mxl", zipped({"META-INF/container.xml": CONTAINER}, zipfile.ZIP_LZMA), "container.xml' deflated"),
    "name is no text": ("a.mxl", zipped({"ü.xml": b""}).replace("ü".encode(), b"\xff\xfe"), "cannot be unpacked"),
    "contents before the file": ("a.mxl", b"PK\5\6" + bytes(8) + b"\xff\xff\xff\x7f" * 2 + bytes(2), "be unpacked"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_files_that_cannot_be_read_are_refused(tmp_path: Path, case: str) -> None:
    name, data, reason = UNUSABLE[case]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(NotationError, match=reason):
        read_pieces(tmp_path / name)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = zipped({"META-INF/container.xml": CONTAINER, "s/score.xml": b"<" * (files.MOST_BYTES + 1)})
    (tmp_path / "a.mxl").write_bytes(bomb)
    assert len(bomb) < 100_000
    with pytest.raises(NotationError, match=r"at most 7 MiB of 's/score\.xml'"):
        read_pieces(tmp_path / "a.mxl")
    with (tmp_path / "b.pae").open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)
    with pytest.raises(NotationError, match="expected at most 7 MiB"):
        read_pieces(tmp_path / "b.pae")


# ---------- clips and drawings ----------


def test_a_piece_becomes_a_clip_as_loud_as_others_and_a_drawing(tmp_path: Path) -> None:
    piece = Piece(pae("'4CDEF/2G+/2G,4C^'E"))
    played = prepare_piece(piece, clips=tmp_path / "clips", drawings=tmp_path / "drawings")
    assert played.clip.loudness == pytest.approx(-18, abs=0.3)
    assert played.clip.true_peak <= -1
    assert played.clip.seconds == pytest.approx(0.1 + 9 * QUARTER + 0.6, abs=0.05)
    drawing = json.loads((tmp_path / "drawings" / f"{played.drawing_sha256}.json").read_text())
    assert [ids for _, _, ids in drawing["notes"]] == [["n1"], ["n2"], ["n3"], ["n4"], ["n5", "n6"], ["n7", "n8"]]
    assert drawing["notes"][4][:2] == [pytest.approx(2.5), pytest.approx(4.9)]
    assert prepare_piece(piece, clips=tmp_path / "clips", drawings=tmp_path / "drawings") == played


def test_pieces_that_cannot_be_used_cost_no_other_its_clip(tmp_path: Path) -> None:
    pieces = {"good": Piece(pae("'8CD")), "bad": Piece("hm", None, "bad.pae", 3), "rests": Piece(pae("1-"), "pae", "r")}
    played, problems = prepare_pieces(pieces, clips=tmp_path / "c", drawings=tmp_path / "d", workers=1)
    assert list(played) == ["good"]
    assert problems["bad"].startswith("bad.pae:3: expected Plaine & Easie, MusicXML or MEI, got 'hm'")
    assert problems["rests"] == "r:1: expected notes to hear, got only rests"
    assert len(list((tmp_path / "c").iterdir())) == len(list((tmp_path / "d").iterdir())) == 1


def crash(piece: Piece, **folders: Path) -> str:
    if "crash" in piece.text:
        os._exit(11)
    return "no crash"


def test_a_crash_of_the_engraver_ends_its_own_process_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_try_prepare_piece", crash)
    pieces = {"a": Piece("crash", source="a.mei")}
    _, problems = prepare_pieces(pieces, clips=tmp_path, drawings=tmp_path)
    assert problems == {"a": "a.mei: expected notation, got a crash while drawing it"}


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
