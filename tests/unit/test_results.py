"""What every result can do, shown on one that is made up; tests/contracts/test_results.py has all that there are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import pytest

import adjudge as aj
from adjudge.results import Column, Result, SavedResult, columns_of, load_result


@dataclass(frozen=True)
class Track:
    name: Annotated[str, Column("name of the track", key=True)]
    mean: Annotated[float, Column("mean length", ".1f", unit="s", ends=("low", "high"))]
    low: Annotated[float, Column("lower end", shown=False)]
    high: Annotated[float, Column("upper end", shown=False)]
    n: Annotated[int | None, Column("plays", ",d")]
    liked: Annotated[bool | None, Column("whether people like it")]
    p: Annotated[float, Column("p-value", "p")]
    verdict: Annotated[Literal["good", "bad"], Column("what people say")]
    near: Annotated[tuple[str, ...], Column("tracks nearby")]
    team: Annotated[str | None, Column("team", optional=True)] = None
    scratch: float = 0.0


@dataclass(frozen=True)
class Tracks(Result):
    rows: tuple[Track, ...]
    row_type = Track
    rows_name = "tracks"

    @property
    def title(self) -> str:
        return f"{len(self.rows)} tracks"

    def _facts(self) -> dict[str, object]:
        return {"confidence": 0.95, "limit": math.inf}

    def _notes(self) -> list[str]:
        return ["Plays of 2012."]


@pytest.fixture
def tracks() -> Tracks:
    return Tracks(
        (
            Track("a & b", 30.0, 28.5, 31.5, 1200, True, 0.0213, "good", ("c_1", "d")),
            Track("<c_1>", 12.0, 11.0, 20.0, None, None, 1e-9, "bad", ()),
            Track("d", math.nan, math.nan, math.nan, 0, False, math.nan, "bad", ("a & b",)),
        )
    )


def test_columns_are_declared_on_the_fields_of_a_row(tracks: Tracks) -> None:
    kinds = {column.name: column.kind for column in columns_of(Track)}
    assert kinds == {
        **dict.fromkeys(("name", "verdict", "team"), "text"),
        **dict.fromkeys(("mean", "low", "high", "p"), "number"),
        "n": "whole",
        "liked": "truth",
        "near": "names",
    }
    assert "scratch" not in kinds
    assert "team" not in [column.name for column in tracks.columns], "no row has one"


def test_a_result_prints_itself_with_units_intervals_and_notes(tracks: Tracks) -> None:
    title, head, first, second, third, note = str(tracks).splitlines()
    assert (title, note) == ("3 tracks", "Plays of 2012.")
    assert "mean (s)" in head
    assert "low" not in head
    assert "30.0 ± 1.5" in first
    assert all(text in first for text in ("1,200", "yes", "0.021", "c_1, d"))
    assert "12.0 [11.0, 20.0]" in second
    assert "< 1e-06" in second
    assert third.split()[1] == "–"


def test_unknown_values_are_none_null_and_missing(tracks: Tracks) -> None:
    rows = tracks.to_dicts()
    assert rows[2]["mean"] is None
    assert rows[1]["n"] is None
    assert rows[0]["near"] == ["c_1", "d"]
    assert dict(tracks.to_polars().schema) == {
        **dict.fromkeys(("name", "verdict"), pl.String),
        **dict.fromkeys(("mean", "low", "high", "p"), pl.Float64),
        "n": pl.Int64,
        "liked": pl.Boolean,
        "near": pl.List(pl.String),
    }
    assert tracks.to_polars().to_dicts() == rows
    assert tracks.to_pandas()["n"].isna().tolist() == [False, True, False]
    assert tracks.to_pandas()["n"].sum() == 1200


def test_empty_results_keep_their_types() -> None:
    empty = Tracks(())
    assert empty.to_dicts() == []
    assert empty.to_polars().schema["n"] == pl.Int64
    assert empty.to_pandas().shape == (0, 9)
    assert empty.to_csv().splitlines() == ["name,mean,low,high,n,liked,p,verdict,near"]
    assert "name" in str(empty)


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet", "md", "tex", "html", "txt"])
def test_a_result_is_saved_in_the_form_of_its_suffix(tracks: Tracks, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"tracks.{suffix}"
    tracks.save(target)
    if suffix == "parquet":
        assert pl.read_parquet(target).equals(tracks.to_polars())
    else:
        assert "1200" in target.read_text().replace(",", "")
    with pytest.raises(aj.AdjudgeError, match=r"\.json.*\.parquet"):
        tracks.save(tmp_path / "tracks.docx")
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_a_file_that_cannot_be_written_is_named(tracks: Tracks, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / "nowhere" / f"x.{suffix}"
    with pytest.raises(aj.AdjudgeError, match=rf"nowhere.x\.{suffix}: cannot be written: "):
        tracks.save(target)


def test_infinite_numbers_and_digits_of_a_loaded_result(tracks: Tracks, tmp_path: Path) -> None:
    endless = replace(tracks, rows=(replace(tracks.rows[0], p=math.inf),))
    endless.save(tmp_path / "x.json")
    loaded = load_result(tmp_path / "x.json")
    assert str(loaded) == str(endless)
    assert "∞" in str(loaded)
    with pytest.raises(aj.AdjudgeError, match="'digits' cannot change"):
        loaded.to_markdown(digits=1)
    tracks.save(tmp_path / "x.json")
    assert load_result(tmp_path / "x.json").to_latex(digits=0) == tracks.to_latex(digits=0)


def test_a_saved_result_is_read_again(tracks: Tracks, tmp_path: Path) -> None:
    tracks.save(tmp_path / "tracks.json")
    loaded = load_result(tmp_path / "tracks.json")
    assert isinstance(loaded, SavedResult)
    assert loaded.kind == "Tracks"
    assert str(loaded) == str(tracks)
    assert loaded.to_polars().equals(tracks.to_polars())
    assert loaded.facts == {"confidence": 0.95, "limit": None}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"result": {}}', '{"result": {"columns": [{"x": 1}]}}'])
def test_what_is_no_saved_result_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(aj.InputError, match=r"x\.json: expected a result.* got something else or a part"):
        load_result(tmp_path / "x.json")
    with pytest.raises(aj.InputError, match="cannot be read"):
        load_result(tmp_path / "none.json")


def test_old_names_work_and_say_the_new_one(tracks: Tracks) -> None:
    with pytest.warns(DeprecationWarning, match="Tracks.records is called to_dicts now"):
        assert tracks.records() == tracks.to_dicts()  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match="to_polars"):
        assert tracks.to_frame().equals(tracks.to_polars())  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tracks.nothing  # type: ignore[attr-defined]


def test_digits_are_those_asked_for_and_a_notebook_shows_at_most_some_rows(tracks: Tracks) -> None:
    assert "30.000 ± 1.500" in tracks.to_markdown(digits=3)
    assert "$\\pm$ 2" in tracks.to_latex(digits=0)
    many = Tracks(tracks.rows * 100)
    assert many._repr_html_().count("<tr>") < 100
    assert "more" in many._repr_html_()
    assert len(str(many).splitlines()) < 50
    assert many.to_markdown().count("\n| ") > 299


@pytest.fixture(scope="module")
def eff() -> aj.Effectiveness:
    return aj.evaluate(aj.demo(queries=5, depth=5), "CG@5")


def test_a_notebook_shows_a_line_not_every_number(eff: aj.Effectiveness) -> None:
    study = aj.gstudy(eff)
    assert [
        repr(result) for result in (eff, aj.summarize(eff), aj.satisfaction(eff), study, study.dstudy(queries=[5, 50]))
    ] == [
        "<Effectiveness: 5 queries x 12 systems x 1 measure (CG@5)>",
        "<Summary: 12 systems (CG@5)>",
        "<Satisfaction: 5 queries x 12 systems (CG@5 on fine)>",
        "<GStudy: CG@5, 12 systems x 5 queries, ANOVA>",
        "<DStudy: CG@5, queries: 5, 50>",
    ]
    assert repr(aj.compare(eff, test="t")) == "<Comparison: CG@5, 66 pairs, t test>"
    two = eff.select(systems=["KLN2", "ZX1"])
    assert repr(aj.compare(two, test="t")) == "<Comparison: CG@5, 1 pair, t test>"
