"""Result files of the MIREX tasks: ranked lists, sparse and full distance matrices.

A list has one line per query, ``query<TAB>document<TAB>document…`` in rank order, where each document may carry its
distance (``document,distance``: the sparse matrix), or ``query: document document…`` as in query by humming. A full
matrix numbers its files, ``1<TAB>path/to/file.wav``, and then has a line ``Q/R<TAB>1<TAB>2…`` and one row of distances
per query. The first line of either may name the algorithm; without it the system is named after the file.

Directories are dropped from names, suffixes stay. Distances become scores by changing their sign. Every document stays,
the query itself included: filters come later. Distances of a full matrix cannot be negative; those of a list may be, so
that any score can be written as one.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from adjudge.errors import InputError, shown
from adjudge.formats.base import Format, Kind, refuse, register
from adjudge.formats.schema import SCHEMAS, negated
from adjudge.formats.source import SPACES, Source, is_number

_RUNS: frozenset[Kind] = frozenset({"runs"})
_HUMMED = r"^[^\t]*?\S:(?:\s|$)"
_EMAIL = re.compile(r"\s*[(<](?:[^()<>]*@[^()<>]*|e-?mail)[)>]", re.IGNORECASE)
_DIRECTORIES = r"^.*[/\\]"


@register
class MirexMatrix(Format):
    """Full distance matrix."""

    name = "mirex-matrix"
    about = "MIREX full distance matrix: numbered files, then a Q/R line and one row of distances per query"
    kinds = _RUNS
    writes = _RUNS
    excludes_query = True

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether numbered files come first and a line of column numbers later."""
        head = source.head(2)
        numbered = any(re.match(r"\d+\t\s*\S", line) for line in head)
        return numbered and b"\nQ/R\t" in source.text

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read all cells of the matrix, row by row."""
        system, files, columns, line = _read_top(source)
        cells = _read_cells(source, len(columns) + 1, line)
        place = {number: i for i, number in enumerate(files)}
        for number in [*cells[:, 0], *columns]:
            if number not in place:
                raise source.error(f"expected a file for every number of the matrix, got none for {number:g}", line)
        names = pl.Series("name", list(files.values())).str.replace(_DIRECTORIES, "")
        rows = np.repeat([place[int(number)] for number in cells[:, 0]], len(columns))
        return pl.DataFrame(
            {
                "query": names.gather(rows),
                "document": names.gather(np.tile([place[number] for number in columns], len(cells))),
                "score": 0.0 - cells[:, 1:].ravel(),
            }
        ).select(pl.lit(system or source.stem).alias("system"), pl.all())

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write the distances (scores with their sign changed) of one system; none may be missing or negative."""
        system = _only_system(frame)
        refuse(frame, ["query", "document"], r"[\t\n\r/\\]|^\s|\s$|^$", "without tabs and slashes")
        if "score" not in frame.columns or frame["score"].max() > 0:  # type: ignore[operator]
            raise InputError("expected scores of 0 or less, which are distances, for a MIREX matrix")
        documents = frame["document"].unique(maintain_order=True)
        queries = frame["query"].unique(maintain_order=True)
        cells = frame.unique(["query", "document"])
        if cells.height != frame.height or cells.height != len(queries) * len(documents):
            raise InputError("expected every query to rank the same documents for a MIREX matrix")
        number = {name: i for i, name in enumerate(dict.fromkeys([*documents, *queries]), start=1)}
        distances = cells.select(
            pl.col("query", "document").replace_strict(number),
            negated(pl.col("score")).cast(pl.String).alias("distance"),
        ).sort("query", "document")
        rows = distances.group_by("query", maintain_order=True).agg(pl.col("distance").str.join("\t"))
        files = [f"{i}\t{name}" for name, i in number.items()]
        columns = "\t".join(str(number[name]) for name in documents)
        lines = [system, *files, f"Q/R\t{columns}", *(f"{query}\t{row}" for query, row in rows.iter_rows()), ""]
        return "\n".join(lines).encode()


