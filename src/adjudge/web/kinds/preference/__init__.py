"""Preferences: participants compare two lists of results."""

from __future__ import annotations

from adjudge.web.kinds import INPUTS, Input, Inputs

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
