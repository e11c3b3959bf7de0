"""Effectiveness that was computed before: tables of earlier results, or of another tool.

====== =========================================================================================================
long   a row for every system, query and measure, in columns for them and for the value, as ``adjudge score
       --per-query`` (``--csv`` and ``--json``), ir_measures and PyTerrier write it; with a column for the
       assessor, effectiveness by each assessor. Measures may have a column each. Other columns are dropped
wide   a row for every query, a column for every system, one measure. The first column holds the queries if it has
       no name, a name of queries, or mostly values that are not numbers; else queries are q1, q2, …
====== =========================================================================================================

Both as CSV, TSV, Parquet, JSON records or lines, or a data frame; text as in :mod:`adjudge.formats.source`, but always
with a header. Empty cells, ``NaN``, ``NA`` and ``null`` are missing values. :mod:`adjudge.formats.results` has what
other tools write. ``all`` and ``amean`` are no queries but the mean over queries, and are dropped.

Several data sets come in a column, or in a file each. Files that share queries and no cell hold one data set together:
its systems, or its measures. Files that have the same queries, systems and measures need names. Where only means of
data sets are known, each data set counts as one query.
"""

from __future__ import annotations

import glob
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from adjudge.arrays import Floats, Mask
from adjudge.checks import Kind as KindOf
from adjudge.checks import checked
from adjudge.errors import AdjudgeError, InputError, shown, warn
from adjudge.formats.base import FORMATS, Kind
from adjudge.formats.columns import COLUMNS, fold, hint, listed_names, naming_columns, places_of, places_said
from adjudge.formats.reading import PathLike, expand
from adjudge.formats.results import is_beside_measure, is_description, is_measure, rows_of_content, rows_of_text
from adjudge.formats.schema import (
    Field,
    Frame,
    Schema,
    Table,
    Tabular,
    is_frame,
    table_of_columns,
    table_of_frame,
    table_of_records,
    with_points,
)
from adjudge.formats.source import SPACES, Source, is_json, is_number, json_lines, open_source, parse_json
from adjudge.model.effectiveness import EFFECTIVENESS, AssessedEffectiveness, Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.model.vocabulary import Vocabulary
from adjudge.registry import unknown
from adjudge.text import counted, listed

EffectivenessLike: TypeAlias = Effectiveness | Tabular | Sequence[PathLike | Frame] | Mapping[str, Any]
"""Effectiveness, or what :func:`read_effectiveness` reads it from."""
MissingCells = Literal["drop", "keep", "error"]
_Cells = tuple[dict[str, tuple[str, ...]], dict[str, Floats]]  # names by axis, and arrays of that shape
_AXES = ("query", "system", "assessor", "measure")
_ROUNDED = 0.0005  # most that a mean to three digits is off
_BETWEEN = "\x1f"  # between the data set and the query, while queries are told apart by both
_MISSING = ("nan", "-nan", "na", "null")
_LONG = Schema(
    (
        Field("query", needed=True, weak=False),
        Field("dataset"),
        Field("system", weak=True),
        Field("assessor"),
        Field("measure"),
        Field("value", "number", needed=True, full=False, weak=False, blank=_MISSING),
        *(Field(name, "number", full=False, blank=_MISSING) for name in ("lower", "upper", "error", "judged")),
    ),
    is_quoted=None,
)
_INDEX = {*COLUMNS["query"].tiers[0], *COLUMNS["query"].tiers[1], "id", ""}  # names of queries in a wide table
_OTHERS: dict[Kind, str] = {"judgments": "judgments", "runs": "a run"}
UNNAMED = "effectiveness"
"""What a measure is called that a table does not name."""
POOLED = "Queries of {} count alike: a data set with more queries counts more."
ONE_MEASURE = (
    "Several tables do not name their measure: it is taken to be the same one. "
    "-m or 'measure' names it; a column 'measure' tells several apart."
)
_DISJOINT = "{} share {} and no system: read as one data set; NAME=FILE keeps them apart."
_MEANS = "Means of data sets: each counts as one query, so that answers are about other data sets."
_MEAN_NAMES = ("all", "amean")  # trec_eval's, and that of ndeval and gdeval
_ALL = "{} is the mean over queries and no query: left out."
_ONE_SYSTEM = "No column names systems, and the others are named after measures: they are measures of one system."
_MOST_CELLS = 250_000_000  # two gigabytes, unless at least every tenth is filled


@dataclass(frozen=True)
class _Part:
    """The cells of one table, and what is known about its names.

    ``is_numbered``: its queries have no names of their own; ``is_means``: its queries are data sets.
    """

    table: Table
    axes: dict[str, tuple[str, ...]]
    arrays: dict[str, Floats]
    notes: tuple[str, ...] = ()
    is_numbered: bool = False
    is_means: bool = False

    @property
    def has_datasets(self) -> bool:
        return self.is_means or any(_BETWEEN in query for query in self.axes["query"])

    def of(self, dataset: str) -> _Part:
        """The same cells, as those of a data set."""
        queries = tuple(f"{dataset}{_BETWEEN}{query}" for query in self.axes["query"])
        return replace(self, axes={**self.axes, "query": queries})


