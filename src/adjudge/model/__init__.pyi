from .collection import Collection, Metadata
from .effectiveness import AssessedEffectiveness, Effectiveness
from .judgments import Judgments
from .provenance import Provenance
from .runs import Run, Runs
from .scales import BINARY, BROAD, FINE, Scale, parse_scale

__all__ = [
    "BINARY",
    "BROAD",
    "FINE",
    "AssessedEffectiveness",
    "Collection",
    "Effectiveness",
    "Judgments",
    "Metadata",
    "Provenance",
    "Run",
    "Runs",
    "Scale",
    "parse_scale",
]
