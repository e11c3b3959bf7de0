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
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.choices import check_choice
from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.formats.columns import naming_columns
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.groundtruth.preferred import Preferences
from adjudge.groundtruth.rankings import Places, Rankings

if TYPE_CHECKING:
    from adjudge.groundtruth.files_table import ExpertTable, Nested


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
    check_choice("places", places, Places)
    with naming_columns(columns):
        content = _content(path, without)
        return _preferences(content) if _has_pairs(content) else _rankings(content, places)


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
    check_choice("places", places, Places)
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
    from adjudge.formats.levels import grouped
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
    from adjudge.groundtruth.files_writing import put_rankings

    put_rankings(rankings, path, format)


def write_preferences(preferences: Preferences, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a preferences file, in the format that the suffix or ``format`` names: csv, tsv, parquet, jsonl."""
    from adjudge.groundtruth.files_writing import put_preferences

    put_preferences(preferences, path, format)


def write_lists(lists: PartialLists, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write lists, in the format that the suffix or ``format`` names.

    ``.groups``, ``.txt`` and standard output (``-``) are text of ``query group document``; ``.csv``, ``.tsv``,
    ``.parquet`` and ``.jsonl`` are tables with these columns; ``.json`` is ``{query: [[document, document],
    [document]]}``. TREC qrels (``.qrels``) hold grades: the last group of each query has 1. Every one of them is read
    back by :func:`read_lists`, and as judgments.
    """
    from adjudge.groundtruth.files_writing import put_lists

    put_lists(lists, path, format)


def _content(path: str | Path, without: Collection[str]) -> ExpertTable | Nested:
    """What a file holds, less the queries to leave out: whatever is wrong with those is not looked at."""
    if isinstance(without, str):
        raise AdjudgeError(f"'without' must be names of queries, got the text {shown(without)}")
    content = _whole(path)
    return content.without(set(without)) if without else content


def _whole(path: str | Path) -> ExpertTable | Nested:
    """The table in a file, or its JSON where that holds no records."""
    from adjudge.formats.jsons import json_lines, parse_json
    from adjudge.formats.paths import STDIN, open_source
    from adjudge.groundtruth.files_table import Nested, is_json, open_table, table_of_records

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
    from adjudge.groundtruth.files_preferences import preferences_of_table
    from adjudge.groundtruth.files_table import Nested

    if isinstance(content, Nested):
        raise content.source.error("expected records with query, document_a, document_b and answer, got other JSON")
    return preferences_of_table(content, stacklevel=3)


def _rankings(content: ExpertTable | Nested, places: Places) -> Rankings:
    from adjudge.groundtruth.files_rankings import rankings_of_json, rankings_of_table
    from adjudge.groundtruth.files_table import Nested

    return rankings_of_json(content, places) if isinstance(content, Nested) else rankings_of_table(content, places)
