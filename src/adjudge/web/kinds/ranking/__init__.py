"""Rankings: experts put the documents of a query in order."""

from __future__ import annotations

from adjudge.web.kinds import INPUTS, Input, Inputs

INPUTS.add(
    "ranking",
    Inputs(
        "putting documents in order",
        "documents are put in order",
        (
            Input(
                "candidates",
                "documents by query: a table with columns query and document, JSON, or runs whose documents are pooled",
                is_several=True,
            ),
            Input(
                "cutoff",
                "of runs, how many documents of each are taken for a query (default: all)",
                "N",
                is_number=True,
            ),
        ),
    ),
)