@register
class MirexList(Format):
    """Ranked lists and sparse distance matrices."""

    name = "mirex-list"
    about = "MIREX lists: a query and its documents on each line, with or without distances"
    kinds = _RUNS
    writes = _RUNS
    suffixes = (".mirex",)
    excludes_query = True

    def sniff(self, source: Source, kind: Kind) -> bool:
        """Whether lines hold distances, a colon after the query, or too many columns for a table.

        Three or four columns without distances are a list only below a line that names the algorithm: they may be a
        table of systems, queries and documents as well. Lines of a list begin with different queries, and no list has
        the columns of a TREC run, or all but one of them.
        """
        head = source.head()
        if not head or head[0].lstrip()[:1] in ("{", "[") or b"\nQ/R\t" in source.text:
            return False
        lines = [line.rstrip(SPACES + ",").split("\t") for line in head]
        if len(lines[0]) > 1 and (SCHEMAS[kind].is_header(lines[0]) or _is_like_run(lines)):
            return False
        if len(lines) > 1 and len(lines[1]) > 1 and SCHEMAS[kind].is_header(lines[1]):
            return False  # a title above a table
        hummed = [re.match(r"([^\s,;]+):\s+\S", line) for line in head]
        if all(hummed[1:] or hummed):
            queries = [match[1] for match in hummed if match]
            return len(set(queries)) == len(queries)
        if len(lines[0]) == 1:
            return len(lines) > 1 and all(len(line) > 1 for line in lines[1:])
        if all(_distance(cell) is not None for line in lines for cell in line[1:]):
            return True
        return len(lines[0]) > 4 and len({line[0] for line in lines}) == len(lines)

    def read(self, source: Source, kind: Kind) -> pl.DataFrame:
        """Read lists into ``system, query, document`` and, where there are distances, ``score``."""
        lines = _list_lines(source)
        below = lines.slice(1) if lines.height > 1 else lines
        is_hummed = below["text"].str.contains(_HUMMED).sum() * 2 >= below.height
        first, system = lines["text"][0], None
        if "\t" not in first and not (is_hummed and re.search(_HUMMED, first)):
            system, lines = _algorithm(first), lines.slice(1)
        table = _explode(_split_hummed(lines, source) if is_hummed else _split_tabbed(lines, source), source)
        return table.select(pl.lit(system or source.stem).alias("system"), pl.all())

    def write(self, frame: pl.DataFrame, kind: Kind) -> bytes:
        """Write the lists of one system, with distances (scores with their sign changed) where there are scores."""
        system = _only_system(frame)
        refuse(frame, ["query", "document"], r"[\t\n\r,/\\]|^\s|\s$|^$", "without tabs, commas and slashes")
        refuse(frame, ["query"], r"^#|:(\s|$)|^Q/R$", "that can begin a line of a list")
        if "score" in frame.columns:
            distance = negated(pl.col("score")).cast(pl.String)
            frame = frame.with_columns(document=pl.concat_str("document", distance, separator=","))
        elif "rank" in frame.columns:
            frame = frame.sort("rank", maintain_order=True)
        lists = frame.group_by("query", maintain_order=True).agg(pl.col("document").str.join("\t"))
        return "\n".join([system, *("\t".join(row) for row in lists.iter_rows()), ""]).encode()


def _is_like_run(lines: list[list[str]]) -> bool:
    """Whether lines are those of a TREC run, perhaps without one of its columns: Q0 second, a number fourth."""
    if not all(len(line) in (5, 6) and is_number(line[3]) for line in lines):
        return False
    second = {line[1].upper() for line in lines}
    return len(second) == 1 and (len(lines) > 2 or second <= {"Q0", "0"})


def _algorithm(line: str) -> str | None:
    """The algorithm's name from a header, without an e-mail address.

    >>> _algorithm("Timbre distance 0.1 (someone@example.org)")
    'Timbre distance 0.1'
    """
    return _EMAIL.sub("", line).strip() or None


