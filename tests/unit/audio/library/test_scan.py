"""Recordings in a folder: found, named, joined with a table."""

from __future__ import annotations

import os
import pickle
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.audio.library.folder import CLIPS, TRACKS
from adjudge.audio.library.scan import (
    DUPLICATE,
    FOREIGN,
    NO_FILE,
    NOT_AUDIO,
    NOT_IN_TABLE,
    PROBLEM_WORDS,
    UNREADABLE,
    FileProblem,
    assign_identifiers,
    is_identifier,
    make_identifier,
    scan,
)
from adjudge.errors import InputError


def files(folder: Path, *names: str) -> Path:
    """A folder with files of zero bytes: a scan does not look inside."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def found(folder: Path, **options: Any) -> dict[str, str]:
    """Documents by the names of their recordings."""
    return {recording.name: recording.document for recording in scan(folder, **options).recordings}


def table(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text)
    return path


def problems_in(folder: Path) -> dict[str, str]:
    return {problem.file: problem.problem for problem in scan(folder).problems}


def test_recordings_of_every_format_are_found_at_any_depth(tmp_path: Path) -> None:
    files(tmp_path, "a.wav", "b.FLAC", "x/c.ogg", "x/y/d.opus", "x/y/z/e.Mp3", "f.aiff", "f.aif")
    assert found(tmp_path) == {
        "a.wav": "a", "b.FLAC": "b", "f.aif": "f", "f.aiff": "f-2", "x/c.ogg": "x-c", "x/y/d.opus": "x-y-d",
        "x/y/z/e.Mp3": "x-y-z-e",
    }  # fmt: skip
    assert not scan(tmp_path).problems
    assert scan(tmp_path).recordings[4].path == tmp_path / "x" / "c.ogg"


def test_what_is_no_sound_is_passed_over_in_silence(tmp_path: Path) -> None:
    files(
        tmp_path, "a.mp3", "cover.jpg", "a.cue", "list.m3u8", "notes.txt", "thumb.db", ".DS_Store", "._a.mp3",
        ".hidden/b.mp3", "__MACOSX/c.mp3", "@eaDir/d.mp3", "noext", "data.xyz", "rip.mp3.part",
    )  # fmt: skip
    assert found(tmp_path) == {"a.mp3": "a"}
    assert not scan(tmp_path).problems


def test_files_of_unknown_suffix_are_recordings_where_they_begin_like_one(tmp_path: Path) -> None:
    for name, data in {"01. Song": b"fLaC", "b": b"RIFF\0\0\0\0WAVE", "c.xyz": b"ID3\3", "d.xyz": b"RIFF"}.items():
        (tmp_path / name).write_bytes(data)
    assert found(tmp_path) == {"01. Song": "01-Song", "b": "b", "c.xyz": "c"}


def test_a_folder_without_recordings_is_refused_and_foreign_formats_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected recordings \(WAV, .*\), got none"):
        scan(tmp_path)
    files(tmp_path, "b.m4a", "c.WMA")
    with pytest.raises(InputError, match=r"got only 'b.m4a' and 1 more \(foreign format: AAC or ALAC cannot"):
        scan(tmp_path)
    files(tmp_path, "a.mp3")
    assert scan(tmp_path).problems == (
        FileProblem("b.m4a", FOREIGN, "AAC or ALAC cannot be read here; convert it to FLAC, WAV, MP3, Ogg or Opus"),
        FileProblem("c.WMA", FOREIGN, "WMA cannot be read here; convert it to FLAC, WAV, MP3, Ogg or Opus"),
    )
    with pytest.raises(InputError, match="expected a folder with recordings, got a file"):
        scan(tmp_path / "a.mp3")


def test_the_folder_for_the_clips_and_libraries_are_passed_over(tmp_path: Path) -> None:
    files(tmp_path, "a.mp3", "out/clips/b.mp3", f"old/{TRACKS}", f"old/{CLIPS}", "old/clips/c.mp3")
    assert set(found(tmp_path, skip=tmp_path / "out")) == {"a.mp3"}
    assert set(found(tmp_path, skip=tmp_path / "not there yet")) == {"a.mp3", "out/clips/b.mp3"}
    with pytest.raises(InputError, match="expected another folder for the clips than that of the recordings"):
        scan(tmp_path, skip=tmp_path / "out" / "..")


def test_links_are_followed_and_loops_end(tmp_path: Path) -> None:
    outside = files(tmp_path / "outside", "far.mp3")
    inside = files(tmp_path / "inside", "z/a.mp3")
    links = {
        "loop": inside, "z/up": inside, "again": inside / "z", "out": outside, "b.mp3": inside / "z" / "a.mp3",
        "c.mp3": outside / "far.mp3", "gone.mp3": tmp_path / "nothing", "gone.jpg": tmp_path / "nothing",
        "self.mp3": inside / "self.mp3",
    }  # fmt: skip
    for name, target in links.items():
        (inside / name).symlink_to(target)
    names = set(found(inside))
    assert "z/a.mp3" in names
    assert len(names & {"c.mp3", "out/far.mp3"}) == 1
    assert len(names) == 2
    problems = problems_in(inside)
    assert problems["b.mp3"] == DUPLICATE
    assert problems["gone.mp3"] == problems["self.mp3"] == UNREADABLE
    assert "gone.jpg" not in problems
    assert set(problems.values()) <= set(PROBLEM_WORDS)


def test_what_is_called_like_a_recording_and_is_no_file_is_a_problem(tmp_path: Path) -> None:
    files(tmp_path, "a.mp3", "album.mp3/b.mp3")
    os.mkfifo(tmp_path / "pipe.mp3")
    assert set(found(tmp_path)) == {"a.mp3", "album.mp3/b.mp3"}
    assert problems_in(tmp_path) == {"pipe.mp3": NOT_AUDIO}


def test_a_folder_that_does_not_open_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, "a.mp3", "locked/b.mp3", "open/c.mp3")
    opened = os.scandir

    def scandir(path: Any) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return opened(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert set(found(tmp_path)) == {"a.mp3", "open/c.mp3"}
    assert scan(tmp_path).problems == (
        FileProblem("locked/", UNREADABLE, "the folder cannot be opened: permission denied"),
    )
    with pytest.raises(InputError, match="locked: cannot be read: permission denied"):
        scan(tmp_path / "locked")


def test_names_that_are_no_utf8_are_found_and_written_as_text(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.mp3")).touch()
    except OSError:
        pytest.skip("this file system wants UTF-8")
    files(tmp_path, "café.mp3", "line\nbreak.mp3", "tab\t.m4a", "宇多田\u3000光.mp3")
    result = scan(tmp_path)
    assert {recording.name: recording.document for recording in result.recordings} == {
        "café.mp3": "café", r"caf\xe9.mp3": "café-2", r"line\nbreak.mp3": "line-break",
        "宇多田\u3000光.mp3": "宇多田-光",
    }  # fmt: skip
    assert all(recording.path.exists() for recording in result.recordings)
    assert result.problems[0].file == r"tab\t.m4a"
    assert pickle.loads(pickle.dumps(result)) == result


def test_decomposed_names_and_case_make_no_two_documents_alike(tmp_path: Path) -> None:
    names = ("Zoë.mp3", unicodedata.normalize("NFD", "Zoë.mp3"), "zoë.mp3", "ZOË.flac")
    if len(set(found(files(tmp_path, *names)).values())) != len(names):
        pytest.skip("this file system takes them for one")
    documents = list(found(tmp_path).values())
    assert len({document.casefold() for document in documents}) == len(names)
    assert all(unicodedata.is_normalized("NFC", document) for document in documents)


def test_what_a_table_says_and_what_it_lacks_is_there(tmp_path: Path) -> None:
    files(tmp_path, "a.flac", "b.mp3")
    path = table(tmp_path, "file,artist,title,mood\na.flac,Said,,sad\nc.mp3,Nobody,,\n")
    result = scan(tmp_path, table=path)
    assert [recording.tags for recording in result.recordings] == [{"artist": "Said", "mood": "sad"}, {}]
    assert [(problem.file, problem.problem) for problem in result.problems] == [
        ("b.mp3", NOT_IN_TABLE), ("c.mp3", NO_FILE),
    ]  # fmt: skip
    assert result.problems[1].detail == f"row 2 of {path}: no recording matches it"


@pytest.mark.parametrize(
    "cell",
    [
        "rock/Zoë.mp3", "./rock/Zoë.mp3", r"ROCK\zoë.MP3", "Zoë.mp3", "zoë", "/home/me/Music/rock/Zoë.mp3",
        "rock/Zoe\u0308",
    ],
)  # fmt: skip
def test_cells_name_files_in_many_ways(cell: str, tmp_path: Path) -> None:
    folder = files(tmp_path / "music", "rock/Zoë.mp3", "pop/other.mp3")
    result = scan(folder, table=table(tmp_path, f"file,artist\n{cell},X\n"))
    assert {recording.name: recording.tags for recording in result.recordings} == {
        "pop/other.mp3": {}, "rock/Zoë.mp3": {"artist": "X"},
    }  # fmt: skip


def test_a_cell_that_fits_two_files_is_said_and_used_for_neither(tmp_path: Path) -> None:
    files(tmp_path, "x/a.mp3", "y/a.mp3", "b.mp3")
    problems = scan(tmp_path, table=table(tmp_path, "file,artist\na.mp3,X\nb.mp3,Y\nz/b.mp3,Z\n")).problems
    assert [problem.detail.partition(": ")[2] for problem in problems if problem.problem == NO_FILE] == [
        "2 recordings match it", "no recording matches it",
    ]  # fmt: skip


def test_a_table_may_choose_the_identifiers(tmp_path: Path) -> None:
    files(tmp_path, "rock/a1.mp3", "b.mp3", "c.mp3")
    both = table(tmp_path, "document,file\nB,rock/a1.mp3\n")
    assert found(tmp_path, table=both) == {"b.mp3": "b-2", "c.mp3": "c", "rock/a1.mp3": "B"}
    alone = table(tmp_path, "document,artist\na1,X\nb,Y\n")
    assert found(tmp_path, table=alone) == {"b.mp3": "b", "c.mp3": "c", "rock/a1.mp3": "a1"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,artist\na.mp3,X\nA.mp3,Y\n", r"row 2: expected one row for 'a\.mp3', got another in row 1"),
        ("file,document\na.mp3,x y\n", r"row 1: expected a document of at most 100 bytes .* got 'x y'"),
        ("file,document\na.mp3,x\nb.mp3,X\n", r"row 2: expected different documents, got 'X' for 'b\.mp3' and 'a"),
        ("file,artist\nx.mp3,X\n", r"expected rows about the recordings, such as 'a\.mp3', got none of them \('x"),
    ],
)
def test_a_table_that_contradicts_itself_or_the_folder_is_refused(text: str, message: str, tmp_path: Path) -> None:
    files(tmp_path, "a.mp3", "b.mp3")
    with pytest.raises(InputError, match=rf"table\.csv: {message}"):
        scan(tmp_path, table=table(tmp_path, text))


@given(st.text(alphabet=st.characters(codec=None), max_size=200))
def test_every_name_has_an_identifier_that_every_system_can_use(name: str) -> None:
    made = make_identifier(f"{name}.mp3")
    assert is_identifier(made)
    assert 1 <= len(made.encode()) <= 100
    assert made[0] not in "-."
    assert not any(char.isspace() or char in "/\\:*?\"<>|,;'" or not char.isprintable() for char in made)


@given(st.lists(st.text(alphabet="aAß.- /2", min_size=1, max_size=6), unique=True, max_size=12))
def test_identifiers_differ_even_without_case(names: list[str]) -> None:
    made = assign_identifiers(names)
    assert list(made) == names
    assert len({document.casefold() for document in made.values()}) == len(names)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Artist/Album/01 - Song.mp3", "Artist-Album-01-Song"),
        ("a.b.c.mp3", "a.b.c"),
        (".../-x-.mp3", "x"),
        ("Дельфин/Весна.ogg", "Дельфин-Весна"),
        ("हिन्दी.mp3", "हिन्दी"),
        ("CON.mp3", "CON_"),
        ("a\u00a0b\u3000c.wav", "a-b-c"),
        ("R&B/50% (live).wav", "R-B-50-live"),
    ],
)
def test_identifiers_are_made_from_paths(name: str, wanted: str) -> None:
    assert make_identifier(name) == wanted


def test_long_paths_keep_head_and_tail_and_stay_apart() -> None:
    first, second = (make_identifier(f"Artist/{middle * 60}/The Song.mp3") for middle in ("ab", "ac"))
    assert first != second
    assert first.startswith("Artist-ab")
    assert "The-Song-" in first


def test_files_that_come_and_go_change_no_other_identifier() -> None:
    names = ["b/x.mp3", "b/x.flac", "b/x-2.mp3", "c.mp3"]
    made = assign_identifiers(names)
    assert made == {"b/x.mp3": "b-x-3", "b/x.flac": "b-x", "b/x-2.mp3": "b-x-2", "c.mp3": "c"}
    assert assign_identifiers(["a.mp3", "b/x.flac", "c.mp3"]) == {"a.mp3": "a", "b/x.flac": "b-x", "c.mp3": "c"}
