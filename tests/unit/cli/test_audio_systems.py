"""adjudge audio systems: the registry, listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.audio.systems import BASELINES
from adjudge.cli import main


def test_every_system_is_listed_with_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audio", "systems"]) == 0
    out = capsys.readouterr().out
    for system in BASELINES.values():
        assert system.about in out


def test_the_list_has_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["audio", "systems", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert [row["system"] for row in rows] == list(BASELINES)
    assert rows[4]["features"] == "timbre, rhythm"
    for name, first in (("a.csv", "system,features,about"), ("a.md", "| system | features | about |")):
        assert main(["audio", "systems", "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(first)