def _only_system(frame: pl.DataFrame) -> str:
    systems = frame["system"].unique(maintain_order=True).to_list()
    if len(systems) != 1:
        raise InputError(f"expected one system in a MIREX file, got {len(systems)}")
    if re.search(r"[\t\n\r]|^#|^[{\[]|^Q/R$", systems[0]) or _algorithm(systems[0]) != systems[0]:
        raise InputError(f"expected a system that can head a MIREX file, got {shown(systems[0])}")
    return str(systems[0])


def _distance(cell: str) -> float | None:
    """The number after the last comma of ``document,distance``."""
    name, comma, number = cell.rstrip(", ").rpartition(",")
    try:
        return float(number) if comma and name else None
    except ValueError:
        return None


def _list_lines(source: Source) -> pl.DataFrame:
    """The lines that are neither blank nor comments, with their numbers."""
    text = pl.Series("text", source.text.decode().split("\n"))
    lines = pl.DataFrame({"line": pl.int_range(1, len(text) + 1, eager=True), "text": text})
    lines = lines.filter(pl.col("text").str.strip_chars(SPACES) != "", ~pl.col("text").str.starts_with("#"))
    if lines.is_empty():
        raise source.error("expected data, got only comments")
    return lines


def _split_tabbed(lines: pl.DataFrame, source: Source) -> pl.DataFrame:
    """Split lines at tabs; a query with a tab and nothing after it has an empty list."""
    single = lines.filter(~pl.col("text").str.contains("\t", literal=True))
    if not single.is_empty():
        line, text = single.row(0)
        raise source.error(f"expected a query and its documents separated by tabs, got {shown(text)}", line)
    parts = pl.col("text").str.strip_chars_end(SPACES + ",").str.split("\t")
    return lines.select("line", query=parts.list.first(), cell=parts.list.slice(1))


def _split_hummed(lines: pl.DataFrame, source: Source) -> pl.DataFrame:
    """Split lines at the first colon before white space, and then at white space."""
    parts = pl.col("text").str.extract_groups(r"^(?P<query>[^\t]*?\S):(?:[ \t]+(?P<cell>.*))?$")
    split = lines.select("line", "text", parts.alias("parts")).unnest("parts")
    bad = split.filter(pl.col("query").is_null())
    if not bad.is_empty():
        raise source.error(f"expected a query, a colon and documents, got {shown(bad['text'][0])}", bad["line"][0])
    words = pl.col("cell").fill_null("").str.extract_all(r"[^ \t\x0B\x0C]+")
    return split.select("line", "query", cell=words)


def _explode(lists: pl.DataFrame, source: Source) -> pl.DataFrame:
    """One row per document; all have distances if the first does."""
    cells = lists.filter(pl.col("cell").list.len() > 0).explode("cell")
    if cells.is_empty():
        raise source.error("expected at least one query with documents, got none")
    cells = cells.with_columns(pl.col("query").str.strip_chars(SPACES + ","), pl.col("cell").str.strip_chars(SPACES))
    has_distances = _distance(cells["cell"][0]) is not None
    if has_distances:
        bare = pl.col("cell").str.strip_chars_end(", ")
        cells = cells.with_columns(
            document=bare.str.replace(r",[^,]*$", ""),
            score=negated(bare.str.extract(r",\s*([^,]*)$").cast(pl.Float64, strict=False)),
        )
        _refuse_rows(cells, ~pl.col("score").is_finite().fill_null(False), "a document and its distance", source)
    else:
        cells = cells.with_columns(document=pl.col("cell").str.strip_chars_end(", "))
    cells = cells.with_columns(pl.col("query", "document").str.replace(_DIRECTORIES, ""))
    for name in ("query", "document"):
        _refuse_rows(cells, pl.col(name) == "", f"a {name}", source)
    return cells.select("query", "document", *(["score"] if has_distances else []))


