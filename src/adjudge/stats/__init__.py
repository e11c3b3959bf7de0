"""Statistics of effectiveness: what a mean of queries says about queries that were not asked."""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
