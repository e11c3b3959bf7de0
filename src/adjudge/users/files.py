"""Own mappings from files and back: what a team learnt about *its* users, in place of the published curves.

JSON holds everything::

    {"satisfaction": [{"measure": "CG@5", "scale": "fine", "kind": "cubic", "coefficients": [0.2, 0.1, 0.9, -0.3]},
                      {"measure": "nDCG@10", "scale": "0..3", "kind": "points", "points": [[0, 0.1], [1, 0.9]]},
                      {"measure": "P@5", "scale": "binary40", "kind": "bounded", "coefficients": [0.2, 0.8, 1.1, 1.4]}],
     "agreement": [{"measure": "CG@5", "scale": "fine", "form": "two-stage", "parameters": [-0.2, 3.0, 4.2]}]}

with ``source``, ``provenance`` (names and texts) and ``covariance`` where there are any. A table holds satisfaction:
``measure,scale,a0,a1,a2,a3`` for cubics, one row each, or ``measure,scale,effectiveness,satisfaction`` for points, one
row per point. Errors name the line or the place of what cannot be used.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.formats.schema import Field, Schema
from adjudge.formats.source import Source, has_json_lines, is_json, parse_json
from adjudge.io import write_whole
from adjudge.users.combinations import AnyMapping, check_combination, relevance_scale
from adjudge.users.noticing import AgreementMapping
from adjudge.users.satisfaction import SatisfactionMapping

_CUBIC = ("a0", "a1", "a2", "a3")
_POINT = ("effectiveness", "satisfaction")


def _schema(numbers: Sequence[str]) -> Schema:
    columns = (Field(name, "number", needed=True, holds={"effectiveness": "value"}.get(name)) for name in numbers)
    source = Field("source", full=False, holds=None)
    named = Field("measure", needed=True), Field("scale", needed=True)
    return Schema((*named, *columns, source), distinct=True, has_comments=False)


_CUBICS, _POINTS = _schema(_CUBIC), _schema(_POINT)


@dataclass(frozen=True)
class Mappings:
    """Mappings of both kinds, to be given to what asks for them: ``satisfaction(eff, mappings=own.satisfaction)``."""

    satisfaction: tuple[SatisfactionMapping, ...] = ()
    agreement: tuple[AgreementMapping, ...] = ()

    def __str__(self) -> str:
        satisfied = [f"satisfaction: {m.measure} on {m.scale}" for m in self.satisfaction]
        return "\n".join([*satisfied, *(f"agreement: {m.measure} on {m.scale}" for m in self.agreement)])


def read_mappings(path: str | Path) -> Mappings:
    """Read a file of mappings: JSON, or a table; the first character tells which."""
    source = Source.open(Path(path))
    is_nested = is_json(source) and not has_json_lines(source)
    mappings = _from_json(source) if is_nested else _from_table(source)
    if not mappings.satisfaction and not mappings.agreement:
        raise source.error("expected at least one mapping, got none")
    return mappings


def write_mappings(mappings: Mappings, path: str | Path) -> None:
    """Write mappings as CSV where the name ends in ``.csv``, else as JSON; the file appears when it is complete."""
    target = Path(path)
    text = _to_csv(mappings, target) if target.suffix.lower() == ".csv" else _to_json(mappings)
    write_whole(target, text.encode())


# JSON


def _to_json(mappings: Mappings) -> str:
    plain = {}
    for kind, (_, keys) in _KINDS.items():
        rows = [{key: getattr(mapping, key) for key in keys} for mapping in getattr(mappings, kind)]
        plain[kind] = [
            {key: dict(value) if key == "provenance" else value for key, value in row.items() if value} for row in rows
        ]
    return json.dumps({kind: rows for kind, rows in plain.items() if rows}, ensure_ascii=False, indent=1) + "\n"


def _from_json(source: Source) -> Mappings:
    plain = parse_json(source)
    if not isinstance(plain, dict) or not plain or not set(plain) <= set(_KINDS):
        names = ", ".join(map(shown, plain)) if isinstance(plain, dict) else type(plain).__name__
        raise source.error(f"expected an object with 'satisfaction' and 'agreement', got {names or 'an empty one'}")
    return Mappings(**{kind: _from_entries(source, kind, entries) for kind, entries in plain.items()})


def _from_entries(source: Source, kind: str, entries: Any) -> tuple[Any, ...]:
    """Every entry of a list as a mapping; errors name the place of a bad one."""
    if not isinstance(entries, list):
        raise source.error(f"{kind}: expected a list of mappings, got {type(entries).__name__}")
    mappings = []
    for i, entry in enumerate(entries):
        try:
            if not isinstance(entry, dict):
                raise AdjudgeError(f"expected an object, got {shown(entry)}")
            mappings.append(_from_entry(kind, entry))
        except AdjudgeError as error:
            raise source.error(f"{kind}[{i}]: {error}") from None
    _refuse_repeats(mappings, lambda i, text: source.error(f"{kind}[{i}]: {text}"))
    return tuple(mappings)


def _from_entry(kind: str, entry: dict[str, Any]) -> Any:
    make, keys = _KINDS[kind]
    for name in entry:
        if name not in keys:
            raise AdjudgeError(f"has no key {shown(name)}; known: {', '.join(keys)}")
    needed = ("measure", "scale", "form") if kind == "agreement" else ("measure", "scale")
    given: dict[str, Any] = {**dict.fromkeys(needed), **entry}
    values = {name: _READERS[name](value, name) for name, value in given.items()}
    if kind == "agreement":
        values.setdefault("parameters", ())
    elif "points" in values:
        values.setdefault("kind", "points")
        if any(len(point) != 2 for point in values["points"]):
            raise AdjudgeError("'points' must be pairs of effectiveness and satisfaction")
    mapping = make(**values)
    check_combination(mapping.measure, mapping.scale)
    return mapping


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise AdjudgeError(f"{name!r} must be text, got {'nothing' if value is None else shown(value)}")
    return value


def _numbers(value: Any, name: str) -> tuple[float, ...]:
    if not isinstance(value, list) or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in value):
        raise AdjudgeError(f"{name!r} must be a list of numbers, got {shown(value)}")
    return tuple(map(float, value))


def _matrix(rows: Any, name: str) -> tuple[tuple[float, ...], ...]:
    if not isinstance(rows, list):
        raise AdjudgeError(f"{name!r} must be a list of lists of numbers, got {shown(rows)}")
    return tuple(_numbers(row, name) for row in rows)


def _facts(facts: Any, name: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(facts, dict):
        raise AdjudgeError(f"{name!r} must be an object of names and texts, got {shown(facts)}")
    return tuple((fact, str(value)) for fact, value in facts.items())


_KINDS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "satisfaction": (
        SatisfactionMapping,
        ("measure", "scale", "kind", "coefficients", "points", "covariance", "source", "provenance"),
    ),
    "agreement": (AgreementMapping, ("measure", "scale", "form", "parameters", "covariance", "source", "provenance")),
}
_READERS: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("measure", "scale", "kind", "form", "source"), _text),
    "coefficients": _numbers,
    "parameters": _numbers,
    "points": _matrix,
    "covariance": _matrix,
    "provenance": _facts,
}


def _refuse_repeats(mappings: Iterable[AnyMapping], error: Callable[[int, str], InputError]) -> None:
    seen: set[tuple[str, str]] = set()
    for i, mapping in enumerate(mappings):
        key = mapping.measure, str(relevance_scale(mapping.scale))
        if key in seen:
            raise error(i, f"expected each combination once, got {key[0]} on {key[1]} again")
        seen.add(key)


# CSV


def _to_csv(mappings: Mappings, target: Path) -> str:
    kinds = {m.kind for m in mappings.satisfaction}
    more = any(m.provenance or m.covariance for m in mappings.satisfaction)
    if mappings.agreement or len(kinds) > 1 or more or not kinds <= {"cubic", "points"}:
        raise AdjudgeError(
            f"{target}: CSV holds satisfaction mappings of one kind, cubic or points, without provenance; write JSON"
        )
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    cubic = kinds != {"points"}
    table.writerow(["measure", "scale", *(_CUBIC if cubic else _POINT), "source"])
    for m in mappings.satisfaction:
        for numbers in [m.coefficients] if cubic else m.points:
            table.writerow([m.measure, m.scale, *(repr(x) for x in numbers), m.source])
    return text.getvalue()


def _from_table(source: Source) -> Mappings:
    table = _POINTS.open(source)
    is_cubic = table.place(_CUBICS.field("a0")) is not None
    records = (_CUBICS if is_cubic else _POINTS).read(table)
    keys = list(zip(records["measure"], records["scale"], strict=True))
    columns = [records.numbers(name) for name in (_CUBIC if is_cubic else _POINT)]
    rows = [tuple(map(float, numbers)) for numbers in zip(*columns, strict=True)]
    starts = [i for i, key in enumerate(keys) if is_cubic or i == 0 or keys[i - 1] != key]
    mappings = []
    for start, end in zip(starts, [*starts[1:], len(keys)], strict=True):  # neighbouring points are one mapping
        try:
            shape = {"coefficients": rows[start]} if is_cubic else {"points": tuple(rows[start:end])}
            kind, about = "cubic" if is_cubic else "points", records["source"][start] or ""
            check_combination(*keys[start])
            mappings.append(SatisfactionMapping(*keys[start], kind, source=about, **shape))
        except AdjudgeError as error:
            raise table.error(str(error), start) from None
    _refuse_repeats(mappings, lambda i, text: table.error(text, starts[i]))
    return Mappings(tuple(mappings))
