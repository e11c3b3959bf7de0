"""Groups of partially ordered lists to grades and back: the last group of a query has grade 1, the one before it 2.

Only the order of such grades means anything. What a list does not hold has no grade, and what has a grade of 0 or less
is in no group.
"""

from __future__ import annotations

import polars as pl

from adjudge.errors import InputError, warn


def graded(table: pl.DataFrame) -> pl.DataFrame:
    """Add ``grade`` to a column ``group`` (1 is the most similar); each assessor's groups count by themselves.

    >>> graded(pl.DataFrame({"query": "q", "document": ["A", "B", "C"], "group": [1, 1, 2]}))["grade"].to_list()
    [2.0, 2.0, 1.0]
    """
    keys = [name for name in ("query", "assessor", "subtopic") if name in table.columns]
    grade = pl.col("group").rank("dense", descending=True).over(keys).cast(pl.Float64)
    return table.with_columns(grade.alias("grade"), pl.col("group").cast(pl.Float64))


def grouped(frame: pl.DataFrame) -> pl.DataFrame:
    """Table ``query, group, document`` of judgments, group by group; documents graded 0 or less are left out, aloud.

    >>> frame = pl.DataFrame({"query": "q", "document": ["C", "A"], "grade": [1.0, 2.0]})
    >>> grouped(frame).rows()
    [('q', 1, 'A'), ('q', 2, 'C')]
    """
    for name, plural in (("assessor", "assessors"), ("subtopic", "sub-topics")):
        if name in frame.columns and frame[name].n_unique() > 1:
            raise InputError(f"Lists of groups hold no {plural}; combine them first: --combine mean")
    listed = frame.filter(pl.col("grade") > 0)
    if not listed.height:
        raise InputError("expected documents with grades above 0 to put into groups, got none")
    if listed.height < frame.height:
        n, lost = frame.height - listed.height, frame["query"].n_unique() - listed["query"].n_unique()
        gone = f"; nothing is left of {lost} {'query' if lost == 1 else 'queries'}" if lost else ""
        what = "1 document with a grade of 0 or less is" if n == 1 else f"{n:,} documents with grades of 0 or less are"
        warn(f"{what} in no group and left out{gone}.", stacklevel=3)
    group = pl.col("grade").rank("dense", descending=True).over("query").cast(pl.Int64)
    first = pl.col("row").min().over("query")
    table = listed.with_row_index("row").select("query", group.alias("group"), "document", first.alias("first"))
    return table.sort("first", "group", maintain_order=True).drop("first")
