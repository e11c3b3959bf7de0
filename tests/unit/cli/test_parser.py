"""The command line itself: its help, and what it says of words it does not know."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.unit.cli.conftest import Terminal

from adjudge.cli.parser import COMMANDS


def test_formats_are_no_wider_than_a_wide_terminal_where_there_is_none(cli: Terminal) -> None:
    assert max(map(len, cli.out("formats").splitlines())) == 120


def test_formats_tell_the_names_of_columns_to_programs_too(cli: Terminal) -> None:
    told = cli.json("formats")
    assert "trec" in [row["format"] for row in told["formats"]]
    assert "worker_id" in next(row["names"] for row in told["columns"] if row["column"] == "assessor")
    rows = cli.rows("formats")
    assert {row["format"] for row in rows} - {""} == {row["format"] for row in told["formats"]}
    assert {row["column"] for row in rows} - {""} == {row["column"] for row in told["columns"]}


def test_without_a_command_it_lists_them_all(cli: Terminal) -> None:
    lines = cli.out().splitlines()
    named = {line.split()[0] for line in lines if line.startswith("  ") and line.strip()}
    assert {entry.name for entry in COMMANDS} <= named


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["scor"], "No command is called 'scor'. Did you mean 'score'? (see adjudge --help)"),
        (["campaign", "opn"], "No command is called 'opn'. Did you mean 'open'? (see adjudge campaign --help)"),
        (["demo", "--wirte", "x"], "No option is called '--wirte'. Did you mean '--write'? (see adjudge demo --help)"),
        (["formats", "surplus"], "expected no further argument, got 'surplus' (see adjudge formats --help)"),
        (
            ["score", "q", "r", "-m", "P@5", "AP"],
            "expected no further argument, got 'AP'; several measures go in quotes: -m 'P@5 AP' "
            "(see adjudge score --help)",
        ),
        (
            ["estimate", "runs", "--opinions", "a", "b", "c"],
            "expected no further argument, got 'b'; --opinions takes one value and may be repeated: "
            "--opinions A --opinions B (see adjudge estimate --help)",
        ),
    ],
)
def test_a_word_that_is_not_known_gets_the_nearest_that_is(words: list[str], line: str, cli: Terminal) -> None:
    assert cli.refused(*words) == f"adjudge: {line}\n"


def test_a_family_without_a_command_shows_which_there_are(cli: Terminal) -> None:
    code, out, err = cli("audio")
    assert (code, out) == (2, "")
    assert "prepare" in err


INTERRUPTED = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from adjudge.cli import run
sys.argv = ["adjudge", "demo"]
run()
"""


@pytest.mark.parametrize("name", ["argparse", "adjudge.cli.parser", "adjudge.cli.score", "numpy", "polars", "rich"])
def test_ctrl_c_while_something_is_imported_is_one_line_and_no_traceback(name: str) -> None:
    program = [sys.executable, "-c", INTERRUPTED.format(name=name)]
    ended = subprocess.run(program, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "adjudge: interrupted\n")