@checked(missing=MissingCells)
def read_effectiveness(
    given: Tabular | Sequence[PathLike | Frame] | Mapping[str, Any],
    *,
    measure: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    missing: MissingCells = "drop",
) -> Effectiveness | AssessedEffectiveness:
    """Effectiveness that was computed before: a table file (``-`` is standard input), a data frame or records.

    Several files, directories (with their folders), patterns such as ``results/**/*.json`` or frames in a list are read
    together; ``{"dl19": "a.csv", "dl20": ["b.csv", "c.csv"]}`` names data sets. Results of trec_eval,
    ir_measures, pytrec_eval, ranx, PyTerrier, BEIR and MTEB are read as these tools write them.

    ``measure`` names the measure of a table that does not (``effectiveness`` if not given), and chooses one from a
    table with several. Names keep their spelling and order of appearance; a long table without systems is one system,
    named after its file. ``columns`` says which column holds what where names do not: ``{"system": "engine", "value":
    "result"}``. Share judged, bounds and error are kept where there are any.

    ``missing`` cells are named in a warning, and complete cases are left (``drop``): systems that lack a whole data set
    are left out, and queries that a system lacks. ``keep`` leaves them NaN, ``error`` refuses them; no value is ever
    put in. Effectiveness may be outside [0, 1]. Refused, with their line: text or infinity instead of a number,
    anything that comes twice, and tables of something else (runs, judgments).

    With a column for the assessor, the result is by assessor, and NaN for queries that an assessor did not judge.

    >>> frame = pl.DataFrame({"name": ["a", "b"], "qid": [7, 7], "measure": ["AP", "AP"], "value": [0.5, 0.25]})
    >>> read_effectiveness(frame).mean()
    {'AP': {'a': 0.5, 'b': 0.25}}
    >>> wide = read_effectiveness(pl.DataFrame({"a": [0.5, 0.7], "b": [0.25, 0.45]}), measure="nDCG@10")
    >>> wide.queries, wide.mean()
    (('q1', 'q2'), {'nDCG@10': {'a': 0.6, 'b': 0.35}})
    >>> read_effectiveness({"q1": {"ndcg_cut_10": 0.5}, "q2": {"ndcg_cut_10": 0.3}}).mean()
    {'ndcg_cut_10': {'run': 0.4}}
    """
    with naming_columns(columns):
        parts = _without_known_means([_read_part(table, name, measure) for name, table in _tables(given)])
    inputs = {p.table.source.name: p.table.source.sha256 for p in parts if p.table.source is not None}
    provenance = Provenance(tuple(inputs.items()), {} if measure is None else {"measure": measure})
    part = parts[0] if len(parts) == 1 else _merged(parts)
    notes = tuple(dict.fromkeys(note for each in (*parts, part) for note in each.notes)) + (_MEANS,) * part.is_means
    axes, arrays = part.axes, part.arrays
    if np.isnan(arrays["value"]).all():
        raise part.table.error("expected effectiveness, got no value at all")
    values, (named, systems, *assessors, measures) = arrays["value"], axes.values()
    queries, datasets = (named, named) if part.is_means else _split_names(named)
    if assessors:
        notes = (*_note_gaps(part.table, axes, values), *notes)
        return AssessedEffectiveness(values, queries, systems, assessors[0], measures, notes, provenance)
    lower, upper = (arrays.get(name) if {"lower", "upper"} <= set(arrays) else None for name in ("lower", "upper"))
    judged, error = arrays.get("judged", np.full_like(values, np.nan)), arrays.get("error")
    if len(set(datasets)) > 1 and not part.is_means:
        notes = (*notes, POOLED.format(counted(len(set(datasets)), "data set")))
    eff = Effectiveness(values, queries, systems, measures, judged, lower, upper, error, (), notes, provenance)
    eff = replace(eff, datasets=datasets)
    return eff if missing == "keep" else complete_cases(eff, missing=missing)


def as_effectiveness(given: EffectivenessLike) -> Effectiveness:
    """Effectiveness as it is, or read from a table; refused by assessor, as one value is needed for each cell."""
    if isinstance(given, Effectiveness):
        return given
    eff = read_effectiveness(given)
    if not isinstance(eff, Effectiveness):
        raise AdjudgeError("expected effectiveness of one assessor or of all together, got a column of assessors")
    return eff


class _OrTable(KindOf):
    """An object of a class, or a table."""

    def allows(self, value: object) -> bool:
        """Whether a value is such an object, or can hold a table."""
        items = value if isinstance(value, list | tuple) else [value]
        return super().allows(value) or (bool(items) and all(map(_is_tabular, items)))


