"""The answers of the ISMIR 2012 user study, as its authors published them.

One row an answer: 2,200 pairs of lists of five documents, Broad and Fine grades of each, and what somebody said of the
two services. Who answered what was not published. Times are taken as UTC: the file does not say.

Urbano et al., How significant is statistically significant? The case of audio music similarity and retrieval,
ISMIR 2012; data: repository ismir2012-significance, CC BY-SA 4.0.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, shown
from adjudge.formats.text_table import TextTable
from adjudge.preferences.questions import Question, Questions
from adjudge.preferences.study import BAD, GOOD, A, B, Study

_CHOICE = "what_service_gives_better_results"
_ANSWERS = {
    "service a": A,
    "service b": B,
    "they are both equally good": GOOD,
    "they are both equally bad": BAD,
}
_RANKS = range(1, 6)
_SCALES = {"fine": "f", "broad": "b"}


def is_2012(table: TextTable) -> bool:
    """Whether a table has the columns of that study."""
    return {_CHOICE, "id", "query", "d1a", "d5b", "f1a", "b5b"} <= set(table.columns.columns)


def study_of_2012(table: TextTable) -> Study:
    """The study: questions are named by their ``id``, list a is service A."""
    ids, queries = table.needed("id"), table.needed("query")
    table.refuse((~ids.is_first_distinct()).to_numpy(), lambda row: f"expected each id once, got {shown(ids[row])}")
    sides = [list(zip(*(table.needed(f"d{r}{side}") for r in _RANKS), strict=True)) for side in "ab"]
    made = []
    for row, (name, query, a, b) in enumerate(zip(ids, queries, *sides, strict=True)):
        try:
            made.append(Question(name, query, a, b))
        except AdjudgeError as error:
            raise table.error(str(error), row) from None
    n = len(made)
    unknown, nobody = np.full(n, np.nan), np.full(n, -1, dtype=np.int64)
    choice = table.one_of(_CHOICE, tuple(_ANSWERS))
    table.needed(_CHOICE)
    return Study(
        Questions(tuple(made), {scale: _grades(table, sign) for scale, sign in _SCALES.items()}),
        np.arange(n, dtype=np.int64),
        choice,
        nobody,
        (),
        nobody.copy(),
        unknown,
        unknown.copy(),
        _times(table),
        np.zeros(n, dtype=np.bool_),
        source=table.source.name,
        sha256=table.source.sha256,
    )


def _grades(table: TextTable, sign: str) -> Floats:
    columns = [[table.numbers(f"{sign}{rank}{side}", least=0.0) for rank in _RANKS] for side in "ab"]
    return np.moveaxis(np.array(columns), 2, 0)


def _times(table: TextTable) -> Floats:
    """Month, day and year, as in ``4/6/2012 22:22:41``; unknown where the column is missing."""
    times = np.full(table.height, np.nan)
    for row, text in enumerate(table.text("x_last_judgment_at").to_list()):
        if text is None:
            continue
        try:
            times[row] = datetime.strptime(text, "%m/%d/%Y %H:%M:%S").replace(tzinfo=UTC).timestamp()
        except ValueError:
            raise table.error(f"expected a time such as 4/6/2012 22:22:41, got {shown(text)}", row) from None
    return times
