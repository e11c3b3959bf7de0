"""Recordings in a folder: found, named, joined with a table."""

from __future__ import annotations

import os
import pickle
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.audio.library.scanned_folder import files, found, table

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
    scan,
)
from adjudge.errors import InputError


def said(folder: Path, **options: Any) -> dict[str, str]:
    return {problem.file: problem.problem for problem in scan(folder, **options).problems}


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


def test_sound_of_foreign_formats_is_a_problem_that_says_what_to_do(tmp_path: Path) -> None:
    files(tmp_path, "a.mp3", "b.m4a", "c.WMA")
    assert scan(tmp_path).problems == (
        FileProblem("b.m4a", FOREIGN, "AAC or ALAC cannot be read here; convert it to FLAC, WAV, MP3, Ogg or Opus"),
        FileProblem("c.WMA", FOREIGN, "WMA cannot be read here; convert it to FLAC, WAV, MP3, Ogg or Opus"),
    )


def test_a_folder_without_recordings_is_refused_with_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected recordings \(WAV, .*\), got none$"):
        scan(tmp_path)
    files(tmp_path, "b.m4a", "c.m4a")
    with pytest.raises(InputError, match=r"got only 'b.m4a' and 1 more \(foreign format: AAC or ALAC cannot"):
        scan(tmp_path)


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    files(tmp_path, "a.mp3")
    with pytest.raises(InputError, match="expected a folder with recordings, got a file"):
        scan(tmp_path / "a.mp3")
    with pytest.raises(InputError, match="expected a folder with recordings, got nothing of that name"):
        scan(tmp_path / "b")


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
    problems = said(inside)
    assert problems["b.mp3"] == DUPLICATE
    assert problems["gone.mp3"] == problems["self.mp3"] == UNREADABLE
    assert "gone.jpg" not in problems
    assert set(problems.values()) <= set(PROBLEM_WORDS)


def test_what_is_called_like_a_recording_and_is_no_file_is_a_problem(tmp_path: Path) -> None:
    files(tmp_path, "a.mp3", "album.mp3/b.mp3")
    os.mkfifo(tmp_path / "pipe.mp3")
    assert set(found(tmp_path)) == {"a.mp3", "album.mp3/b.mp3"}
    assert said(tmp_path) == {"pipe.mp3": NOT_AUDIO}


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
    assert result.problems[1].detail == f"row 2 of {path}: no recording fits it"
