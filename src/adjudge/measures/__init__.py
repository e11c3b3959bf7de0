"""Measures: grades of ranked lists in, effectiveness out. Importing this package registers them all."""

from adjudge.measures import binary, cascade, dynamic_recall, gains, mirex
from adjudge.measures.base import MEASURES, Definition, Measure, measure
from adjudge.measures.evaluation import default_measures, evaluate
from adjudge.measures.notation import parse_measure, parse_measures
from adjudge.measures.parameters import GAINS, gain

__all__ = [
    "GAINS",
    "MEASURES",
    "Definition",
    "Measure",
    "binary",
    "cascade",
    "default_measures",
    "dynamic_recall",
    "evaluate",
    "gain",
    "gains",
    "measure",
    "mirex",
    "parse_measure",
    "parse_measures",
]
