"""Rows of a table find the recordings that they are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.audio.library.scanned_folder import files, found, table

from adjudge.audio.library.scan import NO_FILE, scan
from adjudge.errors import InputError


@pytest.mark.parametrize(
    "cell",
    [
        "rock/Zoë.mp3",
        "./rock/Zoë.mp3",
        r"ROCK\zoë.MP3",
        "Zoë.mp3",
        "zoë",
        "/home/me/Music/rock/Zoë.mp3",
        "rock/Zoe\u0308",
    ],
)
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
        "2 recordings fit it", "no recording fits it",
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
        (
            "file,document\na.mp3,x\nb.mp3,X\n",
            r"row 2: expected different documents, got 'X' for 'b\.mp3' and 'a\.mp3'",
        ),
        (
            "file,artist\nx.mp3,X\n",
            r"expected rows about the recordings, such as 'a\.mp3', got none of them \('x\.mp3'",
        ),
    ],
)
def test_a_table_that_contradicts_itself_or_the_folder_is_refused(text: str, message: str, tmp_path: Path) -> None:
    files(tmp_path, "a.mp3", "b.mp3")
    with pytest.raises(InputError, match=rf"table\.csv: {message}"):
        scan(tmp_path, table=table(tmp_path, text))
