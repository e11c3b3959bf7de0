"""Files that say which team made which system."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import InputError
from adjudge.formats.reading import Inputs, read_teams

TEAMS = {"a1": "A, Inc.", "b1": "B"}


@pytest.mark.parametrize(
    "text",
    [
        'a1,"A, Inc."\nb1,B\n',
        'system,team\na1,"A, Inc."\nb1,B\n',
        'Team,System\n"A, Inc.",a1\nB,b1\n',
        "team\trun\nA, Inc.\ta1\nB\tb1\n",
        "system;team\na1;A, Inc.\nb1;B\n",
        '# made by hand\n\n"system","team"\n"a1","A, Inc."\nb1 , B\nb1,B\n',
    ],
)
def test_teams_read_the_same_however_they_are_laid_out(tmp_path: Path, text: str) -> None:
    path = tmp_path / "teams.csv"
    path.write_text(text)
    inputs: Inputs = []
    assert read_teams(path, inputs) == TEAMS
    assert [name for name, _ in inputs] == [str(path)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a1,A\na1,B\n", ":2: expected one team for the system 'a1', got 'A' and 'B'"),
        ("a1\n", ":1: expected .* 2 columns, got 1"),
        ("a1,A,x\n", ":1: expected .* 2 columns, got 3"),
        ("system,team\na1,\n", ":2: expected a team, got nothing"),
        ('a1,"A\n', ":1: expected fields with balanced quotes"),
        ("# none\n", ": expected data, got only comments"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "teams.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=f"^{path}{message}"):
        read_teams(path, [])
