"""Which kind of campaign ``adjudge campaign create`` makes, and which of its options belong to which kind."""

from __future__ import annotations

import argparse

from adjudge.cli import campaign_preference, campaign_ranking
from adjudge.errors import AdjudgeError, shown

_JUDGING = {
    "format": "--format", "teams": "--teams", "names": "--names", "artist_filter": "--artist-filter",
    "scales": "--scale", "on_scale": "--on-scale", "measure": "--measure", "goal": "--goal",
    "level": "--level", "zone": "--zone", "agreement_share": "--agreement-share", "estimator": "--estimator",
    "rule": "--rule", "by_sound": "--by-sound",
}  # fmt: skip
_OPTIONS = {"judging": _JUDGING, "preference": campaign_preference.OPTIONS, "ranking": campaign_ranking.OPTIONS}
_ABOUT = {
    "judging": "judging documents",
    "preference": "comparing two lists",
    "ranking": "putting documents in order",
}
_NEEDS = {"preference": "--questions", "ranking": "--candidates"}
_DONE = {"preference": "two lists are compared", "ranking": "documents are put in order"}


def add_kind(parser: argparse.ArgumentParser) -> None:
    """Declare the option that says it outright."""
    parser.add_argument(
        "--kind",
        choices=[*_OPTIONS],
        help="what people are asked for: grades (judging, of runs), preferences (with --questions) or rankings (with "
        "--candidates); by default what is given tells",
    )


def kind_of(arguments: argparse.Namespace) -> str:
    """The kind of campaign that the options describe; options of another kind are refused."""
    given = [kind for kind, option in _NEEDS.items() if getattr(arguments, option[2:]) is not None]
    if len(given) > 1:
        raise AdjudgeError("Expected --questions or --candidates, not both.")
    kind = given[0] if given else "judging"
    if arguments.kind not in (None, kind):
        wanted = "files with runs" if arguments.kind == "judging" else f"{_NEEDS[arguments.kind]} FILE"
        raise AdjudgeError(f"--kind {arguments.kind} needs {wanted}{f', not {_NEEDS[kind]}' if given else ''}.")
    if given and arguments.runs:
        raise AdjudgeError(f"Expected runs or {_NEEDS[kind]}, not both; got {shown(arguments.runs[0])} as well.")
    _refuse_strange(arguments, kind)
    if not given and not arguments.runs:
        raise AdjudgeError("Expected files with runs, or --questions FILE, or --candidates FILE.")
    return kind


def _refuse_strange(arguments: argparse.Namespace, kind: str) -> None:
    """Refuse options that belong to another kind of campaign."""
    for other, options in _OPTIONS.items():
        if other == kind:
            continue
        # Systems are named after their tag unless --names says otherwise.
        strange = [option for name, option in options.items() if getattr(arguments, name) not in (None, "tag")]
        if strange:
            why = f"with {_NEEDS[kind]} {_DONE[kind]}" if kind in _NEEDS else f"give {_NEEDS[other]} FILE as well"
            raise AdjudgeError(f"{strange[0]} is for {_ABOUT[other]}; {why}.")
