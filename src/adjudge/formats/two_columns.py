"""Files of two columns: something, and what it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjudge.errors import shown
from adjudge.formats.source import Source
from adjudge.formats.tables import find_layout, records_of

Order = tuple[int, int]  # in which column the thing is, and in which what it belongs to


def read_two_columns(
    source: Source, kind: str, belongs: str, header: Callable[[list[str]], Order | None]
) -> dict[str, str]:
    """What each thing belongs to, from CSV or TSV; ``kind`` and ``belongs`` are what messages call the two.

    ``header`` tells the order of the columns by the fields of a header, or None where the first line is none.
    """
    source.uncommented()  # a file of comments only is refused as that
    table: dict[str, str] = {}
    layout = find_layout(
        source,
        "\t,;",
        lambda fields: len(fields) == 2 and header(_stripped(fields)) is not None,
        is_quoted=True,
        fits=lambda fields: len(fields) == 2,
    )
    order = header(_stripped(layout.names)) if layout.has_header else None
    name_place, value_place = order or (0, 1)
    if len(layout.names) != 2:
        raise source.error(f"expected two columns, {kind} and {belongs}, got {len(layout.names)}", layout.line)
    for number, given in records_of(source, layout):
        fields = _stripped(given)
        if not all(fields):
            raise source.error(f"expected a {kind} and its {belongs}, got nothing for one of them", number)
        name, value = fields[name_place], fields[value_place]
        if table.setdefault(name, value) != value:
            message = (
                f"expected one {belongs} for the {kind} {shown(name)}, got {shown(table[name])} and {shown(value)}"
            )
            raise source.error(message, number)
    return table


def _stripped(fields: Sequence[str]) -> list[str]:
    return [field.strip() for field in fields]
