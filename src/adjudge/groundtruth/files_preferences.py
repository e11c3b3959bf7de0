"""Preferences from tables; see :mod:`adjudge.groundtruth.files`."""

from __future__ import annotations

import numpy as np
import polars as pl

from adjudge.arrays import Codes, Ints
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.groundtruth.files_table import ExpertTable, in_order
from adjudge.groundtruth.preferred import ANSWERS, Preferences, PreferredQuery
from adjudge.model.coding import Vocabulary

SAID: dict[str, str] = {
    **dict.fromkeys(("a", "1", "left", "first", ">", "doca", "documenta", "document_a"), "a"),
    **dict.fromkeys(("b", "2", "-1", "right", "second", "<", "docb", "documentb", "document_b"), "b"),
    **dict.fromkeys(("same", "s", "=", "0", "tie", "tied", "equal", "alike", "neither"), "same"),
}
"""What answers mean, in lower case."""
BLANK = ("-", "–", "na", "n/a", "nan", "none", "null", "{}")
"""What says, beside nothing at all, that there is no answer."""


def preferences_of_table(table: ExpertTable, stacklevel: int) -> Preferences:
    """Preferences with a row an answer; those without an answer are counted and left out."""
    query, first, second = (table.needed(name) for name in ("query", "document_a", "document_b"))
    answer, is_blank = _answers(table)
    assessor = table.needed("expert") if "expert" in table else None
    itself = (first == second).to_numpy()
    table.refuse(itself, lambda row: f"expected two documents, got {shown(first[row])} against itself")
    rows = np.flatnonzero(~is_blank)
    if not len(rows):
        raise table.source.error("expected at least one answer, got only blank ones")
    if len(rows) < len(answer):
        lost = set(query.unique()) - set(query.gather(rows).unique())
        gone = f"; nothing is left of {len(lost)} {'query' if len(lost) == 1 else 'queries'}" if lost else ""
        n = len(answer) - len(rows)
        are = "is" if n == 1 else "are"
        warn(f"{table.source.name}: {n:,} of {len(answer):,} answers {are} blank and left out{gone}.", stacklevel + 1)
    people = Vocabulary()
    who = np.full(len(rows), -1) if assessor is None else people.encode(assessor.gather(rows))
    columns = (query.gather(rows), first.gather(rows), second.gather(rows))
    queries = _queries(table, columns, answer[rows], who.astype(np.int64), rows)
    return Preferences(queries, tuple(people), int(is_blank.sum()), table.source.name, table.source.sha256)


def _answers(table: ExpertTable) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """What each answer says, and which are blank."""
    place = table.needed_place("answer")
    column = table.text(place)
    lowered = column.str.to_lowercase()
    blank = column.is_null() | lowered.is_in(BLANK).fill_null(False)
    values = [ANSWERS[meant] for meant in SAID.values()]
    codes = lowered.replace_strict(list(SAID), values, default=9, return_dtype=pl.Int64).to_numpy()
    is_blank = blank.to_numpy()
    table.refuse(
        (codes == 9) & ~is_blank,
        lambda row: f"expected a, b or same in {shown(table.names[place])}, got {shown(column[row])}",
    )
    return codes, is_blank


def _queries(
    table: ExpertTable, columns: tuple[pl.Series, pl.Series, pl.Series], answer: Ints, assessor: Ints, row: Ints
) -> tuple[PreferredQuery, ...]:
    """The answers by query; documents stand in the order in which they come."""
    names, words = Vocabulary(), Vocabulary()
    query = names.encode(columns[0])
    both = words.encode(pl.concat([columns[1].alias("d"), columns[2].alias("d")]).gather(_alternating(len(query))))
    pairs: Codes = both.reshape(-1, 2)
    documents = np.array(list(words), dtype=object)
    order = np.argsort(query, kind="stable")
    bounds = np.searchsorted(query[order], np.arange(len(names) + 1))
    made = []
    for code, name in enumerate(names):
        rows = order[bounds[code] : bounds[code + 1]]
        what, local = in_order(pairs[rows].ravel())
        two = local.reshape(-1, 2)
        try:
            made.append(
                PreferredQuery(name, tuple(documents[what]), two[:, 0], two[:, 1], answer[rows], assessor[rows])
            )
        except AdjudgeError as error:
            raise table.error(str(error), int(row[rows[0]])) from (error if len(names) > 1 else None)
    return tuple(made)


def _alternating(n: int) -> Ints:
    """Places of first and second documents in turn, where all second ones stand after all first ones."""
    return np.arange(2 * n, dtype=np.int64).reshape(2, n).T.ravel()
