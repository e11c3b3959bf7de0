"""Notation is drawn and timed as it is written; onsets and pitches are worked out by hand."""

from __future__ import annotations

import threading
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from tests.unit.audio.notation_texts import MEI, RUBBISH, mei, musicxml, note, pae

from adjudge.audio.loudness import integrated_loudness
from adjudge.audio.notation.checks import NotationError
from adjudge.audio.notation.engraving import MOST_NOTES, Engraving, clean_drawing, engrave
from adjudge.audio.notation.files import LEAD, RATE, clip_times, render

QUARTER = 0.6  # seconds, at 100 quarters per minute


def heard(engraved: Engraving) -> list[tuple[float, float, tuple[int, ...]]]:
    """Start and end in quarters, and pitches."""
    return [(round(n.start / QUARTER, 3), round(n.end / QUARTER, 3), n.pitches) for n in engraved.notes]


def pitches(engraved: Engraving) -> list[int]:
    return [pitch for sound in engraved.notes for pitch in sound.pitches]


@pytest.mark.parametrize(
    ("data", "sounds", "ids"),
    [
        ("'4CDEF", [(0, 1, (60,)), (1, 2, (62,)), (2, 3, (64,)), (3, 4, (65,))], ["n1", "n2", "n3", "n4"]),
        ("'2C+/4CD8D+D", [(0, 3, (60,)), (3, 4, (62,)), (4, 5, (62,))], ["n1 n2", "n3", "n4 n5"]),  # ties are one sound
        ("'4CC", [(0, 1, (60,)), (1, 2, (60,))], ["n1", "n2"]),  # repeated, not tied
        ("'2C^E^G", [(0, 2, (60, 64, 67))], ["n1 n2 n3"]),
        ("//:'4CD://", [(0, 1, (60,)), (1, 2, (62,)), (2, 3, (60,)), (3, 4, (62,))], ["n1", "n2", "n1", "n2"]),
    ],
)
def test_sounds_begin_and_end_as_written_and_light_up_their_notes(
    data: str, sounds: list[tuple[float, float, tuple[int, ...]]], ids: list[str]
) -> None:
    engraved = engrave(pae(data))
    assert heard(engraved) == sounds
    assert [" ".join(sound.ids) for sound in engraved.notes] == ids
    assert engraved.seconds == pytest.approx(sounds[-1][1] * QUARTER)
    assert engraved.form == "pae"


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ("'4CxCC/C", [60, 61, 61, 60]),  # an accidental holds until the bar ends
        ("'8bBxC''C,C,,C", [70, 61, 72, 48, 36]),
        ("'4C^E^G", [60, 64, 67]),
        ("'4CDEF/i/", [60, 62, 64, 65] * 2),  # the bar again
        ("'!8CD!ff", [60, 62] * 3),  # the figure again
        ("//:'4CD://E", [60, 62, 60, 62, 64]),  # repeats are played
        ("'4C://D://E", [60, 60, 62, 62, 64]),  # the second begins where the first ends
    ],
)
def test_pitches_are_those_written(data: str, wanted: list[int]) -> None:
    assert pitches(engrave(pae(data, time=""))) == wanted


@pytest.mark.parametrize(("key", "wanted"), [("xF", [66, 71]), ("bBE", [65, 70]), ("xFCGD", [66, 71]), ("", [65, 71])])
def test_key_signatures_alter_what_has_no_accidental(key: str, wanted: list[int]) -> None:
    assert pitches(engrave(pae("'4FB", key=key))) == wanted


@pytest.mark.parametrize(
    ("data", "starts", "end"),
    [
        ("'4.C8D2E", [0, 1.5, 2], 4),
        ("'2(8CDEFG;5)", [0, 0.4, 0.8, 1.2, 1.6], 2),  # five in the time of four
        ("'({6CDEFGA};6)8C", [0, 0.167, 0.333, 0.5, 0.667, 0.833, 1], 1.5),
        ("'(8CDE;3)4F", [0, 0.333, 0.667, 1], 2),
        ("'4C-D", [0, 2], 3),
        ("=2/'4C", [8], 9),  # two bars of rest
        ("'4C @3/4 DEF", [0, 1, 2, 3], 4),
        ("'4C$bB D%F-4 E", [0, 1, 2], 3),
    ],
)
def test_onsets_are_those_written(data: str, starts: list[float], end: float) -> None:
    engraved = engrave(pae(data))
    assert [start for start, _, _ in heard(engraved)] == starts
    assert engraved.seconds / QUARTER == pytest.approx(end, abs=0.01)