def _is_tabular(value: object) -> bool:
    return isinstance(value, str | os.PathLike | Mapping) or is_frame(value)


def or_table(kind: KindOf) -> KindOf:
    """The constraint that also allows a table that effectiveness can be read from."""
    return _OrTable(kind.kind, f"{kind.described} or a table of it")


EFFECTIVENESS_LIKE = or_table(EFFECTIVENESS)


def _tables(given: Any) -> list[tuple[str | None, Any]]:
    """Everything that holds a table, with the name of its data set, if it was given one."""
    if isinstance(given, Mapping) and given and all(_is_files(value) for value in given.values()):
        return [(str(name), table) for name, value in given.items() for _, table in _tables(value)]
    items = given if isinstance(given, list | tuple) else [given]
    if items and all(isinstance(item, str | os.PathLike) for item in items):
        paths = expand([_with_folders(item) for item in items], "effectiveness")
        return [(None, path) for path in paths if not is_description(path)] or [(None, path) for path in paths]
    if isinstance(given, list | tuple) and given and all(map(is_frame, given)):
        return [(None, frame) for frame in given]
    return [(None, given)]


def _with_folders(path: PathLike) -> PathLike:
    """A path as it is, or the pattern of all files in a directory and its folders, as MTEB and BEIR write them."""
    return os.path.join(glob.escape(os.fspath(path)), "**", "*") if os.path.isdir(path) else path


def _is_files(value: object) -> bool:
    items = value if isinstance(value, list | tuple) and value else [value]
    return all(isinstance(item, str | os.PathLike) for item in items) or all(map(is_frame, items))


def _read_part(given: Any, dataset: str | None, measure: str | None) -> _Part:
    """The cells of one table; ``dataset`` names the one that it holds, where it does not do so itself."""
    table, notes = _open(given, dataset)
    targets = [(column.name, bool(column.weak)) for column in _LONG.fields]
    found = {name for name, is_weak in targets if places_of(table.names, name, needed=is_weak)}
    _refuse_runs_and_judgments(table, found)
    if not found & {"value", "assessor"} or not found & {"query", "dataset"}:
        table, found = _unpivoted(table, found)
        notes = (*notes, _ONE_SYSTEM) if "measure" in found and "system" not in found else notes
    if found.issuperset({"query", "value"}) and (found & {"system", "measure", "assessor"} or len(table.names) == 2):
        part = _from_long(table, measure)
    elif found.issuperset({"value", "dataset"}) and found & {"system", "measure"}:
        part = replace(_from_long(_with_queries(table), measure), is_means=True)
    else:
        _refuse_half_long(table)
        part = _from_wide(table, measure)
    part = replace(part, notes=(*part.notes, *notes))
    return part if dataset is None or part.has_datasets else part.of(dataset)


def _open(given: Tabular, dataset: str | None) -> tuple[Table, Sequence[str]]:
    """The table of a file or a data frame, and the notes that ``adjudge score --per-query --json`` writes."""
    notes: Sequence[str] = ()
    if is_frame(given):
        frame: Any = given
        if not isinstance(frame, pl.DataFrame | pl.LazyFrame):  # the index of a wide frame of pandas holds the queries
            index = frame.index
            if index.nlevels == 1 and index.name is None and index.tolist() != list(range(len(frame))):
                frame = frame.reset_index(names="")
        table = table_of_frame(frame)
    elif isinstance(given, list | Mapping):
        rows = rows_of_content(given, InputError)
        table = _LONG.open(given) if rows is None else _tool_table(rows, None, dataset)
    elif not isinstance(given, str | os.PathLike):
        raise InputError(f"expected effectiveness as a file or a data frame, got {shown(type(given).__name__)}")
    else:
        table, notes = _open_file(open_source(given), dataset)
    if not table.height:
        raise table.error("expected at least one row of data, got none")
    objects = [_as_text(column) if column.dtype == pl.Object else column for column in table.frame]
    return replace(table, frame=pl.DataFrame(objects)), notes


def _open_file(source: Source, dataset: str | None) -> tuple[Table, Sequence[str]]:
    if not is_json(source):
        printed = None if source.begins(b"PAR1") or source.is_spreadsheet else rows_of_text(source)
        if printed is not None:
            table = _tool_table(printed[0], source, dataset)
            return replace(table, at=printed[1].__getitem__), ()
    elif json_lines(source) is None:
        content, notes = parse_json(source), tuple[str, ...]()
        if isinstance(content, Mapping) and isinstance(content.get("effectiveness"), list):
            notes = tuple(map(str, content["notes"])) if isinstance(content.get("notes"), list) else ()
            content = content["effectiveness"]
        rows = rows_of_content(content, source.error, Path(source.name))
        if rows is not None:
            return _tool_table(rows, source, dataset), notes
        if isinstance(content, Mapping) and all(isinstance(values, list) for values in content.values()):
            return table_of_columns(content, source), notes
        if not isinstance(content, list):
            raise source.error(
                "expected a list of records, the JSON of 'adjudge score --per-query', or results of MTEB, BEIR, ranx "
                "or pytrec_eval"
            )
        return table_of_records(content, source), notes
    table = _LONG.open(source)
    if table.heading is not None:
        _refuse_headless(source, table.names, table.heading)
    return table, ()


