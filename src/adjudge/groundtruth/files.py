"""Experts' rankings and preferences, and the lists made of them, from files and back.

A *rankings file* has one row per rank::

    query,expert,document,rank

Rank 1 is the most similar document; equal ranks are ties, and an empty rank (or ``-``, ``unranked``) says that the
expert left the document unranked. Where there is no column for ranks, every column besides query and document is an
expert (the *wide* form), and experts without any rank for a query were not asked about it. JSON holds
``{query: {expert: [[document, document], [document]]}}``, a document by itself standing for a group of one, or
``{query: {expert: {document: rank}}}``.

A *preferences file* has one row per answer::

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

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, TypeGuard, TypeVar

import numpy as np
import polars as pl

from adjudge.arrays import Codes, Ints
from adjudge.checks import checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, InputError, shown, warn
from adjudge.formats.base import FORMATS, Format, format_for, refuse
from adjudge.formats.columns import naming_columns
from adjudge.formats.reading import read_judgments
from adjudge.formats.schema import Field, Records, Schema, Table, Tabular, graded, origin
from adjudge.formats.source import SPACES, Source, is_json, json_lines, open_source, parse_json
from adjudge.formats.trec import grouped, lists_text
from adjudge.groundtruth.answers import (
    ANSWERS,
    Places,
    Preferences,
    PreferredQuery,
    RankedQuery,
    Rankings,
    check_left_out,
)
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.io import deliver, without_compression
from adjudge.model.vocabulary import Vocabulary
from adjudge.text import counted, listed

Q = TypeVar("Q")
UNRANKED = ("-", "–", "—", "unranked", "na", "n/a", "nan", "none", "null")
"""Words that, like an empty cell, say that a document was left unranked; case does not count."""
MEANINGS: dict[str, str] = {
    **dict.fromkeys(("a", "1", "left", "first", ">", "doca", "documenta", "document_a"), "a"),
    **dict.fromkeys(("b", "2", "-1", "right", "second", "<", "docb", "documentb", "document_b"), "b"),
    **dict.fromkeys(("same", "s", "=", "0", "tie", "tied", "equal", "alike", "neither"), "same"),
}
"""What answers mean, in lower case."""
BLANK = ("-", "–", "na", "n/a", "nan", "none", "null", "{}")
"""Words that, like an empty cell, say that there is no answer."""

_RANK = Field(
    "rank", "number", needed=True, full=False, above=0, blank=UNRANKED, wanted="a rank of more than 0, or nothing"
)
_EXPERT = Field("expert", needed=True, holds="assessor")
_RANKINGS = Schema(
    (_EXPERT, _RANK, Field("query", needed=True), Field("document", needed=True)),
    unique=("query", "expert", "document"),
    distinct=True,
)
_WIDE = Schema((Field("query", needed=True), Field("document", needed=True)), distinct=True)
_PREFERENCES = Schema(
    (
        Field("query", needed=True),
        Field("document_a", needed=True),
        Field("document_b", needed=True),
        Field(
            "answer",
            "choice",
            needed=True,
            full=False,
            choices={word: ANSWERS[meant] for word, meant in MEANINGS.items()},
            blank=BLANK,
            wanted="a, b or same as answer",
        ),
        replace(_EXPERT, needed=False, weak=True),
    ),
    distinct=True,
)


@renamed({"places": {"as given": "given"}})
@checked(places=Places)
def read_experts(
    path: Tabular,
    *,
    places: Places = "counted",
    without: Collection[str] = (),
    columns: Mapping[str, str] | str | None = None,
) -> Rankings | Preferences:
    """Read experts' answers of either kind; the columns tell which. See :func:`read_rankings`.

    Columns for a first and a second document, and none for a document by itself, make preferences.
    """
    with naming_columns(columns):
        content = _content(path, without)
        return _preferences(content) if _has_pairs(content) else _rankings(content, places)


@renamed({"places": {"as given": "given"}})
@checked(places=Places)
def read_rankings(
    path: Tabular,
    *,
    places: Places = "counted",
    without: Collection[str] = (),
    columns: Mapping[str, str] | str | None = None,
) -> Rankings:
    r"""Read a rankings file; errors name the line of what cannot be used.

    A document that an expert ranks twice for a query is refused, as are ranks of 0 or less, ranks from nobody, queries
    with a single document and queries for which nobody ranked anything. ``places`` says whether ranks are counted again
    in each expert's ranking. Queries in ``without`` are left out unread; they must be there. ``columns`` says which
    column holds what where names do not: ``{"assessor": "musician"}``. ``-`` is standard input; a data frame or records
    may be given, too.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "rankings.csv"
    >>> _ = file.write_text("query,expert,document,rank\nq,ann,a,1\nq,ann,b,1\nq,ann,c,2\nq,bob,c,1\nq,bob,a,\n")
    >>> read_rankings(file).queries[0].ranks.tolist()
    [[1.5, 1.5, 3.0], [nan, nan, 1.0]]
    """
    with naming_columns(columns):
        content = _content(path, without)
        if _has_pairs(content):
            raise content.header_error("expected rankings (query, expert, document, rank), got preferences between two")
        return _rankings(content, places)


def read_preferences(
    path: Tabular, *, without: Collection[str] = (), columns: Mapping[str, str] | str | None = None
) -> Preferences:
    r"""Read a preferences file; errors name the line of what cannot be used.

    A document against itself is refused, and so are answers that mean nothing; blank answers are left out with a
    warning. ``without`` and ``columns`` are as for :func:`read_rankings`. ``-`` is standard input.

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
    """Read partially ordered lists from any file of judgments, in the ``format`` named (see ``adjudge formats``).

    Documents with grades of 0 or less are in no list, with a warning that counts them. ``-`` is standard input.
    """
    frame = read_judgments(path, format=format, columns=columns).to_polars()
    try:
        table = grouped(frame)
    except AdjudgeError as error:
        raise InputError(str(error), source=str(path)) from None
    groups: dict[str, list[list[str]]] = {}
    for query, _, documents in table.group_by("query", "group", maintain_order=True).agg("document").iter_rows():
        groups.setdefault(query, []).append(documents)
    return PartialLists(tuple(PartialList(query, tuple(map(tuple, given))) for query, given in groups.items()))


