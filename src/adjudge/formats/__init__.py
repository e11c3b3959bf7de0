"""Files and tables to collections and back. Importing this package registers every format, sharpest test first."""

from adjudge.formats import trec, groups, mirex, tables, jsons  # isort: skip  # the order in which formats are tried
from adjudge.formats.base import FORMATS, Format, Kind
from adjudge.formats.converting import convert
from adjudge.formats.effectiveness import read_effectiveness
from adjudge.formats.paths import expand
from adjudge.formats.picking import pick, read_table
from adjudge.formats.reading import read
from adjudge.formats.source import Source
from adjudge.formats.writing import write, write_whole

__all__ = [
    "FORMATS",
    "Format",
    "Kind",
    "Source",
    "convert",
    "expand",
    "groups",
    "jsons",
    "mirex",
    "pick",
    "read",
    "read_effectiveness",
    "read_table",
    "tables",
    "trec",
    "write",
    "write_whole",
]
