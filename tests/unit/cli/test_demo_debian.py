"""adjudge demo --debian, from an archive in a folder to an open campaign; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.audio.debian_archive import Archive, two_games

from adjudge.audio import debian_packages
from adjudge.cli import demo_debian, main
from adjudge.errors import AdjudgeError

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """An archive with two games, and clips as short as their music."""
    for name in ("ADJUDGE_DATA", "ADJUDGE_DATABASE", "ADJUDGE_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo_debian, "SECONDS", 1.2)
    made = Archive(tmp_path, monkeypatch)
    two_games(made)
    return made


COMMAND = ["demo", "--debian", "lab", "--package", "hyper-music", "--package", "max-1.16-music", "--workers", "1"]


def refused(capsys: Captured, *arguments: str) -> str:
    """The one line that a command refuses with."""
    assert main(["demo", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_packages_become_an_open_campaign_with_credits(archive: Archive, capsys: Captured) -> None:
    assert main(COMMAND) == 0
    said = capsys.readouterr()
    assert "5 pieces of music from 2 packages, in lab/music\n" in said.out
    assert "5 clips of 1.2 s at -18 LUFS, in lab/library; who made them is in lab/ATTRIBUTION.md\n" in said.out
    assert "4 artists, 1 genre, 7 systems, 5 queries, in lab/library/runs\n" in said.out
    assert "The campaign music is open, in lab/adjudge-data\n" in said.out
    for command in ("campaign invite music --count 5", "serve", "campaign rehearse music"):
        assert f"  adjudge {command} --data lab/adjudge-data  # " in said.out
    assert "unsandboxed" not in said.err

    assert main(["campaign", "show", "music", "--json", "--data", "lab/adjudge-data"]) == 0
    shown = capsys.readouterr().out
    assert "Lincoln Domina (hunting)" in shown

    assert main(COMMAND) == 0
    assert "The campaign music is in lab/adjudge-data already, and stays as it is\n" in capsys.readouterr().out
    assert len(archive.calls) == 2


def test_without_the_web_extra_there_are_clips_and_runs(
    archive: Archive, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise AdjudgeError("Campaigns need fastapi, which is not installed: pip install 'adjudge[web]'")

    monkeypatch.setattr("adjudge.cli.campaign.store.need_web", refuse)
    assert main(COMMAND) == 0
    said = capsys.readouterr()
    assert "adjudge: note: Campaigns need fastapi" in said.err
    assert "  adjudge demo --debian lab\n" in said.out
    assert Path("lab/library/runs/timbre-mp.txt").read_text().count("\n") > 5
    assert not Path("lab/adjudge-data").exists()


def test_interrupted_it_says_that_it_can_go_on(
    archive: Archive, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(debian_packages, "_waited", stop)
    assert main(COMMAND) == 130
    said = capsys.readouterr().err
    assert said == "adjudge: interrupted; what is in lab stays, and the same command goes on from there\n"


def test_no_network_is_one_line(archive: Archive, capsys: Captured) -> None:
    (archive.folder / "down").touch()
    said = refused(capsys, *COMMAND[1:])
    assert said.startswith("adjudge: hyper-music: cannot be downloaded: Failed to fetch hyper-music Could not connect")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--package", "hyper-music"], "--package goes with --debian"),
        (["--workers", "2"], "--workers goes with --debian"),
        (["--debian", "lab", "--write", "x"], "does not go with --write"),
        (["--debian", "lab", "--json"], "does not go with --json"),
        (["--debian", "lab", "--workers", "0"], "'workers' must be at least 1, got 0"),
        (["--debian", "lab", "--package", "no_such"], "Expected the name of a Debian package, got 'no_such'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    archive: Archive, capsys: Captured, arguments: list[str], words: str
) -> None:
    assert words in refused(capsys, *arguments)
    assert not Path("lab").exists()