def _tool_table(rows: list[dict[str, Any]], source: Source | None, dataset: str | None) -> Table:
    """The table of what another tool wrote; means are those of a data set, and named after folder and file."""
    if not any(row.get("query") is not None for row in rows):
        path = Path("run" if source is None else source.name)
        folder = path.parent.name
        system = folder if folder and dataset is None else path.stem if source is None else source.stem
        name = dataset or (path.stem if source is None else source.stem)
        rows = [{"system": system, "dataset": name, **row} for row in rows]
        rows = [{key: value for key, value in row.items() if key != "query"} for row in rows]
    if not rows:
        raise (InputError if source is None else source.error)("expected effectiveness, got no value at all")
    return table_of_records(rows, source)


def _with_queries(table: Table) -> Table:
    """A table of means, whose data sets stand for queries."""
    place = table.place(_LONG.field("dataset"))
    names = ["query" if i == place else name for i, name in enumerate(table.names)]
    return replace(table, names=names)


def _unpivoted(table: Table, found: set[str]) -> tuple[Table, set[str]]:
    """A row per measure, of a table with systems, queries or data sets in rows and a column per measure."""
    keys = {axis: table.place(_LONG.field(axis)) for axis in ("system", "query", "dataset")}
    held = [place for place in keys.values() if place is not None]
    names = [name.strip(SPACES) for name in table.names]
    rest = [i for i, name in enumerate(names) if i not in held and name and not is_beside_measure(name)]
    wanted = [i for i in rest if is_measure(names[i])]
    is_keyed = bool(held) if keys["system"] is None else _is_text(table, keys["system"])
    if not is_keyed or not wanted or wanted != rest:
        return table, found
    n = table.height
    repeated = [table.frame.to_series(place).cast(pl.String) for place in keys.values() if place is not None]
    columns = [pl.concat([column] * len(wanted)).alias(str(i)) for i, column in enumerate(repeated)]
    columns.append(pl.Series("m", np.repeat([names[i] for i in wanted], n).tolist()))
    columns.append(pl.concat([_as_text(table.frame.to_series(i)) for i in wanted]).alias("v"))
    at, axes = table.at, [*(axis for axis, place in keys.items() if place is not None), "measure", "value"]
    if not found & {"query", "dataset"}:  # means of one data set
        columns.append(pl.Series("d", ["all" if table.source is None else table.source.stem] * (n * len(wanted))))
        axes.append("dataset")
    long = replace(table, names=axes, frame=pl.DataFrame(columns), at=lambda row: at(row % n))
    return long, set(axes)


def _refuse_headless(source: Source, names: Sequence[str], line: int) -> None:
    """Refuse a first line of data: of a TREC file, or with numbers instead of names of systems."""
    if fold(names[0]) in _INDEX or not (len(names) == 1 or any(map(is_number, names))):
        return
    for kind, what in _OTHERS.items():
        if FORMATS["trec"].sniff(source, kind):
            raise source.error(f"expected effectiveness, but this looks like {what}")
    if all(map(is_number, names[1:] or names)):
        raise source.error(f"expected a header with the names of the systems, got {shown(names[-1])}", line)


def _refuse_runs_and_judgments(table: Table, found: set[str]) -> None:
    """Refuse tables that have a query and a document in every row."""
    if "query" not in found or "measure" in found or not places_of(table.names, "document"):
        return
    for what, *typical in (("judgments", "grade"), ("a run", "score", "rank")):
        if any(places_of(table.names, target) for target in typical):
            came = f"{what}: it has the columns {listed_names(table.names)}"
            raise table.header_error(f"expected effectiveness, but this looks like {came}")


def _refuse_half_long(table: Table) -> None:
    """Refuse tables that have systems, measures or assessors in rows, but no query or no value, such as means."""
    axes = ("system", "measure", "assessor")
    named = {place for axis in axes for place in places_of(table.names, axis, needed=axis == "system")}
    if any(_is_text(table, place) for place in named):
        wanted = "columns for system, query and value, or a row for every query and a column for every system"
        came = listed_names(table.names) + hint("value", about="say which is which")
        raise table.header_error(f"expected {wanted}, got the columns {came}")


