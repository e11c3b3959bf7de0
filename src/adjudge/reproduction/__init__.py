"""The papers' tables and figures, made anew from public data: published number, our number, verdict.

A study is one decorated function (:func:`adjudge.reproduction.studies.study`) that computes with the rest of Adjudge
and returns claims. What the data do not allow is listed in :mod:`adjudge.reproduction.impossible`, with the reason; a
test sees to it that every table and figure of the five papers is in one place or the other.
"""

from adjudge.reproduction import (  # noqa: F401, I001 - they register studies, which reports show in this order
    worked_examples,
    reliability,
    reliability_printed,
    significance,
    power,
    partial_lists,
    listeners,
    satisfaction,
    distributions,
    unjudged,
    judging,
    absolute,
    minimal,
)
from adjudge.reproduction.reproducing import Reproduction, reproduce
from adjudge.reproduction.studies import STUDIES

__all__ = ["STUDIES", "Reproduction", "reproduce"]
