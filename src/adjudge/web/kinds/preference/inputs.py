"""A preference campaign is made from questions and attention checks."""

from __future__ import annotations

from adjudge.web.kinds.inputs import INPUTS, Input, Inputs

INPUTS.add(
    "preference",
    Inputs(
        "comparing two lists",
        "two lists are compared",
        (
            Input("questions", "questions as 'adjudge questions' writes them"),
            Input("traps", "attention checks, if they are not in that file"),
        ),
    ),
)