def _from_long(table: Table, measure: str | None) -> _Part:
    table, notes = _without_means(table)
    if measure is not None and (place := table.place(_LONG.field("measure"))) is not None:
        names = table.read(replace(_LONG.field("measure"), full=False), place)
        rows = (names == measure).fill_null(False).to_numpy().nonzero()[0]
        if names.null_count() < table.height:
            if not len(rows):
                raise unknown("measure", measure, names.drop_nulls().unique())
            table = table.only(rows)
    columns = dict(_LONG.read(table).columns)
    is_numbered = "numbered" in table.names
    if "dataset" in columns:
        between = pl.format("{}" + _BETWEEN + "{}", columns.pop("dataset"), columns["query"])
        columns["query"] = pl.select(between.alias("query")).to_series()
    keys = [axis for axis in _AXES if axis in columns]
    defaults = {"system": "run" if table.source is None else table.source.stem, "measure": measure or UNNAMED}
    numbers = {name: columns[name].fill_null(math.nan).to_numpy() for name in columns if name not in keys}
    absent = [pl.lit(name).alias(axis) for axis, name in defaults.items() if axis not in keys]
    axes = [axis for axis in _AXES if axis in keys or axis in defaults]
    frame = pl.DataFrame([columns[axis] for axis in keys])
    names_by_axis, arrays = _spread(frame.with_columns(absent).select(axes), numbers, table)
    return _Part(table, names_by_axis, arrays, notes, is_numbered)


def _without_means(table: Table) -> tuple[Table, tuple[str, ...]]:
    """The table without rows for the mean over queries, if it has others."""
    place = table.place(_LONG.field("query"))
    if place is None:
        return table, ()
    queries = _as_text(table.frame.to_series(place))
    is_mean = queries.is_in(_MEAN_NAMES).fill_null(False)
    if not is_mean.any() or is_mean.all():
        return table, ()
    named = listed([shown(name) for name in queries.filter(is_mean).unique(maintain_order=True)])
    return table.only((~is_mean).to_numpy().nonzero()[0]), (_ALL.format(named),)


def _spread(keys: pl.DataFrame, numbers: Mapping[str, Floats], table: Table) -> _Cells:
    """Put every row into its cell; a cell that is filled twice is refused."""
    names = {axis: Vocabulary() for axis in keys.columns}
    codes = [names[axis].encode(keys[axis]) for axis in keys.columns]
    shape = tuple(map(len, names.values()))
    if math.prod(shape) > max(_MOST_CELLS, 10 * keys.height):
        came = f"{keys.height} rows for {' x '.join(map(str, shape))} ({' x '.join(names)})"
        raise table.error(f"expected most systems to have most queries, got {came}")
    flat = np.ravel_multi_index(codes, shape)
    if not pl.Series(flat).is_first_distinct().all():
        _refuse_two_measures(keys, flat, table)
        table.refuse_repeats(keys.with_columns(pl.col("query").str.replace(_BETWEEN, "/", literal=True)))
    arrays = {name: np.full(shape, np.nan) for name in numbers}
    for name, values in numbers.items():
        arrays[name].ravel()[flat] = values
    return {axis: tuple(known) for axis, known in names.items()}, arrays


def _refuse_two_measures(keys: pl.DataFrame, flat: np.ndarray, table: Table) -> None:
    """Refuse a table without names of measures in which every cell comes equally often, but more than once."""
    times = np.unique(flat, return_counts=True)[1]
    if table.place(_LONG.field("measure")) is None and len(times) > 1 and len(set(times.tolist())) == 1:
        came = f"{times[0]} for each: several measures in one column need another one that names them"
        raise table.header_error(f"expected one value for each system and query, got {came}")


def _from_wide(table: Table, measure: str | None) -> _Part:
    table, notes = _without_means(table)
    names = [name.strip(SPACES) for name in table.names]
    columns = [table.frame.to_series(i) for i in range(len(names))]
    systems = [i for i, name in enumerate(names) if name or i == 0 or len(_present(columns[i]))]
    if names[0] == "" and len(names) > 1 and fold(names[1]) in _INDEX:
        systems = systems[1:]  # row numbers of a data frame
    datasets, is_means = None, False
    if (place := table.place(_LONG.field("dataset"))) in systems and len(systems) > 1 and _is_text(table, place):
        systems.remove(place)
        datasets = table.read(_LONG.field("dataset"), place).alias("dataset")
    first = systems[0]
    queries, is_numbered = tuple(f"q{row + 1}" for row in range(table.frame.height)), True
    if fold(names[first]) in _INDEX or places_said(names).get("query") == first or _is_text(table, first):
        systems, is_numbered = systems[1:], False
        queries = _distinct_queries(table, first, datasets)
    elif datasets is not None:
        is_means = len(queries) > 1 and datasets.n_unique() == len(queries)
        queries = tuple(datasets) if is_means else _between(datasets, pl.Series("query", queries))
    if not systems:
        raise table.header_error(f"expected a column for every system, got only {listed_names(table.names)}")
    for i in systems:
        if not names[i]:
            raise table.header_error(f"expected a system as the name of column {i + 1}, got nothing")
        if names[i] in names[first:i]:
            raise table.header_error(f"expected each column once, got {shown(names[i])} twice")
    values = np.column_stack([_read_system(table, i) for i in systems])
    if first == systems[0] and _is_numbering(values):
        came = f"the whole numbers of the column {shown(names[first])}"
        raise table.header_error(f"expected effectiveness, got {came}: call it 'query', or number queries before it")
    axes = {"query": queries, "system": tuple(names[i] for i in systems), "measure": (measure or UNNAMED,)}
    return _Part(table, axes, {"value": values[:, :, None]}, notes, is_numbered and not is_means, is_means)


