"""Measures: grades of ranked lists in, effectiveness out."""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