def test_grace_notes_are_short_and_the_beat_stays() -> None:
    engraved = engrave(pae("'4CgD4E"))
    starts = {n.pitches[0]: n.start / QUARTER for n in engraved.notes}
    assert starts[60] == 0
    assert starts[64] == pytest.approx(1)
    assert 0.8 < starts[62] < 1
    assert pitches(engrave(pae("'4C8qD2E"))) == [60, 62, 64]


def test_rests_alone_are_drawn_and_last_but_have_no_notes() -> None:
    engraved = engrave(pae("2-4-"))
    assert engraved.notes == ()
    assert engraved.seconds == pytest.approx(3 * QUARTER)
    assert not render(engraved).any()


def test_the_one_line_form_says_the_same_as_the_fields() -> None:
    fields = engrave(pae("'4BEB/FGA", key="bBE", time="3/4"))
    for line in ("%G-2$bBE@3/4 '4BEB/FGA", "%G-2@3/4$bBE '4BEB/FGA\n", "  %G-2 $bBE @3/4 '4BEB/FGA"):
        assert engrave(line) == fields
    assert pitches(fields) == [70, 63, 70, 65, 67, 69]


def test_ends_and_breaks_of_lines_and_marks_do_not_matter() -> None:
    text = pae("'4BCDE", key="bB")
    for same in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), f"\ufeff{text}", text.replace("CD", "C\nD")):
        assert engrave(same) == engrave(text)


MOVED = "<transpose><diatonic>-1</diatonic><chromatic>-2</chromatic></transpose></attributes>"


@pytest.mark.parametrize(
    ("text", "sounds"),
    [
        (
            musicxml(note("C", 4, 2, "quarter") + note("F", 4, 2, "quarter", alter=1) + note("G", 4, 4, "half")),
            [(0, 1, (60,)), (1, 2, (66,)), (2, 4, (67,))],
        ),
        # A tempo of the source is kept: 60 quarters per minute.
        (musicxml('<sound tempo="60"/>' + note("C", 4, 2, "quarter")), [(0, 1.667, (60,))]),
        # Transposing instruments sound as written, and repeat their notes.
        (musicxml(note("C", 4, 2, "quarter") * 2).replace("</attributes>", MOVED), [(0, 1, (60,)), (1, 2, (60,))]),
        (mei('<note dur="4" pname="c" oct="4" tie="i"/><note dur="2" pname="c" oct="4" tie="t"/>'), [(0, 3, (60,))]),
    ],
)
def test_musicxml_and_mei_are_drawn_and_timed(text: str, sounds: list[tuple[float, float, tuple[int, ...]]]) -> None:
    engraved = engrave(text)
    assert heard(engraved) == sounds
    assert engraved.form == ("mei" if text.startswith("<mei") else "musicxml")
    assert "Secret" not in engraved.svg  # titles tell who it is by


@pytest.mark.parametrize(("text", "reason"), RUBBISH)
def test_rubbish_is_refused_in_one_line(text: str, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotationError, match=reason) as caught:
        engrave(text, source="x")
    assert str(caught.value).startswith("x:")
    assert len(str(caught.value).splitlines()) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (pae("'7" + "C" * (MOST_NOTES + 1)), r"at most 2,000 notes, got 2,001"),
        (pae("=60/'4C"), "at most 120 seconds of music"),
        ("@clef:G-2\n@data:'4" + "C" * 60_000, r"at most 50,000 characters, got 60,0\d\d of"),  # before it is loaded
        ("@clef:G-2\n@data:" + "C" * 2_000_001, "at most 2,000,000 characters"),
    ],
    ids=["notes", "seconds", "Plaine & Easie", "characters"],
)
def test_too_much_music_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        engrave(text)