def _between(datasets: pl.Series, queries: pl.Series) -> tuple[str, ...]:
    return tuple(pl.select(pl.format("{}" + _BETWEEN + "{}", datasets, queries)).to_series())


def _read_system(table: Table, place: int) -> Floats:
    """The effectiveness of a system, NaN where it is missing."""
    wanted = f"a finite number for the system {shown(table.names[place])}"
    system = Field(table.names[place], "number", full=False, holds=None, blank=_MISSING, wanted=wanted)
    values: Floats = table.read(system, place).fill_null(math.nan).to_numpy()
    return values


def _distinct_queries(table: Table, place: int, datasets: pl.Series | None) -> tuple[str, ...]:
    queries = table.read(_LONG.field("query"), place)
    named = queries if datasets is None else pl.Series(_between(datasets, queries))
    again = named.is_first_distinct().not_().arg_true()
    if len(again):
        came = f"{shown(queries[again[0]])} again{hint('system', 'query', 'value', about='where rows are not queries')}"
        raise table.error(f"expected each query once, got {came}", again[0])
    return tuple(named)


def _is_numbering(values: Floats) -> bool:
    """Whether the first column has increasing whole numbers beyond 1, while others do not hold whole numbers."""
    is_whole, first = (values == np.round(values)).all(axis=0), values[:, 0]
    return bool(is_whole[0] and not is_whole[1:].all() and (np.diff(first) > 0).all() and len(first) > 1 < first[-1])


def _as_text(column: pl.Series) -> pl.Series:
    if column.dtype in (pl.Object, pl.Binary) or column.dtype.is_nested():
        return pl.Series([None if item is None else str(item) for item in column.to_list()], dtype=pl.String)
    return column.cast(pl.String).str.strip_chars(SPACES)


