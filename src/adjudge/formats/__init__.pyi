from .base import FORMATS, Format, Kind
from .effectiveness import read_effectiveness
from .reading import (
    JudgmentsLike,
    MetadataLike,
    RunsLike,
    convert,
    expand,
    pick,
    read,
    read_judgments,
    read_table,
    write,
)
from .source import Source

__all__ = [
    "FORMATS",
    "Format",
    "JudgmentsLike",
    "Kind",
    "MetadataLike",
    "RunsLike",
    "Source",
    "convert",
    "expand",
    "pick",
    "read",
    "read_effectiveness",
    "read_judgments",
    "read_table",
    "write",
]
