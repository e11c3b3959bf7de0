"""Collections and results: runs, judgments, scales, metadata, effectiveness; identifiers coded to integers once."""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
