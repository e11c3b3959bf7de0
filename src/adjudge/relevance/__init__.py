"""Relevance as a random variable: estimate it, rank systems by it, choose what to judge next, know when to stop."""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
