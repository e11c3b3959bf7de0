"""Experts' rankings and preferences, and the lists made of them, from files and back.

A *rankings file* has one row a rank::

    query,expert,document,rank

Rank 1 is the most similar document; equal ranks are ties, and an empty rank (or ``-``, ``unranked``) says that the
expert left the document unranked. Where there is no column for ranks, every column besides query and document is an
expert (the *wide* form), and experts without any rank for a query were not asked about it. JSON holds
``{query: {expert: [[document, document], [document]]}}``, a document by itself standing for a group of one, or
``{query: {expert: {document: rank}}}``.

A *preferences file* has one row an answer::

    query,document_a,document_b,answer,assessor

``answer`` is ``a``, ``b`` or ``same`` (also left, right, first, second, 1, 2, s, =, tie …), or empty, which is counted
and left out. Without a column for assessors it is not known who answered. The file of the 2010 study (columns
``Input.docA``, ``Answer.radio`` …) is read as it is.

A *lists file* holds judgments in any format that Adjudge reads: groups as text, tables with a column ``group``, JSON
``{query: [[document, document], [document]]}``, or grades, which are groups from the highest grade down to the last
above 0.

Columns go by other names, too: all of :data:`adjudge.formats.columns.COLUMNS`. Tables are CSV with commas or semicolons
(and then with decimal commas), TSV, spreadsheets, Parquet or JSON lines, plain or compressed; in text, lines outside of
quotes that begin with ``#`` are skipped.

The cells of a file of experts' answers as text, whatever holds them.

Rankings from tables, long or wide, and from JSON; see :mod:`adjudge.groundtruth.files`.

Preferences from tables; see :mod:`adjudge.groundtruth.files`.

Rankings, preferences and lists as tables, and into files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import polars as pl

from adjudge.arrays import Codes, Floats, Ints, Mask
from adjudge.checks import checked
from adjudge.errors import AdjudgeError, InputError, shown, warn
from adjudge.formats.base import FORMATS, Format
from adjudge.formats.columns import (
    column_of,
    graded,
    missing_column,
    naming_columns,
    place_of,
    refuse,
    with_points,
    worded,
)
from adjudge.formats.source import BLANKS, Source, with_article
from adjudge.formats.tables import find_layout, line_of, parquet_frame, read_cells
from adjudge.formats.trec import lists_text
from adjudge.formats.writing import format_for
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.groundtruth.preferences import ANSWERS, Preferences, PreferredQuery
from adjudge.groundtruth.rankings import Places, RankedQuery, Rankings, check_left_out
from adjudge.io import deliver, without_compression
from adjudge.model.vocabulary import Vocabulary


@checked(places=Places)
def read_experts(
    path: str | Path,
    *,
    places: Places = "counted",
    without: Collection[str] = (),
    columns: Mapping[str, str] | str | None = None,
) -> Rankings | Preferences:
    """Read experts' answers of either kind, told apart by the columns; see :func:`read_rankings`.

    Columns for a first and a second document, and none for a document by itself, make preferences.
    """
    with naming_columns(columns):
        content = _content(path, without)
        return _preferences(content) if _has_pairs(content) else _rankings(content, places)


@checked(places=Places)
def read_rankings(
    path: str | Path,
    *,
    places: Places = "counted",
    without: Collection[str] = (),
    columns: Mapping[str, str] | str | None = None,
) -> Rankings:
    r"""Read a rankings file; whatever cannot be used is refused with its line.

    A document that an expert ranks twice for a query is refused, as are ranks of 0 or less, ranks from nobody, queries
    with a single document and queries for which nobody ranked anything. ``places`` says whether ranks are counted anew
    in each expert's ranking; queries ``without`` which to read are left out before anything of them is looked at, and
    must be there. ``columns`` says which column holds what where names do not: ``{"assessor": "musician"}``. ``-`` is
    standard input.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "rankings.csv"
    >>> _ = file.write_text("query,expert,document,rank\nq,ann,a,1\nq,ann,b,1\nq,ann,c,2\nq,bob,c,1\nq,bob,a,\n")
    >>> read_rankings(file).queries[0].ranks.tolist()
    [[1.5, 1.5, 3.0], [nan, nan, 1.0]]
    """
    with naming_columns(columns):
        content = _content(path, without)
        if _has_pairs(content):
            raise content.source.error("expected rankings (query, expert, document, rank), got preferences between two")
        return _rankings(content, places)


def read_preferences(
    path: str | Path, *, without: Collection[str] = (), columns: Mapping[str, str] | str | None = None
) -> Preferences:
    r"""Read a preferences file; whatever cannot be used is refused with its line, blank answers are left out, aloud.

    A document against itself is refused, and so are answers that mean nothing. ``without`` and ``columns`` are as
    for :func:`read_rankings`. ``-`` is standard input.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "preferences.csv"
    >>> _ = file.write_text("query;doc_a;doc_b;answer;worker\nq;x;y;A;ann\nq;y;z;tie;ann\n")
    >>> read_preferences(file).queries[0].wins.tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    with naming_columns(columns):
        return _preferences(_content(path, without))


