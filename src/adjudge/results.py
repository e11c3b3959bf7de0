"""Results: what functions return. All of them print, save and turn into tables and frames in the same way.

A result declares its columns once, on the class of its rows, and everything else follows:

>>> from dataclasses import dataclass
>>> from typing import Annotated
>>> @dataclass(frozen=True)
... class Length:
...     track: Annotated[str, Column("name of the track")]
...     mean: Annotated[float, Column("mean length", ".1f", unit="s", ends=("low", "high"))]
...     low: Annotated[float, Column("lower end of its interval", ".1f", shown=False)]
...     high: Annotated[float, Column("upper end of its interval", ".1f", shown=False)]
>>> @dataclass(frozen=True)
... class Lengths(Result):
...     rows: tuple[Length, ...]
...     row_type = Length
...     @property
...     def title(self) -> str:
...         return "Lengths"
>>> lengths = Lengths((Length("a", 30.0, 28.5, 31.5), Length("b", 12.0, math.nan, math.nan)))
>>> print(lengths)
Lengths
track     mean (s)
a       30.0 ± 1.5
b             12.0
>>> lengths.to_dicts()[1]
{'track': 'b', 'mean': 12.0, 'low': None, 'high': None}
"""

from __future__ import annotations

import enum
import json
import math
import re
import shutil
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from adjudge._version import __version__
from adjudge.deprecated import old_attribute
from adjudge.errors import AdjudgeError, InputError, kept_warnings, reason
from adjudge.extras import need
from adjudge.io import plain, write_whole
from adjudge.latex import PAGE
from adjudge.registry import unknown
from adjudge.reporting.document import FigureBlock
from adjudge.tables import Align, Heading, Table, as_csv, as_json, as_latex
from adjudge.text import percent, shown_p, shown_probability, with_interval

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from rich.console import RenderableType

T = TypeVar("T")
FigureMethod = TypeVar("FigureMethod", bound=Callable[..., FigureBlock])
Shown = tuple[Heading, Sequence[str]]
"""A column of a table for people: its header and its cells."""
Kind = Literal["text", "whole", "number", "truth", "names"]
"""What a column holds: text, whole numbers, numbers, yes or no, or several names."""

_ROWS_PRINTED = 20
_ROWS_IN_NOTEBOOKS = 60
_UNKNOWN = "–"


@dataclass(frozen=True)
class Column:
    """A column of a result: what it means, how it is shown, its unit.

    ``format`` is one of Python's, such as ``.3f``, with `` %`` after it for shares in per cent, ``p`` for p-values, or
    ``probability`` for estimates of one. ``ends`` name the columns with the ends of its interval, which is shown with
    it. Columns that are not ``shown`` are in files and frames, but not in tables for people; ``optional`` ones are left
    out if no row has a value. ``key`` columns name a row. ``name`` and ``kind`` come from the field that declares the
    column.
    """

    about: str
    format: str = ""
    unit: str = ""
    label: str = ""
    ends: tuple[str, str] | None = None
    shown: bool = True
    optional: bool = False
    key: bool = False
    name: str = ""
    kind: Kind = "number"

    def heading(self) -> Heading:
        """The header of the column in tables for people."""
        label = self.label or self.name.replace("_", " ")
        align: Align = "left" if self.kind in ("text", "names") else "right"
        return Heading(f"{label} ({self.unit})" if self.unit else label, align, self.about)

    def text(self, value: Any, low: Any = None, high: Any = None, *, digits: int | None = None) -> str:
        """A value as text, with its interval where there is one; a dash where it is not known.

        >>> Column("mean", ".3f").text(0.5, 0.4, 0.6), Column("share", ".0f %").text(math.nan)
        ('0.500 ± 0.100', '–')
        """
        if self.kind == "whole" and _known(low) and _known(high):
            return f"{self._alone(value, digits)} [{self._alone(low, digits)}, {self._alone(high, digits)}]"
        if self.kind != "number" or not (_known(value) and _known(low) and _known(high)):
            return self._alone(value, digits)
        return with_interval(value, low, high, form=lambda number: self._alone(number, digits))

    def _alone(self, value: Any, digits: int | None) -> str:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return _UNKNOWN
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float) and math.isinf(value):
            return "∞" if value > 0 else "−∞"
        if isinstance(value, tuple | list):
            return ", ".join(map(str, value))
        if self.format == "p":
            return shown_p(value)
        if self.format == "probability":
            return shown_probability(value)
        if self.format.endswith(" %"):
            return percent(value, int(self.format.removeprefix(".").removesuffix("f %")))
        return format(value, self.format if digits is None else re.sub(r"\.\d+f$", f".{digits}f", self.format))


