from .assessors import evaluate_assessors
from .base import MEASURES, Definition, Measure, measure, parse_measure, parse_measures
from .evaluation import default_measures, evaluate
from .parameters import GAINS, gain

__all__ = [
    "GAINS",
    "MEASURES",
    "Definition",
    "Measure",
    "default_measures",
    "evaluate",
    "evaluate_assessors",
    "gain",
    "measure",
    "parse_measure",
    "parse_measures",
]
