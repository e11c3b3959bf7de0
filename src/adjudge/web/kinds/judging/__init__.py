"""Judging: assessors grade documents, the most telling ones first."""

from __future__ import annotations

from adjudge.web.kinds import INPUTS, Input, Inputs

INPUTS.add(
    "judging",
    Inputs(
        "judging documents",
        "documents are judged",
        (Input("runs", "files, directories or patterns with runs", "RUN", is_argument=True, is_several=True),),
        are_runs=True,
    ),
)
