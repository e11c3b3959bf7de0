"""Tables of text with a header, as people's answers come: read fast, and with a line for every complaint.

Fields are separated by commas, semicolons or tabs, whichever the header has, and quoted where they need it. Every
line must have as many fields as the header; blank lines are skipped, and there are no comments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from adjudge.arrays import Floats, Mask
from adjudge.errors import InputError, shown
from adjudge.formats.columns import COLUMNS, ErrorAt, hint, listed, place_of, places_said, with_points
from adjudge.formats.source import Source
from adjudge.formats.tables import Layout, find_layout, line_of, read_cells
from adjudge.formats.text import BLANKS


@dataclass(frozen=True)
class TextTable:
    """The cells of a file as text: ``columns`` by name in lower case, null where empty."""

    source: Source
    layout: Layout
    columns: pl.DataFrame

    @classmethod
    def open(cls, source: Source, known: Mapping[str, str] | None = None) -> TextTable:
        """Read a file with a header.

        ``known`` gives columns of :data:`~adjudge.formats.columns.COLUMNS` the names that the reader asks for, where no
        column has them already.
        """
        layout = find_layout(
            source, "\t,;", lambda fields: sum(map(bool, fields)) > 1, is_quoted=True, has_comments=False
        )
        layout = replace(layout, has_header=True, skipped=max(layout.skipped, layout.line))
        frame = read_cells(source, layout)
        if not frame.height:
            raise source.error("expected at least one row of data, got none")
        names = _names(layout, known or {}, lambda message, _: source.error(message, layout.line))
        return cls(source, layout, frame.rename(dict(zip(frame.columns, names, strict=True))))

    def __contains__(self, name: str) -> bool:
        return name in self.columns.columns

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.columns.height

    def text(self, name: str) -> pl.Series:
        """A column without surrounding blanks; null where empty, or everywhere when there is no such column."""
        if name not in self:
            return pl.Series(name, [None] * self.height, dtype=pl.String)
        stripped = self.columns[name].str.strip_chars(BLANKS)
        return stripped.to_frame().select(pl.col(name).replace("", None)).to_series()

    def needed(self, name: str) -> pl.Series:
        """A column that must be there and have a value in every row."""
        if name not in self:
            came = listed(self.columns.columns) + (hint(name) if name in COLUMNS else "")
            raise self.source.error(f"expected a column {name!r}, got the columns {came}", self.header_line)
        column = self.text(name)
        self.refuse(column.is_null().to_numpy(), lambda row: f"expected something in {name!r}, got nothing")
        return column

    def numbers(self, name: str, *, least: float = -np.inf) -> Floats:
        """A column of numbers; NaN where empty."""
        column = self.text(name)
        values = (with_points(column) if self.layout.has_decimal_commas else column).cast(pl.Float64, strict=False)
        known = column.is_not_null()
        bad = known & ~(values.is_finite().fill_null(False) & (values >= least).fill_null(False))
        wanted = "a number" if np.isneginf(least) else f"a number of {least:g} or more"
        self.refuse(bad.to_numpy(), lambda row: f"expected {wanted} in {name!r}, got {shown(column[row])}")
        numbers: Floats = values.fill_null(np.nan).to_numpy().astype(np.float64)
        return numbers

    def one_of(self, name: str, choices: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """A column as places in ``choices``, -1 where empty; case does not count."""
        column = self.text(name)
        lowered = column.str.to_lowercase()
        places = lowered.replace_strict(list(choices), list(range(len(choices))), default=-2, return_dtype=pl.Int64)
        codes = np.where(column.is_null().to_numpy(), -1, places.to_numpy()).astype(np.int64)
        wanted = ", ".join(choices)
        self.refuse(codes == -2, lambda row: f"expected {wanted} in {name!r}, got {shown(column[row])}")
        return codes

    @property
    def header_line(self) -> int:
        """Number of the line with the names of the columns."""
        return self.layout.line

    def refuse(self, bad: Mask, message: Callable[[int], str]) -> None:
        """Raise for the first bad row, with its line."""
        rows = np.flatnonzero(bad)
        if len(rows):
            raise self.error(message(int(rows[0])), int(rows[0]))

    def error(self, message: str, row: int) -> InputError:
        """Make the error for a row, counted from 0."""
        return self.source.error(message, line_of(self.source, self.layout, row))


def _names(layout: Layout, known: Mapping[str, str], error: ErrorAt) -> list[str]:
    """What columns are called: as the user says, as the reader knows them, or as in the file, in lower case."""
    names = [name.strip(BLANKS).lower() for name in layout.names]
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise error(f"expected each column once, got {shown(twice[0])} again", None)
    for target, place in places_said(layout.names).items():
        wanted = known.get(target, target)
        names = [f"{name} of the file" if name == wanted else name for name in names]
        names[place] = wanted
    for target, wanted in known.items():
        found = None if wanted in names else place_of(layout.names, target, error)
        if found is not None:
            names[found] = wanted
    return [name or f"column {i}" for i, name in enumerate(names)]
