"""adjudge campaign about orders of documents, as an organiser types it, and as one mistypes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.test_campaign import Captured, place, refused, run

__all__ = ["place"]  # a fixture
CREATE = ["create", "incipits", "--candidates", "candidates.csv"]


@pytest.fixture
def here(place: Path) -> Path:
    """A folder with candidates, runs and documents."""
    (place / "candidates.csv").write_text("query,document\nq1,a\nq1,b\nq2,a\nq2,c\n")
    (place / "one.run").write_text("q1 Q0 a 1 9 one\nq1 Q0 b 2 8 one\n")
    (place / "two.run").write_text("q1 Q0 c 1 9 two\nq1 Q0 a 2 8 two\n")
    (place / "texts").mkdir()
    for name in ("a", "b", "c", "q1", "q2"):
        (place / "texts" / f"{name}.txt").write_text(f"about {name}")
    return place


def test_a_campaign_from_first_to_last(here: Path, capsys: Captured) -> None:
    options = ["--kind", "ranking", "--documents", "texts", "--judged-by", "3", "--no-ties", "--kept-hours", "24"]
    assert run(capsys, *CREATE, *options).splitlines() == [
        "Made the campaign incipits: 4 candidates of 2 queries.",
        "5 documents taken in.",
        "Everything is there. Open it with: adjudge campaign open incipits",
    ]
    shown = json.loads(run(capsys, "show", "incipits", "--json"))
    settings = shown["settings"]
    assert (shown["kind"], shown["missing"], shown["counts"]["pairs"]) == ("ranking", [], 2)
    assert (settings["ties"], settings["judged_by"], settings["kept_hours"], settings["listen_seconds"]) == (
        False,
        3,
        24.0,
        0.0,
    )
    assert run(capsys, "candidates", "incipits", "one.run", "two.run", "--cutoff", "1") == (
        "The campaign incipits has 2 candidates of 1 query now.\n"
    )
    run(capsys, "candidates", "incipits", "candidates.csv")
    assert run(capsys, "open", "incipits") == "The campaign incipits is open.\n"
    assert "3 each" in run(capsys, "show", "incipits")
    assert run(capsys, "export", "incipits", "rankings", "-o", "rankings.csv") == "Wrote rankings.csv.\n"
    assert (here / "rankings.csv").read_text() == "query,expert,document,rank\n"
    assert run(capsys, "verify") == "Everything is there and adds up.\n"


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["create", "x", "--kind", "ranking", "runs"], "--kind ranking needs --candidates FILE"),
        ([*CREATE, "--kind", "judging"], "--kind judging needs files with runs, not --candidates"),
        (
            [*CREATE, "--scale", "fine"],
            "--scale is for judging documents; with --candidates documents are put in order",
        ),
        ([*CREATE, "--quiz", "3"], "--quiz is for comparing two lists; with --candidates documents are put in order"),
        (["create", "x", "runs", "--rank-all"], "--rank-all is for putting documents in order; give --candidates FILE"),
        ([*CREATE, "--questions", "questions.csv"], "Expected --questions or --candidates, not both"),
        ([*CREATE, "--cutoff", "3"], "candidates.csv: expected runs where a cutoff is given"),
        ([*CREATE, "--rank-all", "--least-ranked", "2"], "either all documents ranked or a least number of them"),
        ([*CREATE, "--repeat-share", "0.1"], "repeat_share"),
        (["create", "x", "--candidates", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_what_is_mistyped_is_refused_in_one_line(here: Path, capsys: Captured, typed: list[str], sentence: str) -> None:
    assert sentence in refused(capsys, *typed)
    assert not (here / "adjudge-data" / "adjudge.sqlite3").exists()