@dataclass(frozen=True)
class Nested:
    """What a file of JSON holds that is not a table."""

    source: Source
    content: object


def _content(given: Tabular, without: Collection[str]) -> Table | Nested:
    """What a file holds; queries to leave out are dropped unread."""
    if isinstance(without, str):
        raise AdjudgeError(f"'without' must be names of queries, got the text {shown(without)}")
    content = _whole(given)
    if not without:
        return content
    if isinstance(content, Nested):
        if not isinstance(content.content, Mapping):
            return content  # refused later
        queries = {key: str(key).strip(SPACES) for key in content.content}
        check_left_out(without, list(queries.values()))
        kept = {key: value for key, value in content.content.items() if queries[key] not in without}
        return replace(content, content=kept)
    query = replace(_WIDE.field("query"), full=False)
    schema = _WIDE if "document" in _found(content) else _PREFERENCES
    names = content.read(query, schema.places(content)["query"])
    check_left_out(without, names.drop_nulls().unique(maintain_order=True).to_list())
    return content.only(np.flatnonzero(~names.is_in(list(without)).fill_null(False).to_numpy()))


def _whole(given: Tabular) -> Table | Nested:
    """The table in a file, or its JSON where that holds no records."""
    if not isinstance(given, str | Path):
        return _RANKINGS.open(given)
    source = open_source(given)
    if is_json(source) and json_lines(source) is None:
        content = parse_json(source)
        is_record = isinstance(content, Mapping) and _PREFERENCES.is_header(list(content))
        if not is_record and not isinstance(content, list):
            return Nested(source, content)
    return _RANKINGS.open(source)


def _found(table: Table) -> set[str]:
    """Which columns of rankings and preferences a table has; an uncertain name does not count as a document."""
    fields = (*_RANKINGS.fields, *_PREFERENCES.fields)
    return {field.name for field in fields if table.place(replace(field, weak=field.name != "document")) is not None}


def _has_pairs(content: Table | Nested) -> TypeGuard[Table]:
    """Whether a table holds preferences; columns of experts called a and b do not make them."""
    found = _found(content) if isinstance(content, Table) else set()
    return "document" not in found and found >= {"document_a", "document_b"}


def in_order(codes: Codes) -> tuple[Ints, Ints]:
    """The distinct codes in the order in which they come, and the place among them of each."""
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return distinct[order].astype(np.int64), place[inverse]


def _by_query(table: Table, query: pl.Series, row: Ints, make: Callable[[str, Ints], Q]) -> tuple[Q, ...]:
    """What is made of the name and the rows of each query; ``row`` says where in the table each is, for errors."""
    names = Vocabulary()
    codes = names.encode(query)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(names) + 1))
    made = []
    for code, name in enumerate(names):
        rows = order[bounds[code] : bounds[code + 1]]
        try:
            made.append(make(name, rows))
        except AdjudgeError as error:
            raise table.error(str(error), int(row[rows[0]])) from (error if len(names) > 1 else None)
    return tuple(made)


