"""A library as it is read: complete, or refused with one line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from adjudge.audio.library.folder import (
    CLIP_COLUMNS,
    WORK_FOLDER,
    ClipEntry,
    Library,
    RecordingEntry,
    list_clip_files,
    open_journal,
    open_library,
    save_tables,
)
from adjudge.audio.library.scan import FileProblem
from adjudge.errors import InputError


def track(document: str, **tags: str) -> dict[str, str]:
    return {"document": document, "seconds": "30.0", **tags}


def clip(document: str) -> dict[str, str]:
    numbers = ("0", "30.0", "44100", "2", "-18.01", "-3.2", "1.5", "false", "ab", "cd")
    return dict(zip(CLIP_COLUMNS, (document, f"{document}.ogg", *numbers), strict=True))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    tracks = [track("b", title='A "quoted", title'), track("a", mood="calm", artist="Ä")]
    save_tables(tmp_path, problems=[FileProblem("c.ogg", "silent", "x")], tracks=tracks, clips=[clip("b"), clip("a")])
    return open_library(tmp_path)


def test_a_library_comes_back_in_the_order_of_its_documents(library: Library) -> None:
    assert (library.documents, len(library)) == (("a", "b"), 2)
    assert library.tracks["title"].to_list() == [None, 'A "quoted", title']
    assert library.tracks["mood"].to_list() == ["calm", None]
    assert library.clips["loudness"].to_list() == [-18.01, -18.01]
    assert library.clips["rate"].to_list() == [44100, 44100]
    assert library.clip("a") == library.folder / "clips" / "a.mp3"
    assert (library.folder / "problems.csv").read_text() == "file,problem,detail\nc.ogg,silent,x\n"
    assert list_clip_files(library.folder) == {"a": "a.ogg", "b": "b.ogg"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("tracks.csv", "document\na\n", "expected the same documents in tracks.csv and clips.csv, got others"),
        ("tracks.csv", "title\na\n", r"tracks\.csv: expected a column 'document', got title"),
        ("tracks.csv", "document\na\na\n", r"tracks\.csv: expected one row per document, got several for 'a'"),
        ("clips.csv", "document,file\na,b\n", r"clips\.csv: expected a column 'start', got document, file"),
        ("clips.csv", "", r"clips\.csv: expected a table in CSV"),
        ("clips.csv", None, r"clips\.csv: expected numbers"),
    ],
)
def test_tables_that_are_harmed_are_refused(library: Library, name: str, text: str | None, said: str) -> None:
    path = library.folder / name
    path.write_text(path.read_text().replace("44100", "fast") if text is None else text)
    with pytest.raises(InputError, match=said):
        open_library(library.folder)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_folder_may_have_a_name_that_is_not_utf8(library: Library) -> None:
    other = library.folder / os.fsdecode(b"caf\xe9")
    other.mkdir()
    for table in library.folder.glob("*.csv"):
        table.rename(other / table.name)
    assert open_library(other).documents == ("a", "b")


def test_a_folder_that_is_none_and_one_that_is_not_finished_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"got one without tracks\.csv"):
        open_library(tmp_path)
    (tmp_path / WORK_FOLDER).mkdir()
    with pytest.raises(InputError, match="got one that is not finished; prepare it again"):
        open_library(tmp_path)


def test_the_last_entry_of_a_journal_counts_and_damage_is_passed_over(tmp_path: Path) -> None:
    made = ClipEntry("a", "key", 1, 2, "ab", 1.0, 44100, 2, -18.0, -1.5, 0.0, limited=False)
    with open_journal(tmp_path) as journal:
        for size in (1, 2):
            journal.add(RecordingEntry("a", "a.wav", size, 0, "s", tags={"artist": "Ä"}))
        journal.add(made)
    lines = (tmp_path / WORK_FOLDER / "journal.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["is"] for line in lines if line] == ["Heard", "Heard", "Made"]  # as in earlier versions
    with (tmp_path / WORK_FOLDER / "journal.jsonl").open("ab") as file:
        file.write(b'\nnull\n[]\n{"is": "Heard"}\n{"is": "Other"}\n\xff\xfe\n{"is": "Made", "document": "a", "k')
    with open_journal(tmp_path) as journal:
        journal.add(RecordingEntry("b", "b.wav", 3, 0, "s"))
    with open_journal(tmp_path) as journal:
        assert (journal.recordings["a"].size, journal.recordings["a"].tags) == (2, {"artist": "Ä"})
        assert journal.clips == {"a": made}
        assert set(journal.recordings) == {"a", "b"}
        journal.keep_only(["b"])
    with open_journal(tmp_path) as journal:
        assert (set(journal.recordings), journal.clips) == ({"b"}, {})
