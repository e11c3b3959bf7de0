"""Rankings and preferences of experts to partially ordered lists, and how consistent those are."""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