def _rankings(content: Table | Nested, places: Places) -> Rankings:
    """Rankings of a table with a row per rank, or with a column per expert where none holds ranks; or of JSON."""
    if isinstance(content, Nested):
        return _rankings_of_json(content.source, content.content, places)
    if {"rank", "expert"} & _found(content):
        records, row = _RANKINGS.read(content), np.arange(content.height, dtype=np.int64)
    else:
        records, row = _melted(_WIDE.read(content))
        content.refuse_repeats(pl.DataFrame([records[name] for name in _RANKINGS.unique]), row)
    rank, people, words = records.numbers("rank"), Vocabulary(), Vocabulary()
    expert, document = people.encode(records["expert"]), words.encode(records["document"])
    experts, documents = np.array(list(people), dtype=object), np.array(list(words), dtype=object)

    def ranked(query: str, rows: Ints) -> RankedQuery:
        (who, i), (what, j) = in_order(expert[rows]), in_order(document[rows])
        ranks = np.full((len(who), len(what)), np.nan)
        ranks[i, j] = rank[rows]
        asked = RankedQuery(query, tuple(documents[what]), tuple(experts[who]), ranks)
        return asked.counted() if places == "counted" else asked

    return Rankings(_by_query(content, records["query"], row, ranked), places, *origin(content))


def _melted(wide: Records) -> tuple[Records, Ints]:
    """The columns of experts under one another, and the row that each rank came from."""
    table, known = wide.table, set(_WIDE.places(wide.table).values())
    has_values = [table.frame.to_series(i).null_count() < table.height for i in range(len(table.names))]
    # spreadsheets append empty columns without a name
    places = [i for i, name in enumerate(table.names) if i not in known and (name or has_values[i])]
    if not places:
        _RANKINGS.places(table)  # refused: neither ranks nor experts
    nameless = next((i for i in places if not table.names[i]), None)
    if nameless is not None:
        raise table.header_error(f"expected the name of an expert above column {nameless + 1}, got nothing")
    ranks = np.column_stack([table.read(_RANK, i).fill_null(np.nan).to_numpy() for i in places])
    n, m = ranks.shape
    rows = np.repeat(np.arange(n, dtype=np.int64), m)
    experts = pl.Series([table.names[i] for i in places]).gather(np.tile(np.arange(m), n))
    codes = Vocabulary().encode(wide["query"])
    asked = np.zeros((int(codes.max()) + 1, m), dtype=np.bool_)
    np.logical_or.at(asked, codes, np.isfinite(ranks))
    asked[asked.sum(axis=1) == 0] = True  # refused later, with a line
    kept = np.flatnonzero(asked[codes].ravel())  # who ranked nothing for a query was not asked
    named = {name: wide[name].gather(rows[kept]) for name in ("query", "document")}
    rank = pl.Series("rank", ranks.ravel()[kept])
    return Records(table, {**named, "expert": experts.gather(kept).alias("expert"), "rank": rank}), rows[kept]


def _rankings_of_json(source: Source, content: object, places: Places) -> Rankings:
    """Rankings of ``{query: {expert: [[documents], …]}}`` or ``{query: {expert: {document: rank}}}``."""
    rows = list(_json_rows(source, content))
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
    if rank is None or (isinstance(rank, str) and rank.strip(SPACES).lower() in ("", *UNRANKED)):
        return float("nan")
    if isinstance(rank, bool) or not isinstance(rank, int | float) or not 0 < rank < float("inf"):
        _misfit(source, "a rank of more than 0, or null", rank, *path)
    return float(rank)


