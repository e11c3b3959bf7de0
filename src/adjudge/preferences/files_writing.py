"""Questions and answers as columns of text and numbers, and into files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, shown
from adjudge.formats.compression import compression_of, without_compression
from adjudge.formats.text import BLANKS
from adjudge.formats.writing import write_whole
from adjudge.preferences.files import SET_ASIDE
from adjudge.preferences.questions import CHOICES, Questions
from adjudge.preferences.study import Study


def check_name(path: str | Path) -> None:
    """Refuse a name that promises something else than CSV."""
    if (suffix := without_compression(Path(path)).suffix.lower()) not in ("", ".csv"):
        raise AdjudgeError(f"{path}: expected a name that ends in .csv, or in .csv.gz and the like, got {suffix}")


def write_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a table as CSV, compressed where the name says so; the file appears when it is complete."""
    target = Path(path)
    data = frame.write_csv(null_value="").encode()
    compression = compression_of(target)
    write_whole(target, data if compression is None else compression.pack(data))


def question_columns(questions: Questions) -> pl.DataFrame:
    """One row a question; columns of systems and of a scale only where there are any."""
    asked = questions.questions
    columns: dict[str, Any] = {
        "question": _names("question", [one.name for one in asked]),
        "query": _names("query", questions.queries),
    }
    for side in range(2):
        lists = [one.lists[side] for one in asked]
        for rank in range(questions.n_ranks):
            cells = [documents[rank] if rank < len(documents) else None for documents in lists]
            columns[f"{'ab'[side]}{rank + 1}"] = _names("document", cells)
    columns["expected"] = _text([_joined(one.expected) for one in asked])
    if any(one.systems for one in asked):
        for side in range(2):
            columns[f"system_{'ab'[side]}"] = _names("system", [one.systems and one.systems[side] for one in asked])
    for scale, grades in questions.grades.items():
        for side in range(2):
            for rank in range(questions.n_ranks):
                columns[f"{scale}_{'ab'[side]}{rank + 1}"] = _numbers(grades[:, side, rank])
    return pl.DataFrame(columns)


def answer_columns(study: Study) -> pl.DataFrame:
    """One row an answer, with the columns of its question."""
    questions = question_columns(study.questions)[study.question]
    reasons = [None if reason == "" else reason for reason in study.reasons] or [None] * len(study.participants)
    who = study.participant
    people = [*_names("participant", study.participants), None]  # -1 is nobody
    aside = [
        ((reasons[p] if p >= 0 else None) or SET_ASIDE) if is_aside else None
        for p, is_aside in zip(who.tolist(), study.set_aside.tolist(), strict=True)
    ]
    own = pl.DataFrame(
        {
            "answer": np.arange(1, len(study) + 1),
            "question": questions["question"],
            "participant": _text([people[p] for p in who]),
            "choice": _text([CHOICES[choice] for choice in study.choice.tolist()]),
            "first": _text([("a", "b", None)[swapped] for swapped in study.swapped.tolist()]),
            "seconds": _numbers(study.seconds),
            "heard": _numbers(study.heard),
            "at": _text(_moments(study.at)),
            "set_aside": _text([None if why is None else _one_line(why) for why in aside]),
            "comment": _text([_plain(text) or None for text in study.comments] or [None] * len(study)),
        }
    )
    if study.least_seconds is not None:
        asked = [one.name for one in study.questions.questions]
        least = np.array([study.least_seconds.get(name, np.nan) for name in asked], dtype=np.float64)
        own = own.with_columns(least_seconds=_numbers(least[study.question]))
    if study.rules is not None:
        own = own.with_columns(rules=pl.lit(str(study.rules)))
    return own.hstack(questions.drop("question"))


def _joined(expected: frozenset[str]) -> str | None:
    return "|".join(choice for choice in CHOICES if choice in expected) or None


def _text(cells: Sequence[str | None]) -> pl.Series:
    return pl.Series(cells, dtype=pl.String)


def _numbers(values: Floats) -> pl.Series:
    """Numbers that are empty where unknown, whole where all are."""
    known = values[~np.isnan(values)]
    column = pl.Series(values).fill_nan(None)
    return column.cast(pl.Int64) if bool((known == np.round(known)).all()) else column


def _names(kind: str, cells: Sequence[str | None]) -> pl.Series:
    """Identifiers that a file gives back as they are; others are refused."""
    for cell in cells:
        if cell is not None and (not cell or cell.strip(BLANKS) != cell or not _plain(cell) == cell or "\n" in cell):
            raise AdjudgeError(f"Expected a {kind} that a file can hold, got {shown(cell)}")
    return _text(cells)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _one_line(text: str) -> str:
    return " ".join(_plain(text).split())


def _moments(at: Floats) -> list[str | None]:
    """Times as ISO 8601 in UTC, to the microsecond where they are not whole seconds."""
    known = ~np.isnan(at)
    micro = np.round(np.where(known, at, 0.0) * 1e6).astype(np.int64).astype("datetime64[us]")
    texts = np.datetime_as_string(micro)
    return [
        f"{text.removesuffix('.000000')}Z" if is_known else None for text, is_known in zip(texts, known, strict=True)
    ]
