"""Rankings, preferences and lists as tables, and into files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from adjudge.errors import AdjudgeError
from adjudge.formats.base import FORMATS, Format
from adjudge.formats.columns import refuse
from adjudge.formats.compression import without_compression
from adjudge.formats.groups import lists_text
from adjudge.formats.levels import graded
from adjudge.formats.writing import deliver, format_for
from adjudge.groundtruth.lists import PartialLists
from adjudge.groundtruth.preferred import ANSWERS, Preferences
from adjudge.groundtruth.rankings import Rankings

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
        data = _as_text(table, path)
    elif chosen.name in _TABLES:
        data = chosen.write(table, "judgments")
    else:
        data = chosen.write(graded(table).select("query", "document", "grade"), "judgments")
    deliver(data, path)


def _as_text(table: pl.DataFrame, path: str | Path) -> bytes:
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