def _refuse_rows(cells: pl.DataFrame, bad: pl.Expr, wanted: str, source: Source) -> None:
    faults = cells.filter(bad)
    if not faults.is_empty():
        raise source.error(f"expected {wanted}, got {shown(faults['cell'][0])}", faults["line"][0])


_Top = tuple[str | None, dict[int, str], list[int], int]


def _read_top(source: Source) -> _Top:
    """What is above the rows of a full matrix: the system, names of files by number, numbers of columns, their line."""
    system: str | None = None
    files: dict[int, str] = {}
    for number, line in source.lines():
        key, tab, rest = line.partition("\t")
        key = key.strip(SPACES)
        if key == "Q/R":
            columns = rest.split()
            if not columns or not all(map(_is_whole, columns)):
                raise source.error(f"expected numbers of files after Q/R, got {shown(rest)}", number)
            return system, files, list(map(int, columns)), number
        if _is_whole(key) and tab and rest.strip():
            if int(key) in files:
                raise source.error(f"expected each file number once, got {int(key)} again", number)
            files[int(key)] = rest.strip()
        elif system is None and not files:
            system = _algorithm(line)
        else:
            raise source.error(f"expected a numbered file or the Q/R line, got {shown(line)}", number)
    raise source.error("expected a line that begins with Q/R, got none")


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16


def _read_cells(source: Source, width: int, top: int) -> NDArray[np.float64]:
    """The numbers below the Q/R line, which is line ``top``: per row, a query number and its distances."""
    text = source.text
    body = text[re.search(rb"(?m)^[ \v\f]*Q/R[ \v\f]*\t.*$", text).end() :]  # type: ignore[union-attr]
    body = _regular(body)
    ends = np.flatnonzero(np.frombuffer(body, np.uint8) == 10)
    try:
        values = pl.read_csv(
            body.replace(b"\t", b"\n"), has_header=False, quote_char=None, schema={"cell": pl.Float64}
        )["cell"]
    except pl.exceptions.PolarsError:
        raise _first_fault(source, width, top) from None
    is_whole = len(values) == width * len(ends) and not values.null_count() and len(ends) > 0
    if not is_whole or not _has_even_rows(body, ends, width):
        raise _first_fault(source, width, top)
    cells = values.to_numpy().reshape(-1, width)
    if not np.isfinite(cells).all() or cells.min() < 0:
        raise _first_fault(source, width, top)
    return cells


def _regular(body: bytes) -> bytes:
    """The text without spaces, trailing tabs, blank lines and comments, with a line end at the end."""
    if b"#" in body:
        body = re.sub(rb"(?m)^#.*$", b"", body)
    body = body.translate(None, b" \v\f").strip(b"\n\t") + b"\n"
    for irregular in (b"\t\n", b"\n\n"):
        while irregular in body:
            body = body.replace(irregular, b"\n")
    return body


def _has_even_rows(body: bytes, ends: NDArray[np.int64], width: int) -> bool:
    """Whether every line has its tabs: the one before line end number *i* is tab number *i (width - 1)*."""
    tabs = np.flatnonzero(np.frombuffer(body, np.uint8) == 9)
    if len(tabs) != len(ends) * (width - 1):
        return False
    per_line = tabs.reshape(len(ends), width - 1)
    return bool((per_line[:, -1] < ends).all() and (per_line[1:, 0] > ends[:-1]).all())


def _first_fault(source: Source, width: int, top: int) -> InputError:
    """The error for the first row of the matrix that is wrong."""
    for number, line in source.lines():
        if number <= top:
            continue
        cells = line.rstrip(SPACES).split("\t")
        if len(cells) != width:
            return source.error(f"expected {width} columns, got {len(cells)}", number)
        values = pl.Series(cells).str.strip_chars(SPACES).cast(pl.Float64, strict=False)
        bad = ~(values.is_finite() & (values >= 0)).fill_null(False)
        if bad.any():
            came = shown(cells[bad.arg_true()[0]])
            return source.error(f"expected a finite distance of 0 or more, got {came}", number)
    return source.error("expected rows of distances after the Q/R line, got none")
