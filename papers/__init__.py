"""The papers' tables and figures, reproduced from public data: published number, our number, verdict.

A study is one decorated function (:func:`papers.studies.study`) that computes with the rest of Adjudge
and returns claims. What the data do not allow is listed in :mod:`papers.run`, with the reason; a
test sees to it that every table and figure of the five papers is in one place or the other.
"""

from papers.run import Reproduction, reproduce
from papers.studies import STUDIES

__all__ = ["STUDIES", "Reproduction", "reproduce"]