def _json_name(source: Source, value: object, *path: str) -> str:
    """A name; whole numbers are names, too."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not text.strip(SPACES):
        _misfit(source, "a name", value, *path)
    return text.strip(SPACES)


def _misfit(source: Source, wanted: str, came: object, *path: str) -> NoReturn:
    where = " > ".join(path) + ": " if path else ""
    raise source.error(f"{where}expected {wanted}, got {shown(came)}")


def _preferences(content: Table | Nested) -> Preferences:
    """Preferences with a row per answer; those without an answer are counted and left out."""
    if isinstance(content, Nested):
        raise content.source.error("expected records with query, document_a, document_b and answer, got other JSON")
    records = _PREFERENCES.read(content)
    answer, query, first, second = (records[name] for name in ("answer", "query", "document_a", "document_b"))
    content.refuse(first == second, lambda row: f"expected two documents, got {shown(first[row])} against itself")
    rows = np.flatnonzero(answer.is_not_null().to_numpy())
    if not len(rows):
        raise content.error("expected at least one answer, got only blank ones")
    n_blank = len(answer) - len(rows)
    if n_blank:
        lost = len(set(query.unique()) - set(query.gather(rows).unique()))
        gone = f"; nothing is left of {counted(lost, 'query')}" if lost else ""
        said = f"left out {counted(n_blank, 'blank answer')} of {len(answer):,}{gone}."
        warn(str(content.error(said)), stacklevel=3)
    people, words, n = Vocabulary(), Vocabulary(), len(rows)
    who = people.encode(records["expert"].gather(rows)).astype(np.int64) if "expert" in records else np.full(n, -1)
    both = pl.concat([first.gather(rows).alias("d"), second.gather(rows).alias("d")])
    in_turn = np.arange(2 * n, dtype=np.int64).reshape(2, n).T.ravel()  # first and second document of each answer
    pairs: Codes = words.encode(both.gather(in_turn)).reshape(-1, 2)
    documents, answers = np.array(list(words), dtype=object), answer.gather(rows).to_numpy()

    def preferred(name: str, mine: Ints) -> PreferredQuery:
        what, local = in_order(pairs[mine].ravel())
        places = local.reshape(-1, 2)
        return PreferredQuery(name, tuple(documents[what]), places[:, 0], places[:, 1], answers[mine], who[mine])

    return Preferences(
        _by_query(content, query.gather(rows), rows, preferred), tuple(people), n_blank, *origin(content)
    )


_UNFIT = r"^ | $|^$|[\x00-\x1F]"
_TABLES = ("csv", "tsv", "parquet", "jsonl")


def write_rankings(rankings: Rankings, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a rankings file, in the format that the suffix or ``format`` names: csv, tsv, parquet, json, jsonl.

    JSON is ``{query: {expert: {document: rank}}}``. Ranks are written as they are held: counted ones share the means
    of their places. The file appears when it is complete; ``-`` is standard output.
    """
    chosen = _able(path, format, (*_TABLES, "json"), "rankings")
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
    for asked in rankings.queries:
        n, m = asked.ranks.shape
        columns["query"] += [asked.query] * (n * m)
        columns["expert"] += [expert for expert in asked.experts for _ in range(m)]
        columns["document"] += asked.documents * n
    ranks = np.concatenate([asked.ranks.ravel() for asked in rankings.queries])
    table = pl.DataFrame(columns).with_columns(pl.Series("rank", ranks).fill_nan(None))
    rank = table["rank"]
    return table.with_columns(rank.cast(pl.Int64)) if bool((rank == rank.round()).all()) else table


def write_preferences(preferences: Preferences, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a preferences file, in the format that the suffix or ``format`` names: csv, tsv, parquet, jsonl."""
    chosen = _able(path, format, _TABLES, "preferences")
    words = pl.Series(sorted(ANSWERS, key=ANSWERS.__getitem__))  # b, same, a
    people = pl.Series(preferences.assessors, dtype=pl.String)
    parts = []
    for asked in preferences.queries:
        documents = pl.Series(asked.documents, dtype=pl.String)
        columns = {"document_a": documents.gather(asked.first), "document_b": documents.gather(asked.second)}
        columns["answer"] = words.gather(asked.answer + 1)
        if len(people):
            columns["assessor"] = people.gather(asked.assessor)
        parts.append(pl.DataFrame(columns).select(pl.lit(asked.query).alias("query"), pl.all()))
    deliver(_table(pl.concat(parts), chosen), path)


def write_lists(lists: PartialLists, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write lists, in the format that the suffix or ``format`` names.

    ``.groups``, ``.txt`` and standard output (``-``) are text of ``query group document``; ``.csv``, ``.tsv``,
    ``.parquet`` and ``.jsonl`` are tables with these columns; ``.json`` is ``{query: [[document, document],
    [document]]}``. TREC qrels (``.qrels``) hold grades: the last group of each query has 1. Every one of them is read
    back by :func:`read_lists`, and as judgments.
    """
    is_plain = without_compression(Path(path)).suffix.lower() in ("", ".txt")
    chosen = format_for(path, "judgments", "groups" if format is None and is_plain else format)
    table = lists.to_polars()
    if not table.height:
        raise AdjudgeError("Lists: expected at least one list to write, got none")
    if chosen.name == "json":
        data = _json(lists.to_groups())
    elif chosen.name == "groups":
        try:
            data = lists_text(table)
        except AdjudgeError as error:
            raise AdjudgeError(f"{path}: {error}; .json and .csv hold any name") from None
    elif chosen.name in _TABLES:
        data = chosen.write(table, "judgments")
    else:
        data = chosen.write(graded(table).select("query", "document", "grade"), "judgments")
    deliver(data, path)


def _table(table: pl.DataFrame, chosen: Format) -> bytes:
    """The file of a table; fields between tabs are quoted where they need it, as they are between commas."""
    names = ["query", "expert", "assessor", "document", "document_a", "document_b"]
    refuse(table, names, _UNFIT, "that a file can hold")
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
        raise AdjudgeError(f"{path}: expected {what} to be written as {listed(names, 'or')}, got {came}")
    return chosen


def _json(content: object) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()
