"""Partially ordered lists as text: ``query group document``, group 1 is the most similar.

There are three columns on purpose: with four, any other tool would take the groups for grades, upside down. Columns are
separated by any white space; lines that are blank or begin with ``#`` are skipped. Files that Adjudge writes say on
their first line what they are. Without it, and under another name than ``.groups``, a file whose documents are all
numbers is not taken for lists, because the last of three numbers may as well be a grade.

Tables may hold lists, too, with a column ``group`` instead of a grade, and so may JSON: ``{query: [[documents], …]}``.
"""

from __future__ import annotations

import re
from itertools import islice

import polars as pl

from adjudge.errors import shown
from adjudge.formats.base import Format, Kind, register
from adjudge.formats.columns import refuse
from adjudge.formats.levels import graded, grouped
from adjudge.formats.source import Source
from adjudge.formats.text import is_number
from adjudge.formats.trec import read_columns, white_fields

TITLE = "# query group document (group 1 is the most similar)"
"""First line of the files that are written."""

_GROUP = re.compile(r"\+?0*[1-9]\d{0,8}")
_COLUMNS = {"query": pl.String, "group": pl.Float64, "document": pl.String}
_OPENING = b"# query group document"


@register
class Groups(Format):
    """Partially ordered lists as text."""

    name = "groups"
    about = "partially ordered lists (query group document): group 1 is the most similar"
    kinds = frozenset({"judgments"})
    writes = frozenset({"judgments"})
    suffixes = (".groups",)

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether the first line, and most of the next ones, have three columns of which the second is a group."""
        lines = source.head()
        if not lines:
            return False
        if source.text.lstrip().startswith(_OPENING):
            return True
        head = [white_fields(line) for line in lines]
        if source.suffix == ".groups" and len(head[0]) == 3:
            return True  # what is wrong with its groups is said by line
        fitting = [fields for fields in head if _fits(fields)]
        if not _fits(head[0]) or len(fitting) * 2 < len(head):
            return False
        is_table = all("," in line or ";" in line for line in lines)
        has_names = not all(is_number(fields[2]) for fields in fitting)
        return has_names and not is_table

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read lists into ``query, document, grade, group``: the grade of the last group of each query is 1."""
        table = read_columns(source, _COLUMNS, "group")
        group = table["group"]
        bad = ((group < 1) | (group != group.round()) | (group > 1e9)).arg_true()
        if len(bad):
            row = bad[0]
            line, text = next(islice(source.lines(), row, None))
            raise source.error(f"expected a group from 1 on, got {shown(white_fields(text)[1])}", line)
        return graded(table).select("query", "document", "grade", "group")

    def line(self, source: Source, kind: Kind, row: int) -> int | None:
        """Lines that are neither blank nor comments are the rows."""
        return next((number for number, _ in islice(source.lines(), row, None)), None)

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write the groups of judgments: documents of one grade, the highest first, without those of 0 or less."""
        return lists_text(grouped(frame))


def _fits(fields: list[str]) -> bool:
    return len(fields) == 3 and _GROUP.fullmatch(fields[1]) is not None


def lists_text(table: pl.DataFrame) -> bytes:
    """The file that holds a table ``query, group, document``; identifiers with white space are refused."""
    refuse(table, ["query", "document"], r"[ \t\n\r\x0B\x0C]|^$", "without white space")
    refuse(table, ["query"], "^#", "that does not begin with '#'")
    rows = table.select("query", "group", "document").write_csv(
        separator=" ", include_header=False, quote_style="never"
    )
    return f"{TITLE}\n{rows}".encode()
