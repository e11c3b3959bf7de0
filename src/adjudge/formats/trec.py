"""TREC runs and judgments ("qrels"), as trec_eval reads them, and partially ordered lists as text.

A run has six columns, ``query Q0 document rank score system``; judgments have four, ``query subtopic document grade``;
lists have three, ``query group document``, where group 1 is the most similar. Columns are separated by any white space;
lines that are blank or begin with ``#`` are skipped. The rank is ignored: the score decides, as in trec_eval. Columns
after the system are ignored, too, with a note; judgments with a fifth column are refused, there as here.

Lists have three columns on purpose: with four, any other tool would take the groups for grades, upside down. Files that
Adjudge writes say on their first line what they are. Without it, and without the suffix ``.groups``, a file whose
documents are all numbers does not count as lists, because the last of three numbers may as well be a grade.

Files whose columns are separated by single spaces or tabs, nearly all of them, go straight to Polars; others are made
regular first. Python reads a file line by line only to find the line that is wrong.
"""

from __future__ import annotations

import math
import re
from itertools import islice

import numpy as np
import polars as pl

from adjudge.errors import InputError, shown, warn
from adjudge.formats.base import Format, Kind, refuse, register
from adjudge.formats.schema import graded
from adjudge.formats.source import Source, is_number
from adjudge.text import counted

_RUN = {
    "query": pl.String,
    "_q0": pl.String,
    "document": pl.String,
    "_rank": pl.String,
    "score": pl.Float64,
    "system": pl.String,
}
_QRELS = {"query": pl.String, "subtopic": pl.String, "document": pl.String, "grade": pl.Float64}
_TABS = bytes.maketrans(b"\t\v\f", b"   ")
_BLOCK = 1 << 18
_FURTHER = re.compile(rb"^((?:[^ \n]+ ){5}[^ \n]+) [^\n]+", re.MULTILINE)
"""A line of a run with more than six columns."""


