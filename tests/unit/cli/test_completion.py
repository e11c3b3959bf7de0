"""What a press of TAB offers."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from argcomplete.finders import CompletionFinder
from tests.unit.cli.conftest import Terminal

from adjudge.cli.completion import NAMED, REGISTERED, SHELLS, registered, with_completers
from adjudge.cli.parser import COMMANDS, build_parser
from adjudge.measures import MEASURES
from adjudge.model.scales import parse_scale
from adjudge.relevance import ESTIMATORS, RULES
from adjudge.relevance.choosing import GOALS


def offered(line: str) -> list[str]:
    """What argcomplete answers for a line, without its process."""
    finder = CompletionFinder(with_completers(build_parser()), always_complete_options="long")
    text = line.removeprefix("adjudge ")
    found = itertools.takewhile(lambda one: one is not None, (finder.rl_complete(text, n) for n in itertools.count()))
    begun = text.rpartition(" ")[0]
    return [str(one).removeprefix(begun).strip() for one in found]


def test_commands_are_offered() -> None:
    found = offered("adjudge ")
    assert {"score", "compare", "serve", "completion", "--version"} <= set(found)
    assert len(found) >= len(COMMANDS)
    assert offered("adjudge groundtruth co") == ["compare", "constructions"]


def test_options_and_choices_are_offered() -> None:
    assert "--judged-by" in offered("adjudge campaign create --judged")
    assert offered("adjudge score --unjudged ") == ["zero", "condensed", "bounds"]
    assert set(SHELLS) <= set(offered("adjudge completion "))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("adjudge score -m ", list(MEASURES)),
        ("adjudge score -m CG@5 -m nD", ["nDCG"]),
        ("adjudge estimate runs -m nDCG@1", ["nDCG@1", "nDCG@10", "nDCG@100"]),
        ("adjudge measures AN", ["ANDCG"]),
        ("adjudge score --scale b", ["binary", "broad"]),
        ("adjudge next runs --rule in", ["information"]),
        ("adjudge simulate --estimator h", ["hierarchical"]),
        ("adjudge compare --test fr", ["friedman-tukey"]),
        ("adjudge compare --correction b", ["bonferroni", "bh"]),
        ("adjudge score --format mirex-", ["mirex-matrix", "mirex-list"]),
        ("adjudge convert runs a.txt --to p", ["parquet"]),
        ("adjudge audio runs lab --system ti", ["timbre", "timbre-mp"]),
        ("adjudge audio features lab --feature r", ["rhythm"]),
        ("adjudge experiment power --test p", ["permutation"]),
        ("adjudge serve --port ", []),
    ],
)
def test_registered_names_are_offered(line: str, names: list[str]) -> None:
    assert offered(line) == names


def test_files_and_folders_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "songs.txt").touch()
    (tmp_path / "songs.d").mkdir()
    assert sorted(offered("adjudge score so")) == ["songs.d/", "songs.txt"]
    assert offered("adjudge score songs.txt --metadata songs.t") == ["songs.txt"]
    assert offered("adjudge serve --data so") == ["songs.d/"]


def test_names_that_are_written_down_are_those_of_their_registries() -> None:
    assert NAMED["estimator"] == tuple(ESTIMATORS)
    assert NAMED["rule"] == tuple(RULES)
    assert NAMED["goal"] == tuple(GOALS)
    assert [parse_scale(name).name for name in NAMED["scale"]] == list(NAMED["scale"])


@pytest.mark.parametrize("family", REGISTERED)
def test_every_family_has_members(family: str) -> None:
    names = registered(family)
    assert len(names) > 1
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_is_yours_unless_you_name_one(shell: str, monkeypatch: pytest.MonkeyPatch, cli: Terminal) -> None:
    named = cli.out("completion", shell)
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert cli.out("completion") == named
    assert "adjudge" in named


@pytest.mark.parametrize(("shell", "got"), [("/bin/tcsh", "'/bin/tcsh'"), ("", "nothing")])
def test_another_shell_is_refused(shell: str, got: str, monkeypatch: pytest.MonkeyPatch, cli: Terminal) -> None:
    monkeypatch.setenv("SHELL", shell)
    said = cli.refused("completion")
    assert said == f"adjudge: Expected bash, zsh or fish, or one of them in SHELL, got {got}\n"


def test_help_says_how_to_turn_it_on(cli: Terminal) -> None:
    said = cli.out("completion", "--help")
    assert all(f"adjudge completion {shell}" in said for shell in SHELLS)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes(tmp_path: Path) -> None:
    ask = """
eval "$(adjudge completion bash)"
for COMP_LINE in 'adjudge sco' 'adjudge score -m nDCG@2'; do
  COMP_POINT=${#COMP_LINE} COMP_TYPE=9
  _python_argcomplete adjudge
  printf '%s,' "${COMPREPLY[@]}"
done
printf '%s' "$COMP_WORDBREAKS" >&2
"""
    home = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{home}{os.pathsep}{os.environ['PATH']}"}
    said = subprocess.run(
        ["bash", "--norc", "-c", ask], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout == "score ,nDCG@20 ,"  # the word that bash replaces, which is split at none of these:
    assert "@" not in said.stderr


@pytest.mark.parametrize(
    ("asked", "imported"),
    [
        ("run()", []),  # adjudge --version: nobody pressed TAB
        ("CompletionFinder(with_completers(build_parser())).rl_complete('score --scale b', 0)", ["argcomplete"]),
    ],
    ids=["a command", "an answer"],
)
def test_nothing_heavy_is_imported_for(asked: str, imported: list[str]) -> None:
    code = f"""
import sys
from contextlib import suppress
from adjudge.cli import build_parser, run
sys.argv = ["adjudge", "--version"]
with suppress(SystemExit):
    if {bool(imported)}:
        from argcomplete.finders import CompletionFinder
        from adjudge.cli.completion import with_completers
    {asked}
print(sorted({{"argcomplete", "numpy", "polars", "rich", "scipy", "fastapi", "matplotlib"}} & set(sys.modules)))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == str(imported)