def _known(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


@cache
def columns_of(row_type: type) -> tuple[Column, ...]:
    """The columns that the fields of a class declare: ``mean: Annotated[float, Column("mean of queries", ".3f")]``."""
    declared = get_type_hints(row_type, include_extras=True)
    return tuple(
        replace(column, name=name, kind=_kind_of(hint))
        for name, hint in declared.items()
        for column in getattr(hint, "__metadata__", ())
        if isinstance(column, Column)
    )


def interval_columns(name: str, column: Column) -> tuple[Column, Column, Column]:
    """A column of numbers called ``name``, and those of the ends of its interval, ``name_low`` and ``name_high``."""
    low, high = (
        replace(column, about=f"{end} end of its interval", label="", shown=False) for end in ("lower", "upper")
    )
    ends = f"{name}_low", f"{name}_high"
    return replace(column, name=name, ends=ends), replace(low, name=ends[0]), replace(high, name=ends[1])


def _kind_of(hint: Any) -> Kind:
    """What a field holds, from its type."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _kind_of(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return _kind_of(next(part for part in get_args(hint) if part is not type(None)))
    if origin is Literal:
        return _kind_of(type(get_args(hint)[0]))
    if origin in (tuple, list):
        return "names"
    if isinstance(hint, type) and issubclass(hint, enum.StrEnum):
        return "text"
    kinds: dict[Any, Kind] = {str: "text", int: "whole", float: "number", bool: "truth"}
    return kinds[hint]


def figure(name: str) -> Callable[[FigureMethod], FigureMethod]:
    """Declare a method of a result that makes one of its figures: :meth:`Result.plot` and reports draw it by name.

    The method has keyword arguments only, each with a default. It refuses in one line what cannot be drawn.
    """

    def declare(method: FigureMethod) -> FigureMethod:
        method.figure_name = name  # type: ignore[attr-defined]
        return method

    return declare


class _Plots:
    """Names of plots, and the methods that make them: of a class all, of a result those that its data allow."""

    def __init__(self, methods: Mapping[str, str]) -> None:
        self.methods = methods

    def __get__(self, result: Result | None, owner: type[Result]) -> Mapping[str, str]:
        if result is None:
            return self.methods
        allowed = {}
        for name, method in self.methods.items():
            with suppress(AdjudgeError), kept_warnings():
                getattr(result, method)()
                allowed[name] = method
        return allowed


class Result(ABC):
    """What a function of the library returns: a table with declared columns, and what made it.

    A subclass names the class of its rows in ``row_type`` and has the ``rows``, or overrides ``columns`` and ``_rows``.
    It may add more: ``fact_names``, or ``_facts``, are the settings and further values that :meth:`to_dict` holds
    besides the rows, which are under ``rows_name``; ``_notes`` are lines below the table; ``parts`` are further results
    that belong to it; ``table`` is the table for people, where that is not simply the columns in their order.
    """

    row_type: ClassVar[type | None] = None
    rows_name: ClassVar[str] = "rows"
    fact_names: ClassVar[tuple[str, ...]] = ()
    plots: ClassVar[_Plots] = _Plots({})
    """Names of its plots that its data allow, and of the methods that :func:`figure` declares; on the class, of all."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        own = {method.figure_name: name for name, method in vars(cls).items() if hasattr(method, "figure_name")}
        cls.plots = _Plots({**cls.plots, **own})

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is, in one line."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns in order, without optional ones that no row has a value for."""
        if self.row_type is None:
            raise NotImplementedError(f"{type(self).__name__} declares neither a row_type nor columns")
        return _filled(columns_of(self.row_type), self._rows())

    def _rows(self) -> Sequence[Any]:
        """Objects with an attribute per column, or mappings with a key per column."""
        rows: Sequence[Any] = self.rows  # type: ignore[attr-defined]
        return rows

    def _facts(self) -> dict[str, Any]:
        """Settings and whatever else belongs to the result besides its rows: the attributes in ``fact_names``."""
        return {name: getattr(self, name) for name in self.fact_names}

    def _notes(self) -> Sequence[str]:
        """Lines to read below the table."""
        return ()

    def _values(self, names: Iterable[str] | None = None) -> dict[str, Sequence[Any]]:
        """The values of some columns, or all: lists with None, or arrays with NaN, for what is not known."""
        rows, wanted = self._rows(), [column.name for column in self.columns] if names is None else names
        return {name: [_plain_value(_get(row, name)) for row in rows] for name in wanted}

    def parts(self) -> Sequence[Result]:
        """Further results that belong to it, shown below the first table."""
        return ()

    def table(self, *, digits: int | None = None) -> Table:
        """The table for people; ``digits`` after the point, if not those of the columns."""
        shown, values = [column for column in self.columns if column.shown], self._values()
        n_key = sum(column.key for column in shown) or 1
        columns = (self._shown(column.name, digits=digits, values=values) for column in shown)
        return self._table_of(*columns, n_key=n_key)

    def _table_of(self, *shown: Shown, n_key: int = 1, styles: Mapping[tuple[int, int], str] | None = None) -> Table:
        """A table for people, with title and notes."""
        rows = list(zip(*(cells for _, cells in shown), strict=True))
        return Table([heading for heading, _ in shown], rows, self.title, tuple(self._notes()), n_key, styles or {})

    def _shown(
        self,
        name: str,
        label: str = "",
        *,
        about: str = "",
        digits: int | None = None,
        values: Mapping[str, Sequence[Any]] | None = None,
    ) -> Shown:
        """A column for people, with intervals where it has any; ``label`` and ``about`` replace its own."""
        column = next(column for column in self.columns if column.name == name)
        names = [name, *(column.ends or ())]
        known = self._values(names) if values is None else values
        cells = zip(*(_listed(known[each]) for each in names), strict=True)
        texts = [column.text(*three, digits=digits) for three in cells]
        return replace(column, label=label or column.label, about=about or column.about).heading(), texts

    def _tables(self, digits: int | None = None) -> list[Table]:
        return [self.table(digits=digits), *(part.table(digits=digits) for part in self.parts())]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as plain values, one dictionary per row; what is not known is None."""
        values = self._values()
        return [dict(zip(values, row, strict=True)) for row in zip(*map(_listed, values.values()), strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: settings and other facts, and the rows as in :meth:`to_dicts`."""
        content: dict[str, Any] = plain({**self._facts(), self.rows_name: self.to_dicts()})
        return content

    def to_json(self) -> str:
        """Everything as JSON: :meth:`to_dict`, and in ``result`` what it is and what its columns mean.

        Where the columns alone do not make the tables for people, ``result`` has these, too.
        """
        about, tables = self._about(), [_described_table(table) for table in self._own_tables()]
        return as_json({"result": {**about, "tables": tables} if tables else about, **self._content()})

    def _content(self) -> dict[str, Any]:
        """What a file has besides ``result``."""
        return self.to_dict()

    def _own_tables(self) -> Sequence[Table]:
        """Its tables for people, unless its columns and what JSON has of its rows make the same."""
        is_made = type(self).table is Result.table and not self.parts() and (rows := self.to_dicts()) == plain(rows)
        return () if is_made else self._tables()

    def _about(self) -> dict[str, Any]:
        return {
            "kind": type(self).__name__,
            "title": self.title,
            "rows": self.rows_name,
            "columns": [_described(column) for column in self.columns],
            "notes": list(self._notes()),
            "adjudge": __version__,
        }

    def to_csv(self) -> str:
        """The rows as CSV with a header; what is not known is empty."""
        rows = self.to_dicts()
        if not rows:
            return ",".join(column.name for column in self.columns) + "\n"
        return as_csv([{k: "; ".join(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows])

    def to_polars(self) -> pl.DataFrame:
        """The rows as a Polars frame with the types that the columns declare; what is not known is null."""
        import polars as pl

        kinds = {"text": pl.String(), "whole": pl.Int64(), "number": pl.Float64(), "truth": pl.Boolean()}
        schema = {column.name: kinds.get(column.kind, pl.List(pl.String())) for column in self.columns}
        values = self._values()
        frame = pl.DataFrame([pl.Series(name, values[name], dtype=dtype) for name, dtype in schema.items()])
        return frame.with_columns(pl.col(pl.Float64).fill_nan(None))

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame; what is not known is NaN, or NA among whole numbers and truth values."""
        import pandas as pd

        values, frame = self._values(), {}
        for column in self.columns:
            held = _listed(values[column.name])
            lacking = any(value is None for value in held)
            kinds = {"whole": "Int64" if lacking else "int64", "truth": "boolean" if lacking else "bool"}
            kind: Any = kinds.get(column.kind, {"number": "float64", "text": "str"}.get(column.kind, "object"))
            frame[column.name] = pd.Series(held, dtype=kind)
        return pd.DataFrame(frame)

    def to_markdown(self, *, digits: int | None = None) -> str:
        """The table for people, as Markdown."""
        return "\n".join(table.markdown() for table in self._tables(digits))

    def to_latex(
        self,
        *,
        caption: str = "",
        label: str = "",
        digits: int | None = None,
        width: float = PAGE,
        standalone: bool = False,
    ) -> str:
        """The table for people, as LaTeX for booktabs; with a caption or a label, it floats.

        No table is wider than ``width`` inches: columns that do not fit go into further tables below. A ``standalone``
        document compiles as it comes, and has titles and notes, too.
        """
        comment, tables = [f"Adjudge {__version__}"], self._tables(digits)
        return as_latex(tables, comment=comment, caption=caption, label=label, width=width, standalone=standalone)

    def figure(self, name: str = "", **settings: Any) -> FigureBlock:
        """One of its figures, as reports have it: data, caption, alternative text, and what draws it."""
        plots = type(self).plots  # all, so that one that the data do not allow says why
        if not plots:
            raise AdjudgeError(f"{type(self).__name__} has no plots")
        name = name or next(iter(plots))
        if name not in plots:
            raise unknown(f"plot of {type(self).__name__}", name, plots)
        make = getattr(self, plots[name])
        known = signature(make).parameters
        for setting in settings:
            if setting not in known:
                if not known:
                    raise AdjudgeError(f"The plot {name!r} has no settings of its own, got {setting!r}")
                raise unknown(f"setting of the plot {name!r}", setting, known)
        block: FigureBlock = make(**settings)
        return block

    def plot(self, name: str = "", *, ax: Axes | None = None, width: float | None = None, **settings: Any) -> Any:
        """Draw one of its :attr:`plots` and return the axes, or an array of several; by default its class's first.

        It is drawn on ``ax``, or on a new figure: 7 inches wide as a page of a paper, or ``width`` inches, such as 3.3
        for a column. Text is of one size at every width. ``settings`` are those of the plot.
        """
        need("plots", "Plots need")
        from adjudge.reporting.canvas import plot

        return plot(self.figure(name, **settings), ax=ax, width=width)

    def save(self, path: str | Path) -> None:
        """Write the result, whole or not at all, in the form that the suffix names.

        ``.json`` has everything, and :func:`load_result` reads it again; ``.csv`` and ``.parquet`` have the rows,
        ``.md``, ``.tex``, ``.html`` and ``.txt`` the table for people.
        """
        target = Path(path)
        forms: dict[str, Callable[[], str]] = {
            ".json": self.to_json,
            ".csv": self.to_csv,
            ".md": self.to_markdown,
            ".tex": self.to_latex,
            ".html": lambda: "".join(table.html() for table in self._tables()),
            ".txt": lambda: f"{self}\n",
        }
        suffix = target.suffix.lower()
        if suffix not in (*forms, ".parquet"):
            raise AdjudgeError(f"{path}: expected a name that ends in {', '.join(forms)} or .parquet")
        buffer = BytesIO()
        if suffix == ".parquet":
            self.to_polars().write_parquet(buffer)
        else:
            buffer.write(forms[suffix]().encode())
        write_whole(target, buffer.getvalue())

    def __str__(self) -> str:
        width = shutil.get_terminal_size().columns
        return "\n\n".join(table.first(_ROWS_PRINTED).text(width) for table in self._tables())

    def __rich__(self) -> RenderableType:
        from rich.console import Group

        return Group(*self._tables())

    def _repr_html_(self) -> str:
        return "".join(table.first(_ROWS_IN_NOTEBOOKS).html() for table in self._tables())

    if not TYPE_CHECKING:  # type checkers and editors do not offer old names

        def __getattr__(self, name: str) -> Any:
            return old_attribute(self, name)


def _described(column: Column) -> dict[str, Any]:
    """A column as plain values, name first and without defaults."""
    values, usual = {"name": column.name, "kind": column.kind, **asdict(column)}, Column("")
    return {name: value for name, value in values.items() if value != getattr(usual, name) or name == "kind"}


def _described_table(table: Table) -> dict[str, Any]:
    """A table as plain values."""
    return {**asdict(table), "styles": [(*place, style) for place, style in table.styles.items()]}


def _filled(columns: tuple[Column, ...], rows: Sequence[Any]) -> tuple[Column, ...]:
    """The columns without optional ones that no row has a value for."""
    return tuple(c for c in columns if not c.optional or any(_get(row, c.name) is not None for row in rows))


def _get(row: Any, name: str) -> Any:
    return row[name] if isinstance(row, Mapping) else getattr(row, name)


def _plain_value(value: Any) -> Any:
    """A value for JSON and frames: Python's number instead of NumPy's, None instead of NaN."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, tuple | list):
        return [str(item) for item in value]
    return str(value) if isinstance(value, enum.Enum) else value


def _listed(values: Sequence[Any]) -> list[Any]:
    """The values of a column as a list, with None instead of NaN."""
    if isinstance(values, list):
        return values
    return [None if value != value else value for value in values.tolist()]  # type: ignore[attr-defined]  # noqa: PLR0124


@dataclass(frozen=True, repr=False)
class Rows(Result, Sequence[T]):
    """A result that is nothing but rows: a sequence of objects whose class, ``of``, declares the columns."""

    of: type
    rows: tuple[T, ...]
    about: str
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.about

    @property
    def columns(self) -> tuple[Column, ...]:
        return _filled(columns_of(self.of), self._rows())

    def _notes(self) -> Sequence[str]:
        return self.notes

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<{self.of.__name__}: {len(self._rows())} rows>"


class Record(Result):
    """A result of one row, shown from top to bottom: a class whose own fields declare the columns."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return _filled(columns_of(type(self)), [self])

    def _rows(self) -> Sequence[Any]:
        return (self,)

    def to_dict(self) -> dict[str, Any]:
        """The row, as plain values."""
        content: dict[str, Any] = plain(self.to_dicts()[0])
        return content

    def _content(self) -> dict[str, Any]:
        return {self.rows_name: self.to_dicts()}

    def table(self, *, digits: int | None = None) -> Table:
        """Names and values, one below the other."""
        shown = [self._shown(column.name, digits=digits) for column in self.columns if column.shown]
        headings = [Heading("", "left"), Heading("value")]
        return Table(headings, [(heading.name, cells[0]) for heading, cells in shown], self.title, tuple(self._notes()))


@dataclass(frozen=True)
class SavedResult(Result):
    """A result that was saved as JSON; ``kind`` names its class, ``facts`` are what it held besides its rows.

    ``saved_tables`` are its tables for people, if those are not simply its columns.
    """

    kind: str
    saved_title: str
    saved_columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    facts: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    saved_rows_name: str = "rows"
    saved_tables: tuple[Table, ...] = ()

    @property
    def title(self) -> str:
        return self.saved_title

    @property
    def rows_name(self) -> str:  # type: ignore[override]  # of the result, not of this class
        return self.saved_rows_name

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.saved_columns

    def _facts(self) -> dict[str, Any]:
        return dict(self.facts)

    def _notes(self) -> Sequence[str]:
        return self.notes

    def _about(self) -> dict[str, Any]:
        return {**super()._about(), "kind": self.kind}

    def table(self, *, digits: int | None = None) -> Table:
        """The table for people as it was; ``digits`` only where the columns make it."""
        if not self.saved_tables:
            return super().table(digits=digits)
        if digits is not None:
            raise AdjudgeError(f"{self.kind}: 'digits' cannot change after loading: the file has the table as text")
        return self.saved_tables[0]

    def _tables(self, digits: int | None = None) -> list[Table]:
        return [self.table(digits=digits), *self.saved_tables[1:]]

    def _own_tables(self) -> Sequence[Table]:
        return self.saved_tables

    def __repr__(self) -> str:
        return f"<SavedResult: {self.kind}, {len(self.rows)} rows>"


def load_result(path: str | Path) -> SavedResult:
    """Read a result that :meth:`Result.save` wrote as JSON: the same columns, rows, settings and notes.

    It prints, converts and saves as the result did, but is not of its class, whose other methods need more than was
    saved. Infinite numbers are in its tables, but among its rows they are not known, as JSON has none.
    :func:`~adjudge.formats.read_effectiveness` makes :class:`~adjudge.Effectiveness` again.
    """
    source = str(path)
    try:
        return _saved_result(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", source=source) from None
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        came = "something else or a part of one"
        raise InputError(f"expected a result that was saved as JSON, got {came}", source=source) from None


def _saved_result(content: Mapping[str, Any]) -> SavedResult:
    """A result from what its file holds."""
    about = content["result"]
    described = [{**column, "ends": column.get("ends") and tuple(column["ends"])} for column in about["columns"]]
    columns = tuple(Column(**column) for column in described)
    rows = tuple({column.name: row[column.name] for column in columns} for row in content[about["rows"]])
    facts = {name: value for name, value in content.items() if name not in ("result", about["rows"])}
    tables = tuple(
        Table(
            **{
                **table,
                "headings": [Heading(**heading) for heading in table["headings"]],
                "styles": {(row, column): style for row, column, style in table["styles"]},
            }
        )
        for table in about.get("tables", ())
    )
    return SavedResult(
        about["kind"], about["title"], columns, rows, facts, tuple(about["notes"]), about["rows"], tables
    )
