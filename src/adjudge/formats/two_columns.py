"""Files of two columns: something, and what it belongs to."""

from __future__ import annotations

import csv
from collections.abc import Callable

from adjudge.errors import shown
from adjudge.formats.source import Source

Order = tuple[int, int]  # in which column the thing is, and in which what it belongs to


def read_two_columns(
    source: Source, kind: str, belongs: str, header: Callable[[list[str]], Order | None]
) -> dict[str, str]:
    """What each thing belongs to, from CSV or TSV; ``kind`` and ``belongs`` are what messages call the two.

    ``header`` tells the order of the columns by the fields of a header, or None where the first line is none.
    """
    source.uncommented()
    table: dict[str, str] = {}
    order, first = (0, 1), source.head(1)[0]
    separator = next((sign for sign in "\t,;" if sign in first), ",")
    for i, (number, line) in enumerate(source.lines()):
        fields = _fields(line, separator)
        if isinstance(fields, str):
            raise source.error(fields, number)
        if len(fields) != 2:
            raise source.error(f"expected two columns, {kind} and {belongs}, got {len(fields)}", number)
        if not all(fields):
            raise source.error(f"expected a {kind} and its {belongs}, got nothing for one of them", number)
        if i == 0 and (said := header(fields)) is not None:
            order = said
            continue
        name, value = fields[order[0]], fields[order[1]]
        if table.setdefault(name, value) != value:
            message = (
                f"expected one {belongs} for the {kind} {shown(name)}, got {shown(table[name])} and {shown(value)}"
            )
            raise source.error(message, number)
    return table


def _fields(line: str, separator: str) -> list[str] | str:
    """The fields of a line, which may be quoted, or what is wrong with it."""
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=separator, strict=True))]
    except csv.Error as error:
        return f"expected fields with balanced quotes, got {shown(error)}"