@register
class Trec(Format):
    """TREC run and qrels files."""

    name = "trec"
    about = "TREC runs (query Q0 document rank score system) and qrels (query subtopic document grade)"
    kinds = frozenset({"runs", "judgments"})
    writes = frozenset({"runs", "judgments"})
    suffixes = (".trec", ".qrels", ".qrel", ".run", ".res")
    rows_are_lines = True

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether the first line has the columns of the kind, with numbers where numbers belong.

        Tabs around columns that hold spaces are not TREC, nor are six columns of which both the second (Q0) and the
        sixth (the system) vary in the next lines: that is a list of documents. More than six are a run only where the
        second is ``Q0`` or ``0``.
        """
        head = source.head()
        n, number = (6, 4) if kind == "runs" else (4, 3)
        if not head or 3 <= len(head[0].strip().split("\t")) < n:
            return False
        first, *others = map(white_fields, head)
        lines = [fields for fields in (first, *others) if _fits(fields, n, kind)]
        if not _fits(first, n, kind) or len(lines) * 2 < len(head) or not is_number(first[number]):
            return False
        return kind != "runs" or any(len({line[i] for line in lines}) == 1 for i in (1, 5))

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read a run into ``query, document, score, system`` or qrels into ``query, subtopic, document, grade``."""
        if kind == "runs":
            return read_run_lines(source).select("system", "query", "document", "score")
        return read_columns(source, _QRELS, "grade")

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write a run, ranked in the order of its rows (without scores, by ``rank``, with scores ``-rank``), or qrels.

        Identifiers with white space and assessors, which the format cannot hold, are refused.
        """
        if "assessor" in frame.columns:
            raise InputError("TREC qrels hold no assessors; combine them first: --combine mean")
        _refuse_names(frame, "system", "query", "document", "subtopic")
        if kind == "runs":
            if "score" not in frame.columns and "rank" in frame.columns:
                frame = frame.sort("rank", maintain_order=True)
            rank = pl.int_range(1, pl.len() + 1).over("system", "query")
            score = pl.col("score") if "score" in frame.columns else -rank.cast(pl.Float64)
            table = frame.select("query", pl.lit("Q0"), "document", rank.alias("rank"), score.alias("score"), "system")
        else:
            subtopic = pl.col("subtopic") if "subtopic" in frame.columns else pl.lit("0")
            grade = pl.col("grade").cast(pl.String).str.strip_suffix(".0")  # so that whole grades look as they were
            table = frame.select("query", subtopic.alias("subtopic"), "document", grade)
        return table.write_csv(separator=" ", include_header=False, quote_style="never").encode()


def _refuse_names(frame: pl.DataFrame, *columns: str) -> None:
    refuse(frame, columns, r"[ \t\n\r\x0B\x0C]|^$", "without white space")
    refuse(frame, ["query"], "^#", "that does not begin with '#'")


def _fits(fields: list[str], n: int, kind: Kind) -> bool:
    """Whether a line has the columns of the kind: as many, or more after ``Q0`` in a run."""
    return len(fields) == n or (kind == "runs" and len(fields) > n and fields[1].upper() in ("Q0", "0"))


def white_fields(line: str) -> list[str]:
    """Columns between ASCII white space; a no-break space is part of a name."""
    return [field.decode() for field in line.encode().split()]


def read_run_lines(source: Source, *, ranks: bool = False) -> pl.DataFrame:
    """Read a run, with the column of ranks as text if asked for; where that fails, without columns after the sixth."""
    text, schema = _spaced(source), {name.removeprefix("_" if ranks else ""): kind for name, kind in _RUN.items()}
    if (table := _table(text, schema, "score")) is None:
        text, n_longer = _FURTHER.subn(rb"\1", _regular(text))
        if not n_longer or (table := _table(text, schema, "score")) is None:
            raise _first_fault(source, list(_RUN), "score")
        said = f"columns after the tag are ignored, as in trec_eval, in {counted(n_longer, 'line')}"
        warn(f"{source.name}: {said}.", stacklevel=2)
    return table


def read_columns(source: Source, schema: dict[str, type[pl.DataType]], number: str) -> pl.DataFrame:
    """Read columns separated by white space; the column ``number`` must hold finite numbers."""
    table = _table(_spaced(source), schema, number)
    if table is None:
        raise _first_fault(source, list(schema), number)
    return table


def _spaced(source: Source) -> bytes:
    """The text without comments, with spaces between columns."""
    text = source.uncommented()
    return text.translate(_TABS) if b"\t" in text or b"\v" in text or b"\f" in text else text


def _table(text: bytes, schema: dict[str, type[pl.DataType]], number: str) -> pl.DataFrame | None:
    """The columns of a text; None where a line does not have exactly these: none missing, none too many."""
    wanted = [name for name in schema if not name.startswith("_")]
    for is_raw in (True, False):
        data = text if is_raw else _regular(text)
        try:
            frame = pl.scan_csv(data, separator=" ", has_header=False, quote_char=None, schema=schema).select(wanted)
            table = frame.collect(engine="streaming")  # its peak of memory is the steadiest
        except pl.exceptions.PolarsError:
            continue
        is_full = not any(table.null_count().row(0)) and bool(table[number].is_finite().all())
        if is_full and _count_single_spaces(data) == (len(schema) - 1) * table.height:
            return table
    return None


def _count_single_spaces(data: bytes) -> int | None:
    """Number of spaces; None where two are side by side."""
    codes, total = np.frombuffer(data, np.uint8), 0
    space = np.empty(_BLOCK + 1, dtype=np.bool_)  # a small buffer stays in cache: five times faster than a whole file
    for start in range(0, len(codes), _BLOCK):
        part = codes[start : start + _BLOCK + 1]  # one more, to see pairs across blocks
        is_space = np.equal(part, 32, out=space[: len(part)])
        if (is_space[:-1] & is_space[1:]).any():
            return None
        total += int(np.count_nonzero(is_space[:_BLOCK]))
    return total


def _regular(text: bytes) -> bytes:
    """The text with single spaces between columns, none at the ends of lines, and no empty lines."""
    for irregular, regular in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b"\n\n", b"\n")):
        while irregular in text:
            text = text.replace(irregular, regular)
    return text.strip(b" \n")


def _first_fault(source: Source, columns: list[str], number: str) -> Exception:
    """The error for the first line that is wrong."""
    n, place = len(columns), columns.index(number)
    for line_number, line in source.lines():
        fields = white_fields(line)
        if len(fields) < n or (len(fields) > n and number != "score"):  # a run may have more
            return source.error(f"expected {n} columns, got {len(fields)}", line_number)
        if not is_number(fields[place]) or not math.isfinite(float(fields[place])):
            return source.error(f"expected a finite number as {number}, got {shown(fields[place])}", line_number)
    return source.error(f"expected {n} columns of text, got something that could not be read")


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
    rows_are_lines = True

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether the first line, and most of the next ones, have three columns of which the second is a group."""
        lines = source.head()
        if not lines:
            return False
        if source.text.lstrip().startswith(_OPENING):
            return True
        head = [white_fields(line) for line in lines]
        if source.suffix == ".groups" and len(head[0]) == 3:
            return True  # reading says which line is wrong
        fitting = [fields for fields in head if _fits_groups(fields)]
        if not _fits_groups(head[0]) or len(fitting) * 2 < len(head):
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
            line, text = next(islice(source.lines(), bad[0], None))
            raise source.error(f"expected a group from 1 on, got {shown(white_fields(text)[1])}", line)
        return graded(table).select("query", "document", "grade", "group")

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write the groups of judgments: documents of one grade, the highest first, without those of 0 or less."""
        return lists_text(grouped(frame))


def grouped(frame: pl.DataFrame) -> pl.DataFrame:
    """Table ``query, group, document`` of judgments, by group; documents graded 0 or less are left out with a warning.

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
        gone = f"; nothing is left of {counted(lost, 'query')}" if lost else ""
        warn(f"{counted(n, 'document')} with a grade of 0 or less left out{gone}.", stacklevel=3)
    group = pl.col("grade").rank("dense", descending=True).over("query").cast(pl.Int64)
    first = pl.col("row").min().over("query")
    table = listed.with_row_index("row").select("query", group.alias("group"), "document", first.alias("first"))
    return table.sort("first", "group", maintain_order=True).drop("first")


def _fits_groups(fields: list[str]) -> bool:
    return len(fields) == 3 and _GROUP.fullmatch(fields[1]) is not None


def lists_text(table: pl.DataFrame) -> bytes:
    """The file that holds a table ``query, group, document``; identifiers with white space are refused."""
    _refuse_names(table, "query", "document")
    rows = table.select("query", "group", "document").write_csv(
        separator=" ", include_header=False, quote_style="never"
    )
    return f"{TITLE}\n{rows}".encode()
