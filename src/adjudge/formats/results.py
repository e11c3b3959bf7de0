"""Effectiveness as other tools write it: records for the reader of tables, recognised by content.

============ =========================================================================================================
trec_eval    ``-q``: measure, query, value; ``all`` rows are means, ``runid`` names the system
ir_measures  ``-q``: query, measure, value, separated by tabs
pytrec_eval  ``{query: {measure: value}}``, as BEIR's evaluation uses it, and the same by system
ranx         ``Run.scores`` ``{measure: {query: value}}``, ``evaluate(…, return_mean=False)`` ``{measure: [value, …]}``,
             and reports ``{"model_names": …, "metrics": …}``, which hold means only
BEIR         ``{"ndcg": {"NDCG@10": value}, …}``, or a list of such dictionaries: means only
MTEB         ``{"task_name": …, "scores": …}``, results of models and benchmarks that hold these, and the older
             ``{"mteb_dataset_name": …}``: means only
============ =========================================================================================================

A mean over the queries of a data set is a record without a query. Files of one system are named after it: BEIR's and
trec_eval's means as ``SYSTEM/DATASET.json``, MTEB's by the ``model_meta.json`` beside them or by their folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from adjudge.errors import InputError, shown
from adjudge.formats.source import Source, is_number

Row = dict[str, Any]
_FAMILIES = (
    "n?dcg|andcg|edcg|sdcg|rndcg|infndcg|(alpha|α)[_-]n?dcg|n?cg|ag|m?ap|gm_map|gmap|gm_bpref|infap|gap|prec|precision|"
    "n?err-ia|map-ia|p-ia|p_ia|recall|r_cap|strec|strecall|set_[a-z]+|set(rel)?(p|r|f|ap)|relative_p|rprec|r-prec|"
    "r-precision|m?rr|recip_rank|bpref|"
    "success|hits?|hit_rate|acc|accuracy|top_k_accuracy|f1|n?n?rbp|n?err(8|9|10|11)?|adr|bpm|compat|ins[tq]|bing|"
    "judged|iprec|11pt_avg|utility|num_?(q|ret|rel|rel_?ret|nonrel_judged_ret)|[pw]c?sum|sdsum|fine|greater[01]|"
    "main_score|v_measure|cosine|nauc|holes?"
)
_MEASURE = re.compile(rf"[GPQR](\(.*\))?(@.+)?|P_\d+|(?i:({_FAMILIES})([@_.(].*|-l\d.*)?)")
_COUNTS = re.compile(r"runid|relstring|num_.*", re.IGNORECASE)
_BESIDE = re.compile(r"mrt|(.+) (\+|-|reject|p-value|p-value corrected)")
_META = "model_meta.json"


def is_measure(name: object) -> bool:
    """Whether a name looks like that of a measure, in the spelling of any tool.

    >>> [is_measure(name) for name in ("ndcg_cut_10", "NDCG@10", "P(rel=2)@5", "map", "rbp.95", "ndcg_at_10")]
    [True, True, True, True, True, True]
    >>> [is_measure(name) for name in ("q1", "bm25", "301", "all", "plain-text", "retriever", "pipeline")]
    [False, False, False, False, False, False, False]
    """
    return isinstance(name, str) and _MEASURE.fullmatch(name.strip()) is not None


def is_beside_measure(name: str) -> bool:
    """Whether PyTerrier writes this column beside those of measures: tests against a baseline, or seconds per query.

    >>> [is_beside_measure(name) for name in ("map +", "nDCG@10 p-value corrected", "mrt", "map", "a -")]
    [True, True, True, False, False]
    """
    found = _BESIDE.fullmatch(name)
    return found is not None and (found[1] is None or is_measure(found[1]))


def _all_measures(names: Sequence[object]) -> bool:
    return bool(names) and all(map(is_measure, names))


def rows_of_text(source: Source) -> tuple[list[Row], list[int]] | None:
    """Rows, and the line of each, of what trec_eval or ir_measures print; None for any other text."""
    head = [line.split() for line in source.head()]
    n_columns = {len(cells) for cells in head}
    if n_columns not in ({2}, {3}) or not any(is_number(cells[-1]) for cells in head):
        return None
    if not all(is_number(cells[-1]) or cells[0] == "runid" for cells in head):
        return None
    first, second = (_all_measures([cells[i] for cells in head if cells[0] != "runid"]) for i in (0, 1))
    if n_columns == {2}:
        order: tuple[str, ...] = ("measure", "value")
        second = False
    else:
        order = ("measure", "query", "value") if first else ("query", "measure", "value")
    if first and second:
        raise source.error("expected one column of measures, as trec_eval -q and ir_measures -q have it, got two")
    if not first and not second:
        return None
    return _printed_rows(source, order)


def _printed_rows(source: Source, order: tuple[str, ...]) -> tuple[list[Row], list[int]]:
    rows, lines, system = list[Row](), list[int](), None
    for number, line in source.lines():
        cells = line.split()
        if len(cells) != len(order):
            raise source.error(f"expected {len(order)} columns, got {len(cells)}", number)
        row: Row = dict(zip(order, cells, strict=True))
        if row["measure"] == "runid":
            system = row["value"]
        elif not _COUNTS.fullmatch(row["measure"]):
            rows.append(row if row.get("query") != "all" else {**row, "query": None})
            lines.append(number)
    named = [row if system is None else {**row, "system": system} for row in rows]
    if any(row.get("query") is not None for row in rows):  # means beside values of queries say nothing new
        kept = [i for i, row in enumerate(named) if row["query"] is not None]
        return [named[i] for i in kept], [lines[i] for i in kept]
    return named, lines


def rows_of_content(content: Any, error: Callable[[str], InputError], path: Path | None = None) -> list[Row] | None:
    """Rows of the JSON of a tool, or of what its functions return; None for anything else.

    ``path`` is that of the file, after which a system is named that the content does not name.
    """
    if isinstance(content, list | tuple) and content and all(_is_flat(part) for part in content):
        keys = [key for part in content for key in part]
        if _all_measures(keys) and len(set(keys)) == len(keys):  # BEIR's four dictionaries
            return [{"measure": key, "value": value} for part in content for key, value in part.items()]
        return None
    if not isinstance(content, Mapping) or not content:
        return None
    named = {} if path is None else {"system": _mteb_model(path)}
    if isinstance(content.get("scores"), Mapping) and "task_name" in content:
        return list(_mteb_rows(str(content["task_name"]), content["scores"], named))
    if "mteb_dataset_name" in content:
        scores = {key: value for key, value in content.items() if isinstance(value, Mapping)}
        return list(_mteb_rows(str(content["mteb_dataset_name"]), scores, named))
    if isinstance(content.get("task_results"), list) or isinstance(content.get("model_results"), list):
        return [
            row
            for model in content.get("model_results", [content])
            for task in model["task_results"]
            for row in _mteb_rows(task["task_name"], task["scores"], {"system": model["model_name"]})
        ]
    if isinstance(content.get("model_names"), list) and isinstance(content.get("metrics"), list):
        names = content["model_names"]
        return [{"system": name, **row} for name in names for row in _flat_rows(content[name]["scores"])]
    return _nested_rows(content, error)


def _is_flat(content: object) -> bool:
    return isinstance(content, Mapping) and bool(content) and not any(isinstance(v, Mapping) for v in content.values())


def _flat_rows(scores: Mapping[str, Any]) -> list[Row]:
    return [{"measure": str(measure), "value": value} for measure, value in scores.items()]


def _nested_rows(content: Mapping[Any, Any], error: Callable[[str], InputError]) -> list[Row] | None:
    """Rows of nested dictionaries, by which of their keys look like measures."""
    outer, values = [str(key) for key in content], list(content.values())
    if all(isinstance(value, int | float) for value in values):
        return _flat_rows(content) if _all_measures(outer) else None
    if all(_is_listed(value) for value in values) and _all_measures(outer):  # ranx's arrays, by measure
        return [
            {"query": f"q{i + 1}", "measure": measure, "value": value, "numbered": True}
            for measure, listed in zip(outer, values, strict=True)
            for i, value in enumerate(listed)
        ]
    inside = [value for value in values if isinstance(value, Mapping)]
    if not inside or len(inside) < sum(value is not None for value in values):
        return None
    if any(isinstance(value, Mapping) for part in inside for value in part.values()):
        parts = {key: _nested_rows(part, error) for key, part in content.items()}
        if any(part is None for part in parts.values()):
            return None
        return [{"system": str(key), **row} for key, part in parts.items() for row in part or ()]
    return _pair_rows({str(key): part for key, part in content.items() if part is not None}, error)


def _pair_rows(content: Mapping[str, Mapping[Any, Any]], error: Callable[[str], InputError]) -> list[Row]:
    """Rows of ``{query: {measure: value}}``, ``{measure: {query: value}}`` or BEIR's means."""
    inner = [str(key) for part in content.values() for key in part]
    by_measure, of_measures = _all_measures(list(content)), _all_measures(inner)
    if by_measure and of_measures:
        return [row for part in content.values() for row in _flat_rows(part)]
    if not by_measure and not of_measures:
        names = f"{shown(next(iter(content)))} and {shown(inner[0] if inner else '')}"
        raise error(
            "expected names of measures as keys ({query: {measure: value}} or {measure: {query: value}}), got "
            f"{names}: which are queries and which are systems? Write a table with columns for them"
        )
    pairs = ((key, str(name), value) for key, part in content.items() for name, value in part.items())
    if by_measure:
        return [{"query": name, "measure": key, "value": value} for key, name, value in pairs]
    return [{"query": key, "measure": name, "value": value} for key, name, value in pairs]


def _is_listed(value: object) -> bool:
    return isinstance(value, list | tuple) or hasattr(value, "tolist")


def _mteb_rows(task: str, scores: Mapping[str, Any], system: Row) -> Iterator[Row]:
    """Means of a task, or of each of its splits and subsets where there are several."""
    parts = [
        (split, str(part.get("hf_subset", "default")), part)
        for split, found in scores.items()
        for part in (found if isinstance(found, list) else [found])
        if isinstance(part, Mapping)
    ]
    for split, subset, part in parts:
        several = [name for i, name in enumerate((split, subset)) if len({each[i] for each in parts}) > 1]
        for measure, value in part.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and measure != "evaluation_time":
                yield {**system, "dataset": "/".join([task, *several]), "measure": measure, "value": value}


def _mteb_model(path: Path) -> str:
    """The model whose results a file holds, from the description beside it or from its folder."""
    try:
        return str(json.loads((path.parent / _META).read_text())["name"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    folders = [folder for folder in path.absolute().parts[:-1] if "__" in folder]
    return folders[-1].replace("__", "/") if folders else path.absolute().parent.name


def is_description(path: Path) -> bool:
    """Whether a file among MTEB's results describes the model."""
    return path.name == _META
