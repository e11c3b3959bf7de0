"""The command line as somebody types it."""

from __future__ import annotations

import csv
import io
import json
import shlex
from typing import Any, NamedTuple

import pytest

from adjudge.cli import main

typed = shlex.split  # many words as one types them


class Said(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


class Terminal:
    """Runs commands: ``cli("score", "qrels", "runs")``; what was said before is not heard."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *words: str) -> Said:
        self.capsys.readouterr()
        try:
            code = main(list(words))
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Said(code, *self.capsys.readouterr())

    def out(self, *words: str) -> str:
        """What a command prints that succeeds."""
        said = self(*words)
        assert said.code == 0, said
        return said.out

    def json(self, *words: str) -> Any:
        """What a command says as JSON."""
        return json.loads(self.out(*words, "--json"))

    def rows(self, *words: str) -> list[dict[str, str]]:
        """What a command says as CSV."""
        return list(csv.DictReader(io.StringIO(self.out(*words, "--csv"))))

    def refused(self, *words: str) -> str:
        """The one line that a command refuses with; it says nothing else."""
        said = self(*words)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said
        assert said.err.startswith("adjudge: ")
        return said.err


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)
