"""Files and tables to collections and back."""

from adjudge.formats import trec, mirex, tables, json  # noqa: F401  # isort: skip  # the order in which formats are tried
from adjudge.formats.base import FORMATS, Format, Kind
from adjudge.formats.effectiveness import read_effectiveness
from adjudge.formats.inputs import expand
from adjudge.formats.reading import convert, pick, read, read_table, write
from adjudge.formats.source import Source

__all__ = [
    "FORMATS",
    "Format",
    "Kind",
    "Source",
    "convert",
    "expand",
    "pick",
    "read",
    "read_effectiveness",
    "read_table",
    "write",
]