def read_lists(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, str] | str | None = None,
) -> PartialLists:
    """Read partially ordered lists from any file of judgments; ``format`` names its format (see ``adjudge formats``).

    Documents with grades of 0 or less are in no list, with a warning that counts them. ``-`` is standard input.
    """
    from adjudge.formats.columns import grouped
    from adjudge.formats.reading import read_judgments

    frame = read_judgments(path, format=format, columns=columns).to_polars()
    try:
        table = grouped(frame)
    except AdjudgeError as error:
        raise InputError(str(error), source=str(path)) from None
    groups: dict[str, list[list[str]]] = {}
    for query, _, documents in table.group_by("query", "group", maintain_order=True).agg("document").iter_rows():
        groups.setdefault(query, []).append(documents)
    return PartialLists(tuple(PartialList(query, tuple(map(tuple, given))) for query, given in groups.items()))


def write_rankings(rankings: Rankings, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a rankings file, in the format that the suffix or ``format`` names: csv, tsv, parquet, json, jsonl.

    JSON is ``{query: {expert: {document: rank}}}``. Ranks are written as they are held: counted ones share the means
    of their places. The file appears when it is complete; ``-`` is standard output.
    """
    put_rankings(rankings, path, format)


def write_preferences(preferences: Preferences, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a preferences file, in the format that the suffix or ``format`` names: csv, tsv, parquet, jsonl."""
    put_preferences(preferences, path, format)


def write_lists(lists: PartialLists, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write lists, in the format that the suffix or ``format`` names.

    ``.groups``, ``.txt`` and standard output (``-``) are text of ``query group document``; ``.csv``, ``.tsv``,
    ``.parquet`` and ``.jsonl`` are tables with these columns; ``.json`` is ``{query: [[document, document],
    [document]]}``. TREC qrels (``.qrels``) hold grades: the last group of each query has 1. Every one of them is read
    back by :func:`read_lists`, and as judgments.
    """
    put_lists(lists, path, format)


def _content(path: str | Path, without: Collection[str]) -> ExpertTable | Nested:
    """What a file holds, less the queries to leave out: whatever is wrong with those is not looked at."""
    if isinstance(without, str):
        raise AdjudgeError(f"'without' must be names of queries, got the text {shown(without)}")
    content = _whole(path)
    return content.without(set(without)) if without else content


def _whole(path: str | Path) -> ExpertTable | Nested:
    """The table in a file, or its JSON where that holds no records."""
    from adjudge.formats.inputs import STDIN, open_source
    from adjudge.formats.json import json_lines, parse_json

    source = open_source(STDIN if str(path) == "-" else Path(path))
    if not is_json(source):
        return open_table(source)
    lines = json_lines(source)
    if lines is not None:
        return table_of_records(source, [record for _, record in lines], lambda row: lines[row][0])
    content = parse_json(source)
    return table_of_records(source, content, lambda _: None) if isinstance(content, list) else Nested(source, content)


def _has_pairs(content: ExpertTable | Nested) -> bool:
    """Whether a table holds preferences; experts whose columns are called a and b do not make them."""
    return "document" not in content and "document_a" in content and "document_b" in content


def _preferences(content: ExpertTable | Nested) -> Preferences:

    if isinstance(content, Nested):
        raise content.source.error("expected records with query, document_a, document_b and answer, got other JSON")
    return preferences_of_table(content, stacklevel=3)


def _rankings(content: ExpertTable | Nested, places: Places) -> Rankings:

    return rankings_of_json(content, places) if isinstance(content, Nested) else rankings_of_table(content, places)


@dataclass(frozen=True)
class ExpertTable:
    """Columns of text with the names that the file gives them, and the line of each row where there is one.

    ``rows`` are those of the file that are left, where some were left out.
    """

    source: Source
    names: tuple[str, ...]
    frame: pl.DataFrame
    line: Callable[[int], int | None]
    has_decimal_commas: bool = False
    rows: Ints | None = None

    def place(self, target: str, *, needed: bool = True) -> int | None:
        """Which column holds something, as far as names say; several for one thing are refused."""
        return place_of(
            self.names,
            "assessor" if target == "expert" else target,
            lambda message, _: self.source.error(message),
            needed=needed,
        )

    def __contains__(self, target: str) -> bool:
        return self.place(target, needed=target != "document") is not None

    def text(self, place: int) -> pl.Series:
        """A column by its place, without surrounding blanks; null where empty."""
        try:
            column = _as_text(self.frame.to_series(place)).str.strip_chars(BLANKS)
        except pl.exceptions.PolarsError:
            kind = self.frame.dtypes[place].base_type()
            raise self.source.error(f"expected text in {shown(self.names[place])}, got a column of {kind}") from None
        return column.set(column == "", None)

    def needed(self, target: str) -> pl.Series:
        """A column that must be there and have a value in every row."""
        column, wanted = self.text(self.needed_place(target)), with_article(worded(target))
        self.refuse(column.is_null().to_numpy(), lambda row: f"expected {wanted}, got nothing")
        return column

    def needed_place(self, target: str) -> int:
        """Which column holds something that must be there."""
        place = self.place(target)
        if place is None:
            raise self.source.error(missing_column(self.names, "assessor" if target == "expert" else target))
        return place

    def without(self, queries: Collection[str]) -> ExpertTable:
        """The rows about other queries; names that no row has are refused."""
        query = self.text(self.needed_place("query"))
        check_left_out(queries, query.drop_nulls().unique(maintain_order=True).to_list())
        kept = np.flatnonzero(~query.is_in(list(queries)).fill_null(False).to_numpy())
        return replace(self, frame=self.frame[kept], rows=kept)

    def refuse(self, bad: Mask, message: Callable[[int], str]) -> None:
        """Raise for the first bad row, with its line."""
        rows = np.flatnonzero(bad)
        if len(rows):
            raise self.error(message(int(rows[0])), int(rows[0]))

    def error(self, message: str, row: int) -> InputError:
        """Make the error for a row, counted from 0; where it has no line, the row is said, counted from 1."""
        place = row if self.rows is None else int(self.rows[row])
        line = self.line(place)
        return self.source.error(message if line is not None else f"row {place + 1}: {message}", line)


@dataclass(frozen=True)
class Nested:
    """What a file of JSON holds, where it is no table."""

    source: Source
    content: object

    def __contains__(self, target: str) -> bool:
        return False

    def without(self, queries: Collection[str]) -> Nested:
        """The same without some queries; names that it does not have are refused."""
        if not isinstance(self.content, Mapping):
            return self  # refused later
        names = {key: str(key).strip(BLANKS) for key in self.content}
        check_left_out(queries, list(names.values()))
        return replace(self, content={key: value for key, value in self.content.items() if names[key] not in queries})


def is_json(source: Source) -> bool:
    """Whether a file holds JSON."""
    return not source.begins(b"PAR1") and source.text.lstrip()[:1] in (b"{", b"[")


def open_table(source: Source) -> ExpertTable:
    """The table in a file of CSV, TSV or Parquet."""
    if source.begins(b"PAR1"):
        frame = parquet_frame(source)
        if not frame.height:
            raise source.error("expected at least one row of data, got none")
        return ExpertTable(source, tuple(frame.columns), frame, lambda row: None)
    return _text_table(source)


def _text_table(source: Source) -> ExpertTable:
    """A table of text; quotes may stand between tabs, too."""
    source.uncommented()  # refuses a file of comments only
    layout = find_layout(source, "\t,;", lambda fields: sum(map(bool, fields)) > 1, is_quoted=True)
    layout = replace(layout, has_header=True, skipped=max(layout.skipped, layout.line))
    names = tuple(name.strip(BLANKS) for name in layout.names)
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise source.error(f"expected each column once, got {shown(twice[0])} again", layout.line)
    frame = read_cells(source, layout)
    if not frame.height:
        raise source.error("expected at least one row of data, got none")
    return ExpertTable(source, names, frame, lambda row: line_of(source, layout, row), layout.has_decimal_commas)


def table_of_records(source: Source, records: Sequence[object], line: Callable[[int], int | None]) -> ExpertTable:
    """The table that records with names and values make."""
    names: dict[str, None] = {}
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            where = line(row)
            raise source.error(
                f"{'' if where else f'row {row + 1}: '}expected a record with names and values, got {shown(record)}",
                where,
            )
        names.update(dict.fromkeys(map(str, record)))
    if not names:
        raise source.error("expected at least one row of data, got none")
    try:
        columns = [column_of(name, [record.get(name) for record in records]) for name in names]  # type: ignore[attr-defined]
    except InputError as fault:
        raise source.error(str(fault)) from None
    nested = next((one.name for one in columns if one.dtype.is_nested() or one.dtype == pl.Object), None)
    if nested is not None:
        raise source.error(f"expected text or a number in {shown(nested)}, got a list or an object")
    return ExpertTable(source, tuple(names), pl.DataFrame(columns), line)


def _as_text(column: pl.Series) -> pl.Series:
    """Values as text: 7.0 is ``7``, as it is where names are numbers."""
    if column.dtype == pl.String:
        return column
    if not column.dtype.is_float():
        return column.cast(pl.String)
    value = pl.col(column.name).fill_nan(None)
    whole = value.cast(pl.Int64, strict=False)
    text = pl.when(value == whole).then(whole.cast(pl.String)).otherwise(value.cast(pl.String))
    return column.to_frame().select(text).to_series()


def in_order(codes: Codes) -> tuple[Ints, Ints]:
    """The distinct codes in the order in which they come, and the place among them of each."""
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return distinct[order].astype(np.int64), place[inverse]


UNRANKED = ("-", "–", "—", "unranked", "na", "n/a", "nan", "none", "null")
"""What says, beside nothing at all, that a document was left unranked; case does not count."""


def rankings_of_table(table: ExpertTable, places: Places) -> Rankings:
    """Rankings with a row a rank, or with a column an expert where no column holds ranks."""
    if "rank" in table or "expert" in table:
        expert, rank = table.needed("expert"), _ranks(table, table.needed_place("rank"))
        query, document = table.needed("query"), table.needed("document")
        row = np.arange(len(rank), dtype=np.int64)
    else:
        query, expert, document, rank, row = _melted(table)
    return _long_rankings(table, (query, expert, document), rank, row, places)


def _ranks(table: ExpertTable, place: int) -> Floats:
    """A column of ranks; NaN where a document was left unranked."""
    column = table.text(place)
    plain = with_points(column) if table.has_decimal_commas else column
    values = plain.cast(pl.Float64, strict=False)
    silent = column.is_null() | column.str.to_lowercase().is_in(UNRANKED).fill_null(False)
    bad = ~silent & ~((values > 0) & values.is_finite()).fill_null(False)
    name = table.names[place]
    table.refuse(
        bad.to_numpy(),
        lambda row: f"expected a rank of more than 0, or nothing, in {shown(name)}, got {shown(column[row])}",
    )
    ranks: Floats = np.where(silent.to_numpy(), np.nan, values.fill_null(np.nan).to_numpy())
    return ranks


def _melted(table: ExpertTable) -> tuple[pl.Series, pl.Series, pl.Series, Floats, Ints]:
    """The columns of experts under one another: query, expert, document, rank and the row that each came from."""
    query, document = table.needed("query"), table.needed("document")
    known = {table.place("query"), table.place("document")}
    places = [i for i in range(len(table.names)) if i not in known and not _is_surplus(table, i)]
    if not places:
        table.needed("expert")  # refused: neither ranks nor experts
    nameless = next((i for i in places if not table.names[i]), None)
    if nameless is not None:
        raise table.source.error(f"expected the name of an expert above column {nameless + 1}, got nothing")
    ranks = np.column_stack([_ranks(table, i) for i in places])
    n, m = ranks.shape
    rows = np.repeat(np.arange(n, dtype=np.int64), m)
    experts = pl.Series([table.names[i] for i in places]).gather(np.tile(np.arange(m), n))
    codes = Vocabulary().encode(query)
    asked = np.zeros((int(codes.max()) + 1, m), dtype=np.bool_)
    np.logical_or.at(asked, codes, np.isfinite(ranks))
    asked[asked.sum(axis=1) == 0] = True  # refused later, with a line
    keep = asked[codes].ravel()  # who ranked nothing for a query was not asked
    kept = np.flatnonzero(keep)
    return query.gather(rows[kept]), experts.gather(kept), document.gather(rows[kept]), ranks.ravel()[kept], rows[kept]


def _is_surplus(table: ExpertTable, place: int) -> bool:
    """Whether a column is one of the empty ones that spreadsheets append."""
    return not table.names[place] and table.text(place).null_count() == table.frame.height


def _long_rankings(
    table: ExpertTable, named: tuple[pl.Series, pl.Series, pl.Series], rank: Floats, row: Ints, places: Places
) -> Rankings:
    """Rankings of coded columns; ``row`` says where in the table each rank is."""
    words = [Vocabulary() for _ in named]
    query, expert, document = (vocabulary.encode(column) for vocabulary, column in zip(words, named, strict=True))
    _refuse_repeats(table, named, (query, expert, document), row)
    people, documents = np.array(list(words[1]), dtype=object), np.array(list(words[2]), dtype=object)
    order = np.argsort(query, kind="stable")
    bounds = np.searchsorted(query[order], np.arange(len(words[0]) + 1))
    queries = []
    for code, name in enumerate(words[0]):
        rows = order[bounds[code] : bounds[code + 1]]
        who, i = in_order(expert[rows])
        what, j = in_order(document[rows])
        ranks = np.full((len(who), len(what)), np.nan)
        ranks[i, j] = rank[rows]
        try:
            one = RankedQuery(name, tuple(documents[what]), tuple(people[who]), ranks)
        except AdjudgeError as error:
            raise table.error(str(error), int(row[rows[0]])) from (error if len(words[0]) > 1 else None)
        queries.append(one.counted() if places == "counted" else one)
    return Rankings(tuple(queries), places, table.source.name, table.source.sha256)


def _refuse_repeats(
    table: ExpertTable, named: tuple[pl.Series, ...], codes: tuple[Codes, Codes, Codes], row: Ints
) -> None:
    """Raise for the first rank of a document that the same expert ranked before for the same query."""
    cells = pl.DataFrame([pl.Series(str(i), one) for i, one in enumerate(codes)])
    again = np.flatnonzero(~cells.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy())
    if len(again):
        query, expert, document = (shown(column[int(again[0])]) for column in named)
        message = f"expected each document once from an expert, got {document} of query {query} again from {expert}"
        raise table.error(message, int(row[again[0]]))


def rankings_of_json(nested: Nested, places: Places) -> Rankings:
    """Rankings of ``{query: {expert: [[documents], …]}}`` or ``{query: {expert: {document: rank}}}``."""
    source = nested.source
    rows = list(_json_rows(source, nested.content))
    if not rows:
        raise source.error("expected at least one ranking, got none")
    try:
        return Rankings.from_rows(rows, places=places, source=source.name, sha256=source.sha256)
    except AdjudgeError as error:
        raise source.error(str(error)) from (error if len({row[0] for row in rows}) > 1 else None)


def _json_rows(source: Source, content: object) -> Iterator[tuple[str, str, str, float]]:
    if not isinstance(content, Mapping):
        _misfit(source, "{query: {expert: [[documents], …]}}", content)
    for query, experts in content.items():
        if not isinstance(experts, Mapping):
            _misfit(source, "{expert: [[documents], …]}", experts, query)
        for expert, given in experts.items():
            names = _json_name(source, query), _json_name(source, expert, query)
            if isinstance(given, Mapping):
                for document, rank in given.items():
                    name = _json_name(source, document, query, expert)
                    yield *names, name, _json_rank(source, rank, query, expert, document)
            elif isinstance(given, list):
                for place, group in enumerate(given, start=1):
                    if group == []:
                        _misfit(source, f"documents at place {place}", group, query, expert)
                    for document in group if isinstance(group, list) else [group]:
                        yield *names, _json_name(source, document, query, expert), float(place)
            else:
                _misfit(source, "documents in order", given, query, expert)


def _json_rank(source: Source, rank: object, *path: str) -> float:
    if rank is None or (isinstance(rank, str) and rank.strip(BLANKS).lower() in ("", *UNRANKED)):
        return float("nan")
    if isinstance(rank, bool) or not isinstance(rank, int | float) or not 0 < rank < float("inf"):
        _misfit(source, "a rank of more than 0, or null", rank, *path)
    return float(rank)


def _json_name(source: Source, value: object, *path: str) -> str:
    """A name; whole numbers are names, too."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not text.strip(BLANKS):
        _misfit(source, "a name", value, *path)
    return text.strip(BLANKS)


def _misfit(source: Source, wanted: str, came: object, *path: str) -> NoReturn:
    where = " > ".join(path) + ": " if path else ""
    raise source.error(f"{where}expected {wanted}, got {shown(came)}")


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


_UNFIT = r"^ | $|^$|[\x00-\x1F]"
_TABLES = ("csv", "tsv", "parquet", "jsonl")


def put_rankings(rankings: Rankings, path: str | Path, name: str | None) -> None:
    """Write rankings."""
    chosen = _able(path, name, (*_TABLES, "json"), "rankings")
    table = ranking_rows(rankings)
    if chosen.name != "json":
        deliver(_table(table, chosen), path)
        return
    nested: dict[str, dict[str, dict[str, float | None]]] = {}
    for query, expert, document, rank in table.iter_rows():
        nested.setdefault(query, {}).setdefault(expert, {})[document] = rank
    deliver(_json(nested), path)


def ranking_rows(rankings: Rankings) -> pl.DataFrame:
    """Table ``query, expert, document, rank``, null where a document was left unranked; whole ranks are integers."""
    columns: dict[str, list[str]] = {"query": [], "expert": [], "document": []}
    for one in rankings.queries:
        n, m = one.ranks.shape
        columns["query"] += [one.query] * (n * m)
        columns["expert"] += [expert for expert in one.experts for _ in range(m)]
        columns["document"] += one.documents * n
    ranks = np.concatenate([one.ranks.ravel() for one in rankings.queries])
    table = pl.DataFrame(columns).with_columns(pl.Series("rank", ranks).fill_nan(None))
    rank = table["rank"]
    return table.with_columns(rank.cast(pl.Int64)) if bool((rank == rank.round()).all()) else table


def put_preferences(preferences: Preferences, path: str | Path, name: str | None) -> None:
    """Write preferences; blank answers are no longer there."""
    chosen = _able(path, name, _TABLES, "preferences")
    words = pl.Series(sorted(ANSWERS, key=ANSWERS.__getitem__))  # b, same, a
    people = pl.Series(preferences.assessors, dtype=pl.String)
    parts = []
    for one in preferences.queries:
        documents = pl.Series(one.documents, dtype=pl.String)
        columns = {"document_a": documents.gather(one.first), "document_b": documents.gather(one.second)}
        columns["answer"] = words.gather(one.answer + 1)
        if len(people):
            columns["assessor"] = people.gather(one.assessor)
        parts.append(pl.DataFrame(columns).select(pl.lit(one.query).alias("query"), pl.all()))
    deliver(_table(pl.concat(parts), chosen), path)


def put_lists(lists: PartialLists, path: str | Path, name: str | None) -> None:
    """Write lists; as groups of text where neither suffix nor ``name`` say how."""
    is_plain = without_compression(Path(path)).suffix.lower() in ("", ".txt")
    chosen = format_for(path, "judgments", "groups" if name is None and is_plain else name)
    table = lists.to_frame()
    if not table.height:
        raise AdjudgeError("Lists: expected at least one list to write, got none")
    if chosen.name == "json":
        data = _json(lists.to_groups())
    elif chosen.name == "groups":
        data = _lists_as_text(table, path)
    elif chosen.name in _TABLES:
        data = chosen.write(table, "judgments")
    else:
        data = chosen.write(graded(table).select("query", "document", "grade"), "judgments")
    deliver(data, path)


def _lists_as_text(table: pl.DataFrame, path: str | Path) -> bytes:
    try:
        return lists_text(table)
    except AdjudgeError as error:
        raise AdjudgeError(f"{path}: {error}; .json and .csv hold any name") from None


def _table(table: pl.DataFrame, chosen: Format) -> bytes:
    """The file of a table; fields between tabs are quoted where they need it, as they are between commas."""
    refuse(
        table, ["query", "expert", "assessor", "document", "document_a", "document_b"], _UNFIT, "that a file can hold"
    )
    if chosen.name != "tsv":
        return chosen.write(table, "judgments")
    is_like_comment = bool(table["query"].str.starts_with("#").any())
    return table.write_csv(separator="\t", quote_style="non_numeric" if is_like_comment else "necessary").encode()


def _able(path: str | Path, name: str | None, names: tuple[str, ...], what: str) -> Format:
    """The format to write in: the one named, else that of the suffix; CSV for standard output."""
    if name is None and str(path) == "-":
        return FORMATS["csv"]
    chosen = format_for(path, "judgments", name)
    if chosen.name not in names:
        came = f"the format {chosen.name}" if name else f"a name that says {chosen.name}"
        raise AdjudgeError(f"{path}: expected {what} to be written as {', '.join(names)}, got {came}")
    return chosen


def _json(content: object) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()