def _present(column: pl.Series) -> pl.Series:
    """The values that do not count as missing: numbers as they are, anything else as text."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.drop_nulls()
    text = _as_text(column)
    return text.set(text.str.to_lowercase().is_in(("", *_MISSING)), None).drop_nulls()


def _is_text(table: Table, place: int) -> bool:
    """Whether most values of a column are not numbers."""
    column = table.frame.to_series(place)
    given = _present(with_points(column) if table.has_decimal_commas else column)
    return given.cast(pl.Float64, strict=False).null_count() * 2 > len(given)


def _note_gaps(table: Table, axes: Mapping[str, tuple[str, ...]], values: Floats) -> list[str]:
    """Warn about empty cells by assessor, but for queries that an assessor did not judge at all."""
    empty = np.isnan(values)
    empty &= ~empty.all(axis=1, keepdims=True)
    if not empty.any():
        return []
    first = zip(axes.items(), np.argwhere(empty)[0], strict=True)
    place = ", ".join(f"{axis} {shown(names[i])}" for (axis, names), i in first)
    note = str(table.error(f"empty cells (NaN): {np.count_nonzero(empty)}, first {place}."))
    warn(note, stacklevel=3)
    return [note]


# Several tables


def _merged(parts: Sequence[_Part]) -> _Part:
    """The cells of several tables: of several data sets, or side by side where they share queries but no cell."""
    if any("assessor" in part.axes for part in parts):
        raise parts[0].table.error("expected one table, as effectiveness by assessor is not put together, got several")
    if len({part.is_means for part in parts}) > 1:
        of, other = (next(p for p in parts if p.is_means == is_means).table for is_means in (True, False))
        came = f"means of data sets in {_name_of(of)} and values of queries in {_name_of(other)}"
        raise of.error(f"expected tables that can be put together, got {came}")
    notes: tuple[str, ...] = (ONE_MEASURE,) if sum(part.axes["measure"] == (UNNAMED,) for part in parts) > 1 else ()
    if _are_beside(parts):
        notes += _note_disjoint(parts)
    elif not all(part.has_datasets for part in parts):
        _refuse_same_cells(parts)
        stems = ["table" if p.table.source is None else p.table.source.stem for p in parts]
        stems = [f"{stem}-{i + 1}" if stems.count(stem) > 1 else stem for i, stem in enumerate(stems)]
        parts = [part if part.has_datasets else part.of(stem) for part, stem in zip(parts, stems, strict=True)]
    names = {axis: Vocabulary() for axis in ("query", "system", "measure")}
    places = [tuple(names[axis].encode(pl.Series(part.axes[axis])) for axis in names) for part in parts]
    shape = tuple(map(len, names.values()))
    if math.prod(shape) > max(_MOST_CELLS, 10 * sum(part.arrays["value"].size for part in parts)):
        raise parts[0].table.error(f"expected tables that share systems and measures, got {shape[1]} systems in all")
    kinds = set.intersection(*(set(part.arrays) for part in parts))
    arrays = {kind: np.full(shape, np.nan) for kind in kinds}
    for part, place in zip(parts, places, strict=True):
        cells = np.ix_(*place)
        twice = ~np.isnan(arrays["value"][cells]) & ~np.isnan(part.arrays["value"])
        if twice.any():
            query, system, measure = (list(names[axis])[ix[i]] for axis, ix, i in _first(names, place, twice))
            came = f"{measure} of system {shown(system)} for {shown(query.replace(_BETWEEN, '/'))}"
            raise part.table.error(f"expected each value once, got {came} again")
        for kind in kinds:
            block = arrays[kind][cells]
            arrays[kind][cells] = np.where(np.isnan(block), part.arrays[kind], block)
    axes = {axis: tuple(known) for axis, known in names.items()}
    return _Part(replace(parts[0].table, source=None), axes, arrays, notes, is_means=parts[0].is_means)


def _without_known_means(parts: list[_Part]) -> list[_Part]:
    """Tables without the means of others, such as PyTerrier saves beside the values of queries."""
    values, means = ([part for part in parts if part.is_means == is_means] for is_means in (False, True))
    for part in [part for part in means if any(_are_means(part, other) for other in values)]:
        warn(f"{_name_of(part.table)}: means of values that are given, too: left out.", stacklevel=3)
        means.remove(part)
    return [*values, *means]


def _are_means(part: _Part, other: _Part) -> bool:
    """Whether all values of a table are means over the queries of another, which may be rounded."""
    inside = [set(part.axes[axis]) <= set(other.axes.get(axis, ())) for axis in ("system", "measure")]
    if not all(inside) or len(part.axes["query"]) > 1 or "assessor" in other.axes:
        return False
    places = ([other.axes[axis].index(name) for name in part.axes[axis]] for axis in ("system", "measure"))
    expected = other.arrays["value"].mean(axis=0)[np.ix_(*places)]
    return bool(np.allclose(part.arrays["value"][0], expected, rtol=0, atol=_ROUNDED, equal_nan=True))


def _first(names: Iterable[str], places: Sequence[np.ndarray], cells: Mask) -> list[tuple[str, np.ndarray, int]]:
    return list(zip(names, places, np.argwhere(cells)[0].tolist(), strict=True))


def _name_of(table: Table) -> str:
    return "a table" if table.source is None else table.source.name


def _are_beside(parts: Sequence[_Part]) -> bool:
    """Whether tables without data sets hold one data set together: each shares queries with another, and no cell."""
    if any(part.is_numbered or part.has_datasets for part in parts):
        return False
    seen, shared = dict[tuple[str, str], list[set[str]]](), set[int]()
    for i, part in enumerate(parts):
        for j, other in enumerate(parts[:i]):
            if not set(part.axes["query"]).isdisjoint(other.axes["query"]):
                shared |= {i, j}
        queries = set(part.axes["query"])
        for key in ((s, m) for s in part.axes["system"] for m in part.axes["measure"]):
            if any(not queries.isdisjoint(others) for others in seen.get(key, ())):
                return False
            seen.setdefault(key, []).append(queries)
    return len(shared) == len(parts)


def _note_disjoint(parts: Sequence[_Part]) -> tuple[str, ...]:
    """A note where tables of several systems each are one data set, and share no system: they may be two."""
    several = [(part, set(part.axes["system"])) for part in parts if len(part.axes["system"]) > 1]
    apart = [part for part, own in several if all(own is other or own.isdisjoint(other) for _, other in several)]
    times = Counter(query for part in apart for query in part.axes["query"])
    n_shared = sum(n > 1 for n in times.values())
    named = listed([_name_of(part.table) for part in apart], most=5)
    return (_DISJOINT.format(named, counted(n_shared, "query")),) if n_shared else ()


def _refuse_same_cells(parts: Sequence[_Part]) -> None:
    """Refuse tables with the same queries, systems and measures as another: hardly two data sets, perhaps measures."""
    seen: dict[tuple[frozenset[str], ...], _Part] = {}
    for part in parts:
        other = seen.setdefault(tuple(frozenset(names) for names in part.axes.values()), part)
        if other is not part and not part.has_datasets:
            raise part.table.error(
                f"expected other queries or systems than those of {_name_of(other.table)}, got the same. Data sets "
                "take names (NAME=FILE); measures are read one at a time, or from a table with a column 'measure'"
            )


def _split_names(named: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Queries and their data sets; the name of a data set is part of that of a query where two have the same."""
    if not any(_BETWEEN in name for name in named):
        return tuple(named), ()
    pairs = [name.partition(_BETWEEN)[::2] for name in named]
    queries = tuple(query for _, query in pairs)
    if len(set(queries)) < len(queries):
        queries = tuple(name.replace(_BETWEEN, "/") for name in named)
    return queries, tuple(dataset for dataset, _ in pairs)


