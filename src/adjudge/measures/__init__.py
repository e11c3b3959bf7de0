"""Measures: grades of ranked lists in, effectiveness out."""

from adjudge.measures.base import MEASURES, Definition, Measure, measure, parse_measure, parse_measures
from adjudge.measures.evaluation import default_measures, evaluate
from adjudge.measures.parameters import GAINS, gain

__all__ = [
    "GAINS",
    "MEASURES",
    "Definition",
    "Measure",
    "default_measures",
    "evaluate",
    "gain",
    "measure",
    "parse_measure",
    "parse_measures",
]
