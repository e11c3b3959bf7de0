"""What files and tables say about recordings."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from adjudge.audio.library.tags import LONGEST, TagRow, read_tag_table, read_tags
from adjudge.errors import InputError

SOUND = 0.1 * np.sin(np.arange(2205) / 10)


def tagged(path: Path, **tags: str) -> Path:
    """A file whose tags libsndfile wrote."""
    rate = 48000 if path.suffix == ".opus" else 44100
    kinds = {".opus": ("OGG", "OPUS"), ".ogg": ("OGG", "VORBIS"), ".flac": ("FLAC", None), ".wav": ("WAV", None)}
    file_format, subtype = kinds.get(path.suffix, ("MP3", None))
    with soundfile.SoundFile(path, "w", rate, 1, subtype, format=file_format) as file:
        for name, value in tags.items():
            setattr(file, name, value)
        file.write(SOUND)
    return path


@pytest.fixture(scope="module")
def mp3() -> bytes:
    written = io.BytesIO()
    soundfile.write(written, SOUND, 44100, format="MP3")
    return written.getvalue()


def id3v2(frames: dict[str, bytes], version: int = 3) -> bytes:
    """A tag as https://id3.org/id3v2.3.0 lays it out; sizes below 128 bytes a frame are the same in version 4."""
    body = b"".join(name.encode() + struct.pack(">IH", len(data), 0) + data for name, data in frames.items())
    body += bytes(20)
    size = bytes((len(body) >> shift) & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3" + bytes([version, 0, 0]) + size + body


def id3v1(title: bytes, artist: bytes, year: bytes, genre: int) -> bytes:
    """The last 128 bytes of a file, as ID3v1 has them."""
    fields = (title.ljust(30, b" "), artist.ljust(30, b"\0"), bytes(30), year.ljust(4, b"\0"), bytes(30))
    return b"TAG" + b"".join(fields) + bytes([genre])


@pytest.mark.parametrize("name", ["a.ogg", "a.opus", "a.flac", "a.wav", "a.mp3", "A.OGG", "a.dat", "flac.wav"])
def test_tags_are_read_whatever_the_format_and_the_suffix(name: str, tmp_path: Path) -> None:
    suffix = ".flac" if name == "flac.wav" else Path(name).suffix.lower()  # a suffix may lie
    tags = {"artist": "Ärtist", "title": "T", "album": "L", "genre": "Jazz"}
    path = tagged(tmp_path / f"written{suffix}", **tags, date="1999-12-31").rename(tmp_path / name)
    assert read_tags(path) == {**tags, "year": "1999"}


@pytest.mark.parametrize(
    ("genre", "wanted"),
    [
        (b"\0(17)", "Rock"),
        (b"\x0017", "Rock"),
        (b"\0(17)Rock", "Rock"),
        (b"\x0317\x008", "Rock"),
        (b"\x03Polka\x00Waltz", "Polka"),
        (b"\x03Polka; Waltz", "Polka"),
        (b"\x01\xff\xfeP\0o\0l\0k\0a\0", "Polka"),
        (b"\0(255)", None),
        (b"\x00255", None),
        (b"\0Unknown", None),
        (b"\0   ", None),
    ],
)
def test_genres_of_id3_are_words_and_the_first_of_several(
    genre: bytes, wanted: str | None, mp3: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "a.mp3"
    path.write_bytes(id3v2({"TCON": genre}, version=4) + mp3)
    assert read_tags(path).get("genre") == wanted


def test_id3_of_the_first_version_is_read_without_its_padding(mp3: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    path.write_bytes(mp3 + id3v1(b"Song", b"Bj\xf6rk", b"1997", 17))
    assert read_tags(path) == {"artist": "Björk", "title": "Song", "genre": "Rock", "year": "1997"}


def test_all_artists_are_kept_and_said_once(mp3: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    path.write_bytes(id3v2({"TPE1": b"\x03Anna\0Bert\0anna"}, version=4) + mp3)
    assert read_tags(path)["artist"] == "Anna; Bert"
    path.write_bytes(id3v2({"TPE1": b"\x03Anna feat. Bert\0Anna\0Bert"}, version=4) + mp3)
    assert read_tags(path)["artist"] == "Anna feat. Bert"


def test_without_an_artist_that_of_the_album_counts_then_the_composer(mp3: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    composer = {"TCOM": b"\0Bach"}
    path.write_bytes(id3v2({"TPE1": b"\0Unknown Artist", **composer}) + mp3)
    assert read_tags(path) == {"artist": "Bach"}
    path.write_bytes(id3v2({**composer, "TPE2": b"\0Ensemble"}) + mp3)
    assert read_tags(path) == {"artist": "Ensemble"}


def test_text_is_composed_and_on_one_line_and_not_endless(mp3: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    frames = {
        "TIT2": b"\x03 A\r\n\tB\x07 C\xe2\x80\xae\xef\xbb\xbf ",
        "TPE1": "\x03Bjo\u0308rk".encode(),
        "TALB": b"\0Bj\xc3\xb6rk",  # UTF-8, said to be Latin-1
    }
    path.write_bytes(id3v2(frames) + mp3)
    assert read_tags(path) == {"artist": "Björk", "title": "A B C", "album": "Björk"}
    path.write_bytes(id3v2({"TIT2": b"\0" + b"x" * 100_000}) + mp3)
    title = read_tags(path)["title"]
    assert len(title) == LONGEST
    assert title.endswith("x…")


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("2012-12-15", "2012"), ("15/12/2012", "2012"), ("20121215", "2012"), ("1999", "1999"), ("0000", None),
        ("99", None), ("31999", None), ("c. 1785", "1785"),
    ],
)  # fmt: skip
def test_a_date_is_a_year(date: str, year: str | None, tmp_path: Path) -> None:
    assert read_tags(tagged(tmp_path / "a.flac", date=date)).get("year") == year


def test_what_cannot_be_read_says_nothing(mp3: bytes, tmp_path: Path) -> None:
    whole = id3v2({"TIT2": b"\0Song", "TPE1": b"\x01\xff\xfeA\0"}) + mp3
    for name, data in {
        "empty.mp3": b"", "text.mp3": b"hello", "text.txt": b"hello", "noise.ogg": b"OggS" + bytes(99),
        "cut.flac": b"fLaC\x84", "short.wav": b"RIFF\xff\xff\xff\xffWAVELIST\xff\xff\xff\x7fINFOIART",
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(data)
        assert read_tags(tmp_path / name) == {}, name
    assert read_tags(tmp_path) == {}
    assert read_tags(tmp_path / "missing.mp3") == {}
    for end in range(0, 60, 3):
        (tmp_path / "cut.mp3").write_bytes(whole[:end])
        assert set(read_tags(tmp_path / "cut.mp3")) <= {"artist", "title"}


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    return path


def test_a_table_says_what_its_cells_say_and_keeps_columns_of_its_own(tmp_path: Path) -> None:
    path = table(tmp_path, "File,Artist,Date,mood,seconds,\na.mp3, X ,1999,sad,9,0\nb.mp3,,,,,1\n,Nobody,,,,2\n")
    assert read_tag_table(path) == (
        TagRow(1, "a.mp3", None, {"artist": "X", "year": "1999", "mood": "sad"}),
        TagRow(2, "b.mp3", None, {}),
    )


@pytest.mark.parametrize("data", ["\ufefffile;artist\r\na.mp3;Zoë\r\n", '"file","artist"\n"a.mp3","Zoe\u0308"\n'])
def test_tables_come_as_programs_write_them(data: str, tmp_path: Path) -> None:
    assert read_tag_table(table(tmp_path, data)) == (TagRow(1, "a.mp3", None, {"artist": "Zoë"}),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title,artist\nA,B\n", r"t\.csv:1: expected a column 'file' or 'document', got the columns title, artist"),
        ("file,path\na,b\n", r"t\.csv:1: expected one column for the file, got 'file' and 'path'"),
        ("file,year,date\na,1,2\n", r"t\.csv:1: expected one column for the year, got 'date', too"),
        ("file,artist\n,X\n", r"t\.csv: expected something in 'file', got nothing in any row"),
    ],
)  # what any table is refused for is tested with its reader
def test_a_table_that_cannot_be_used_is_refused_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read_tag_table(table(tmp_path, text))