def test_the_same_notation_gives_the_same_bytes_also_in_threads() -> None:
    text = pae("'4CDEF/{8GABC}2D+/2D4EF", key="xF")
    wanted, found = engrave(text), list[Engraving]()
    threads = [threading.Thread(target=lambda: found.extend(engrave(text) for _ in range(3))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 9


# ---------- drawings ----------

ALLOWED = {"svg", "g", "path", "rect", "ellipse", "polygon", "polyline", "text", "tspan"}


@pytest.mark.parametrize(
    "text",
    [
        pae("'4CgD8qqC6DEr4F/(8CDE;3)4bB^''D+//"),
        musicxml(note("C", 4, 2, "quarter", "<lyric><text>&lt;script&gt;x</text></lyric>")),
        mei('<note dur="4" pname="c" oct="4" color="red" xml:id="x.y"/>'),
        MEI.replace("</measure>", '<dir staff="1" tstamp="1">Hi <ref target="javascript:x">y</ref></dir></measure>')
        % '<note dur="4" pname="c" oct="4"/>',
    ],
)
def test_a_drawing_has_only_shapes_and_words(text: str) -> None:
    text = text.replace("bB^''D+", "bB^''D")
    root = ET.fromstring(engrave(text).svg)
    names = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert names <= ALLOWED
    assert attributes.isdisjoint({"style", "href", "onload", "onclick", "color", "{http://www.w3.org/1999/xlink}href"})
    assert root.get("fill") == root.get("stroke") == "currentColor"
    assert {e.get("fill") for e in root.iter()} <= {None, "none", "currentColor", "transparent"}
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert ids == [f"n{place}" for place in range(1, len(ids) + 1)]


@pytest.mark.parametrize(
    "evil",
    [
        "<script>alert(1)</script>",
        "<style>*{fill:url(http://x)}</style>",
        '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>',
        '<image href="http://x/y.png"/>',
        '<a href="javascript:alert(1)"><text>x</text></a>',
        '<use href="http://x/y.svg#z"/>',
        '<animate attributeName="href" to="javascript:x"/>',
        '<path d="M0 0" style="fill:red" onclick="x()" fill="url(#a)" filter="url(http://x)"/>',
        '<g onload="x()"><path d="M0 0"/></g>',
        '<title>x</title><desc>y</desc>',
    ],
)  # fmt: skip
def test_nothing_that_runs_loads_or_styles_is_kept(evil: str) -> None:
    kept = clean_drawing(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{evil}</svg>').svg
    for word in ("script", "style", "foreign", "image", "href", "on", "url", "http://x", "animate", "title", "desc"):
        assert word not in kept.replace("http://www.w3.org/2000/svg", "")


def test_numbers_of_a_drawing_are_read_in_one_way() -> None:
    # Notation can bring shapes of its own; a pattern that backtracks would never end here.
    shape = f'<polygon points="{"1" * 200}x" transform="rotate({"1" * 200}x)" />'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{shape}</svg>'
    assert "<polygon />" in clean_drawing(svg).svg


@pytest.mark.parametrize(
    ("text", "reason"),
    [("<html/>", "in SVG"), ("<svg", "is XML"), ('<svg xmlns="http://www.w3.org/2000/svg"/>', "size")],
)
def test_what_is_no_drawing_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        clean_drawing(text)


def test_short_music_is_one_line_and_long_music_several() -> None:
    short = ET.fromstring(engrave(pae("'4CDEF/GABC")).svg)
    long = ET.fromstring(engrave(pae("'4CDEF/GABC/" * 10)).svg)
    assert float(short.get("width", 0)) < float(long.get("width", 0)) <= 900
    assert float(long.get("height", 0)) > 2 * float(short.get("height", 0))


# ---------- sound ----------


def test_the_clip_sounds_when_and_how_high_the_timeline_says() -> None:
    engraved = engrave(pae("'4A-,A-"))  # 440 Hz, silence, 220 Hz, silence
    samples = render(engraved)
    times = clip_times(engraved)
    assert [round(10 * place) for start, end, _ in times for place in (start - LEAD, end - LEAD)] == [0, 6, 12, 18]
    for (start, _, _), hertz in zip(times, (440, 220), strict=True):
        part = samples[round(start * RATE) : round((start + 0.5) * RATE), 0]
        spectrum = np.abs(np.fft.rfft(part * np.hanning(len(part)), 1 << 17))
        strongest = np.fft.rfftfreq(1 << 17, 1 / RATE)[np.argmax(spectrum)]
        assert round(strongest / hertz) * hertz == pytest.approx(strongest, rel=0.01)
        lowest = spectrum[np.fft.rfftfreq(1 << 17, 1 / RATE) < 1.5 * hertz].max()
        assert lowest > 0.1 * spectrum.max()
    assert not samples[: round(LEAD * RATE)].any()
    assert np.abs(samples[round((LEAD + 1.0) * RATE) : round((LEAD + 1.15) * RATE)]).max() < 0.01


@pytest.mark.parametrize("data", ["'7C", "'4C^E^G^B/,,C^C^'C", "''''4C", ",,,2C"])
def test_sound_neither_clips_nor_vanishes_nor_clicks(data: str) -> None:
    samples = render(engrave(pae(data)))
    assert len(samples) >= RATE
    assert 0.03 < np.abs(samples).max() < 1.5  # levelled later, without clipping before
    assert -40 < integrated_loudness(samples, RATE) < -8
    assert not samples[-1].any()
    assert np.abs(np.diff(samples, axis=0)).max() < 0.5


def test_a_minute_of_music_is_drawn_and_played_whole() -> None:
    engraved = engrave(pae("'8CDEFGAB''C/" * 25))
    assert len(engraved.notes) == 200
    assert len(render(engraved)) / RATE == pytest.approx(200 * 0.3 + 0.7)
