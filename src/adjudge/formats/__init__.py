"""Files and tables to collections and back."""

from adjudge.formats import trec, mirex, tables, json  # noqa: F401  # isort: skip  # the order in which formats are tried
from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
