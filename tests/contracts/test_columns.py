"""Every reader of tables knows every name of the columns that it takes, wherever the table lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adjudge.audio.library.tags import read_tag_table
from adjudge.errors import kept_warnings
from adjudge.formats import read, read_effectiveness
from adjudge.formats.columns import COLUMNS
from adjudge.formats.reading import read_judgments, read_metadata, read_strata, read_teams
from adjudge.groundtruth.files import ranking_rows, read_preferences, read_rankings
from adjudge.preferences.files import answer_columns, question_columns, read_answers, read_questions
from adjudge.users.files import read_mappings

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Reader:
    """Something that reads tables: a table that it takes, and what it makes of it in a form that can be compared.

    It takes every name of ``needed`` columns, of others those that are sure, and none of ``passed_over``.
    """

    read: Callable[[Any], object]
    columns: Columns
    needed: frozenset[str] = frozenset()
    passed_over: frozenset[str] = frozenset()
    takes_frames: bool = True
    called: dict[str, str] = field(default_factory=dict)  # what the reader calls a column, where that is another name

    def names(self, target: str) -> Iterator[str]:
        """Every name under which a column is taken."""
        column = COLUMNS[target]
        for tier in column.names[: None if target in self.needed else column.sure]:
            yield from (name for name in tier if name not in self.passed_over)


RUN: Columns = {"system": ["s", "s"], "query": ["q", "q"], "document": ["a", "b"], "score": [2.5, 1.5]}
ASKED: Columns = {"question": ["1"], "query": ["q"], "a1": ["x"], "b1": ["y"]}
PAIR = frozenset({"query", "document"})

READERS = {
    "runs": Reader(lambda given: read(given).runs.to_polars().to_dicts(), RUN, PAIR),
    "ranks of runs": Reader(
        lambda given: read(given).runs.to_polars().to_dicts(),
        {"query": ["q", "q"], "document": ["a", "b"], "rank": [2, 1], "team": ["t", "t"]},
        PAIR,
    ),
    "judgments": Reader(
        lambda given: read_judgments(given).to_polars().to_dicts(),
        {"query": ["q", "q"], "document": ["a", "b"], "grade": [2, 1], "assessor": ["x", "y"], "subtopic": ["1", "2"]},
        PAIR | {"grade"},
    ),
    "groups": Reader(
        lambda given: read_judgments(given).to_polars().to_dicts(),
        {"query": ["q", "q"], "document": ["a", "b"], "group": [2, 1]},
        PAIR,
    ),
    "metadata": Reader(
        lambda given: read_metadata(given).table.to_dicts(),
        {"document": ["a"], "artist": ["x"]},
        frozenset({"document"}),
    ),
    "effectiveness": Reader(
        lambda given: read_effectiveness(given).to_polars().to_dicts(),
        {
            "system": ["s", "t"],
            "query": ["q", "q"],
            "dataset": ["d", "d"],
            "measure": ["AP", "AP"],
            "value": [0.5, 0.25],
            **{name: [0.25, 0.125] for name in ("lower", "upper", "error", "judged")},
        },
        frozenset({"system"}),
    ),
    "effectiveness by assessor": Reader(
        lambda given: read_effectiveness(given).to_polars().to_dicts(),
        {"query": ["q", "q"], "assessor": ["x", "y"], "value": [0.5, 0.25]},
    ),
    "rankings": Reader(
        lambda given: ranking_rows(read_rankings(given)).to_dicts(),
        {"query": ["q", "q"], "assessor": ["x", "x"], "document": ["a", "b"], "rank": [2, 1]},
        PAIR | {"assessor"},
        called={"assessor": "expert"},
    ),
    "preferences": Reader(
        lambda given: repr(read_preferences(given).queries),
        {"query": ["q"], "document_a": ["a"], "document_b": ["b"], "answer": ["b"], "assessor": ["x"]},
        frozenset({"query"}),
        called={"assessor": "expert"},
    ),
    "questions": Reader(lambda given: question_columns(read_questions(given)).to_dicts(), ASKED, frozenset({"query"})),
    "answers": Reader(
        lambda given: answer_columns(read_answers(given)).to_dicts(),
        {**ASKED, "choice": ["good"], "assessor": ["x"]},
        called={"assessor": "participant"},
    ),
    "teams": Reader(
        lambda given: read_teams(given, []),
        {"system": ["s"], "team": ["t"]},
        frozenset({"system", "team"}),
        takes_frames=False,
    ),
    "strata": Reader(
        read_strata, {"query": ["q"], "stratum": ["x"]}, frozenset({"query", "stratum"}), takes_frames=False
    ),
    "mappings": Reader(
        read_mappings,
        {"measure": ["CG@5"] * 2, "scale": ["fine"] * 2, "value": [0.0, 1.0], "satisfaction": [0.25, 0.75]},
        frozenset({"measure", "value"}),
        takes_frames=False,
        called={"value": "effectiveness"},
    ),
    "tags": Reader(
        read_tag_table,
        {"file": ["a.mp3"], "document": ["a"], "artist": ["x"]},
        passed_over=frozenset({"track", "item"}),  # numbers on a disc
        takes_frames=False,
    ),
}


def forms(columns: Columns, folder: Path, takes_frames: bool) -> Iterator[tuple[str, Any]]:
    """The same table as text, as JSON lines, and as what Python holds."""
    frame = pl.DataFrame(columns)
    for name, text in {
        "t.csv": frame.write_csv(),
        "t.tsv": frame.write_csv(separator="\t"),
        "t.jsonl": "".join(json.dumps(row) + "\n" for row in frame.iter_rows(named=True)),
    }.items():
        (folder / name).write_text(text)
        yield name, folder / name
    if takes_frames:
        yield "Polars", frame
        yield "pandas", frame.to_pandas()
        yield "records", frame.to_dicts()


def outcome(reader: Reader, given: Any) -> object:
    with kept_warnings():
        return reader.read(given)


PAIRS = [(name, target) for name, reader in READERS.items() for target in reader.columns if target in COLUMNS]


@pytest.mark.parametrize(("name", "target"), PAIRS)
def test_a_reader_takes_a_column_by_each_of_its_names(name: str, target: str, tmp_path: Path) -> None:
    reader = READERS[name]
    (tmp_path / "usual").mkdir()
    usual = forms(reader.columns, tmp_path / "usual", reader.takes_frames)
    expected = {form: outcome(reader, given) for form, given in usual}
    names = [*reader.names(target), *([reader.called[target]] if target in reader.called else [])]
    for called in names:
        if called in reader.columns and called != target:
            continue  # that name stands for another column of this table
        columns = {called if key == target else key: values for key, values in reader.columns.items()}
        for form, given in forms(columns, tmp_path, reader.takes_frames):
            found = outcome(reader, given)
            negated = called in ("distance", "dist")
            assert (found != expected[form]) is negated, f"{called} in {form}"


def test_every_column_is_taken_by_a_reader() -> None:
    assert {target for _, target in PAIRS} == set(COLUMNS)