# Missing cells


def complete_cases(eff: Effectiveness, *, missing: MissingCells = "drop") -> Effectiveness:
    """Effectiveness without the systems, measures and queries that have holes, with a warning that names these.

    Systems that lack a whole data set go first, then measures that a system has nowhere in a data set, then queries.
    Nothing is put into a hole: a value that nobody measured would make systems look alike, or different.

    >>> eff = Effectiveness.from_matrix([[0.1, 0.2], [0.3, 0.5]])
    >>> complete_cases(eff) is eff
    True
    """
    if not np.isnan(eff.values).any():
        return eff
    where = f"{eff.provenance.inputs[0][0]}: " if len(eff.provenance.inputs) == 1 else ""
    notes = list[str]()
    eff = _only_complete_measures(_only_complete_systems(eff, where, notes), where, notes)
    holes = np.isnan(eff.values)
    is_hole: Mask = np.asarray(holes.any(axis=(1, 2)))
    if is_hole.any():
        n_left = eff.n_queries - int(is_hole.sum())
        left = f"{n_left} of {counted(eff.n_queries, 'query')} that every system has are left"
        notes.append(f"{where}missing: {_named_holes(eff, holes)}; {left}.")
    if missing == "error" and notes:
        raise AdjudgeError(notes[0].rpartition(";")[0] or notes[0])
    if is_hole.all():
        raise AdjudgeError(f"{notes[-1].rpartition(';')[0]}; expected queries that every system has, got none")
    for note in notes:
        warn(note, stacklevel=3)
    kept = [query for query, hole in zip(eff.queries, is_hole.tolist(), strict=True) if not hole]
    return replace(eff.select(queries=kept), notes=(*notes, *eff.notes))


def _has_values(eff: Effectiveness) -> tuple[list[str], Mask]:
    """Names of the data sets, and where each system has any value of each measure, (data sets, systems, measures)."""
    sets = list(dict.fromkeys(eff.datasets)) or [""]
    of = np.array([sets.index(name) for name in eff.datasets] or [0] * eff.n_queries)
    there = ~np.isnan(eff.values)
    return sets, np.stack([there[of == i].any(axis=0) for i in range(len(sets))])


def _only_complete_systems(eff: Effectiveness, where: str, notes: list[str]) -> Effectiveness:
    sets, has = _has_values(eff)
    lacking: Mask = np.asarray(~has.any(axis=2))
    if not lacking.any():
        return eff
    if lacking.any(axis=0).all():
        raise AdjudgeError(f"{where}expected data sets that share systems, got none that has all of {_listed(sets)}")
    out = [s for s in range(len(eff.systems)) if lacking[:, s].any()]
    named = [f"{shown(eff.systems[s])} has nothing on {_listed([sets[i] for i in np.flatnonzero(lacking[:, s])])}"
             if sets != [""] else f"{shown(eff.systems[s])} has no value at all" for s in out]  # fmt: skip
    notes.append(f"{where}missing: {listed(named, most=5)}; left out.")
    return eff.select(systems=[name for s, name in enumerate(eff.systems) if s not in out])


def _only_complete_measures(eff: Effectiveness, where: str, notes: list[str]) -> Effectiveness:
    complete: Mask = np.asarray(_has_values(eff)[1].all(axis=(0, 1)))
    if complete.all() or not complete.any():
        return eff
    out = [name for name, is_there in zip(eff.measures, complete.tolist(), strict=True) if not is_there]
    notes.append(f"{where}missing: not every system has {listed(out, most=5)}; left out.")
    return eff[[name for name in eff.measures if name not in out]]


def _named_holes(eff: Effectiveness, holes: Mask) -> str:
    """Which system lacks which queries, and of which measure where it lacks only some."""
    named = []
    for s, system in enumerate(eff.systems):
        by_measure = holes[:, s]
        lacking = np.flatnonzero(by_measure.any(axis=1))
        if len(lacking):
            partly = [name for m, name in enumerate(eff.measures) if by_measure[:, m].any()]
            of = "" if by_measure[lacking].all() else f" of {listed(partly, most=3)}"
            named.append(f"{shown(system)} lacks {_listed([eff.queries[q] for q in lacking])}{of}")
    return listed(named, most=10)


def _listed(names: Sequence[str]) -> str:
    return listed([shown(name) for name in names], most=5)
