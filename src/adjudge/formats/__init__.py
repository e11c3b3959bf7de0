"""Files and tables to collections and back."""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
