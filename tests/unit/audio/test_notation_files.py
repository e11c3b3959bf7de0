"""ABC is read as its standard says, files give the pieces that are in them, and pieces become clips and drawings."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from tests.unit.audio.notation_texts import mei, musicxml, note, pae

from adjudge.audio.notation import files
from adjudge.audio.notation.checks import NotationError
from adjudge.audio.notation.engraving import engrave
from adjudge.audio.notation.files import Piece, prepare_piece, prepare_pieces, read_pieces

QUARTER = 0.6
HEAD = "X:1\nT:Ελ\nM:4/4\nL:1/4\nK:%s\n"


def heard(text: str) -> list[tuple[float, float, tuple[int, ...]]]:
    found = engrave(text).notes
    return [(round(n.start / QUARTER, 2), round(n.end / QUARTER, 2), n.pitches) for n in found]


def starts(text: str) -> list[tuple[float, int]]:
    return [(start, pitch) for start, _, pitches in heard(text) for pitch in pitches]


@pytest.mark.parametrize(
    ("tune", "wanted"),
    [
        ("CDEF|", [(0, 60), (1, 62), (2, 64), (3, 65)]),
        ("C,, C, C c c' c''|", [(0, 36), (1, 48), (2, 60), (3, 72), (4, 84), (5, 96)]),
        ("^C C _C =C|C", [(0, 61), (1, 61), (2, 59), (3, 60), (4, 60)]),  # as far as the bar
        ("C2D/2E/F3/2G//|", [(0, 60), (2, 62), (2.5, 64), (3, 65), (4.5, 67)]),
        ("(3CDE F>G A<B|", [(0, 60), (0.67, 62), (1.33, 64), (2, 65), (3.5, 67), (4, 69), (4.5, 71)]),
        ("(5:4:5CDEFG|", [(0, 60), (0.8, 62), (1.6, 64), (2.4, 65), (3.2, 67)]),
        ("|:CD:|E2|]", [(0, 60), (1, 62), (2, 60), (3, 62), (4, 64)]),
        ('"Am"C !trill!D .E (FG) % a comment', [(0, 60), (1, 62), (2, 64), (3, 65), (4, 67)]),
        ("CDEF|[K:G]F4|[M:3/4] F3|", [(0, 60), (1, 62), (2, 64), (3, 65), (4, 66), (8, 66)]),
        ("Z2|C", [(8, 60)]),
        ("C z D|", [(0, 60), (2, 62)]),
        ("C5 D|", [(0, 60), (5, 62)]),  # no single sign is that long
    ],
)
def test_abc_sounds_as_its_standard_says(tune: str, wanted: list[tuple[float, int]]) -> None:
    assert starts(HEAD % "C" + tune) == wanted


@pytest.mark.parametrize(
    ("key", "wanted"),
    [("C", 65), ("G", 66), ("Em", 66), ("Ddor", 65), ("Dmix", 66), ("F#m", 66), ("Bb", 65), ("A exp", 0), ("none", 65)],
)
def test_keys_of_abc_have_the_accidentals_of_their_mode(key: str, wanted: int) -> None:
    if not wanted:
        with pytest.raises(NotationError, match="expected a key"):
            engrave(HEAD % key + "F")
    else:
        assert starts(HEAD % key + "F") == [(0, wanted)]


def test_ties_chords_and_grace_notes_of_abc() -> None:
    assert heard(HEAD % "C" + "^C4-|C2 C2|") == [(0, 6, (61,)), (6, 8, (60,))]
    assert heard(HEAD % "C" + "[CE]2-[CE]2|[CEG]2[C2E2]") == [(0, 4, (60, 64)), (4, 6, (60, 64, 67)), (6, 8, (60, 64))]
    assert [pitch for _, pitch in starts(HEAD % "C" + "C{de}c2")] == [60, 74, 76, 72]


def test_the_tempo_and_the_usual_length_of_abc() -> None:
    assert [n.start for n in engrave("M:4/4\nQ:1/4=60\nK:C\nCD").notes] == [0, 0.5]  # eighths
    assert [n.start for n in engrave("M:2/4\nQ:1/4=60\nK:C\nCD").notes] == [0, 0.25]  # sixteenths, below 3/4
    assert [n.start for n in engrave('Q:"Lento" 3/8=40\nL:1/8\nK:C\nCD').notes] == [0, 0.5]


@pytest.mark.parametrize(
    ("tune", "reason"),
    [
        ("V:1\nC|\nV:2\nD|", "t:8: expected one voice"),
        ("C|\nX:2\nK:C\nD", "t:7: expected one tune"),
        ("|:C:|1 D:|2 E|", "without first and second endings"),
        ("C & D", "expected notes of ABC, got '& D'"),
        ("C [K:G] D", "between bars"),
        ("C999999", "a length"),
        ("C/0", "a length"),
        ("(3CD|E", "all notes of a tuplet"),
        ("(0CD", "a tuplet"),
        ("C@D", "expected notes of ABC"),
        ("[CE", "expected notes of ABC"),
        ("{{{{", "expected notes of ABC"),
        ("((((", "expected notes after the key"),
        ("C'''''", "octaves"),
        ("L:1/0\nC", "a length such as 1/8"),
        ("M:9/0\nC", "a meter"),
        ("Q:9999\nC", "a tempo"),
    ],
)
def test_abc_that_would_sound_otherwise_is_refused(tune: str, reason: str) -> None:
    with pytest.raises(NotationError, match=reason) as caught:
        engrave(HEAD % "C" + tune, source="t")
    assert str(caught.value).startswith("t:")


# ---------- files ----------


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
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
        "f.abc": b"X:1\r\nK:C\r\nC2\r\n",
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
    bad = pieces["inc 2"]
    with pytest.raises(NotationError, match=r"^sent\.pae:19: expected signs of Plaine & Easie, got 'Z'"):
        engrave(bad.text, source=bad.source, form=bad.form, line=bad.line)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("@start:a\n@clef:G-2\n", "expected @end:a, got the end"),
        ("@start:a\n@start:b\n", ":2: expected @end:a"),
        ("@start:a\n@end:b\n", ":2: expected @end:a, got '@end:b'"),
        ("@end:a\n@start:a", ":1: expected @start:"),
        ("hm\n@start:a\n@end:a", ":1: expected @start:, got 'hm'"),
        ("@start:\n@end:", ":1: expected a new name"),
        ("@start:a\n@end:a\n@start:a\n@end:a", ":3: expected a new name"),
    ],
)
def test_incipits_that_do_not_end_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "a.pae").write_text(text)
    with pytest.raises(NotationError, match=reason):
        read_pieces(tmp_path / "a.pae")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.pae", b"", "zero bytes"),
        ("a.pae", b"@clef:G-2\n@data:\xff\xfe", ":2: expected text in UTF-8"),
        ("a.xml", b"<?xml version='1.0' encoding='utf-7'?><mei/>", "expected XML in UTF-8, got 'utf-7'"),
        ("a.mxl", b"no zip", "cannot be unpacked"),
        ("a.mxl", zipped({"x": b""}), "expected 'META-INF/container.xml'"),
        ("a.mxl", zipped({"META-INF/container.xml": b"<container/>"}), "names a score"),
        ("a.mxl", zipped({"META-INF/container.xml": CONTAINER}), "expected 's/score.xml'"),
        ("a.mxl", zipped({"META-INF/container.xml": b'<!DOCTYPE a [<!ENTITY x "y">]><a/>'}), "without entities"),
    ],
)
def test_files_that_cannot_be_read_are_refused(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
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
    assert problems["bad"].startswith("bad.pae:3: expected Plaine & Easie, MusicXML, MEI or ABC, got 'hm'")
    assert problems["rests"] == "r:1: expected notes to hear, got only rests"
    assert len(list((tmp_path / "c").iterdir())) == len(list((tmp_path / "d").iterdir())) == 1


def crash(piece: Piece, **folders: Path) -> str:
    if "crash" in piece.text:
        os._exit(11)
    return "no crash"


def test_a_crash_of_the_engraver_ends_its_own_process_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_attempt", crash)
    pieces = {"a": Piece("crash", source="a.mei")}
    _, problems = prepare_pieces(pieces, clips=tmp_path, drawings=tmp_path)
    assert problems == {"a": "a.mei: expected notation, got a crash while drawing it"}
