"""Which format a file is in, and what is wrong with one that is in none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.errors import AdjudgeError, shown
from adjudge.formats.base import FORMATS, Format, Kind
from adjudge.formats.source import Source

if TYPE_CHECKING:
    import polars as pl

_LOOKS: dict[Kind, tuple[Kind, str]] = {"judgments": ("runs", "a run"), "runs": ("judgments", "judgments")}


def read_table(source: Source, kind: Kind, format_name: str | None = None) -> tuple[pl.DataFrame, Format]:
    """Read one file into the plain table of its kind, and say in which format it was."""
    chosen = pick(source, kind) if format_name is None else FORMATS[format_name]
    if kind not in chosen.kinds:
        raise AdjudgeError(f"The format {chosen.name} holds {', '.join(sorted(chosen.kinds))}, not {kind}.")
    return chosen.read(source, kind), chosen


def pick(source: Source, kind: Kind) -> Format:
    """The first registered format that recognises the file.

    Where none does, the error is what the nearest one finds wrong, with its line.
    """
    if source.is_spreadsheet:
        return FORMATS["spreadsheet"]
    for candidate in FORMATS.values():
        if kind in candidate.kinds and candidate.sniff(source, kind):
            return candidate
    source.uncommented()  # a file that is empty, binary or all comments is refused as that
    other, name = _LOOKS.get(kind, (kind, ""))
    if name and FORMATS["trec"].sniff(source, other):
        raise source.error(
            f"expected {kind}, but this looks like {name}; "
            "on the command line judgments come before runs, in aj.read after them"
        )
    first = source.head(1)[0]
    nearest = _nearest(first, kind)
    if nearest is not None:
        FORMATS[nearest].read(source, kind)
    able = ", ".join(name for name, candidate in FORMATS.items() if kind in candidate.kinds)
    raise source.error(f"expected {kind} in a known format ({able}), got a file that begins with {shown(first)}")


def _nearest(line: str, kind: Kind) -> str | None:
    """Name the format that a line is nearest to by its shape, if any.

    >>> _nearest("q1 Q0 d,1 1 0.5", "runs"), _nearest("q1,d1", "runs"), _nearest("hello", "runs")
    ('trec', 'csv', None)
    """
    words = line.split()
    is_trec = kind != "metadata" and len(words) > 1
    if is_trec and words[1].upper() in ("Q0", "0"):
        return "trec"
    if "\t" in line.strip():
        return "tsv"
    if "," in line or ";" in line:
        return "csv"
    return "trec" if is_trec else None
