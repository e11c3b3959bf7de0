"""What ``adjudge campaign create`` takes for a preference campaign: questions, traps, recruiter, pay."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adjudge.cli.options import WHICH, add_option, named_combinations
from adjudge.errors import AdjudgeError, shown

if TYPE_CHECKING:
    from adjudge.preferences.questions import Questions
    from adjudge.web.preference_settings import PreferenceSettings


_OUTCOMES = {"done": "done", "screened-out": "screened_out", "failed": "failed"}
_NUMBERS = {
    "per_participant": (int, "N", "most questions that one person answers, traps aside"),
    "quiz": (int, "N", "traps that everybody is asked first"),
    "quiz_bar": (float, "X", "share of the quiz that must be right"),
    "trap_share": (float, "X", "share of later questions that are traps"),
    "trust_bar": (float, "X", "whoever gets a smaller share of traps right is stopped"),
    "least_traps": (int, "N", "but not before so many traps"),
    "attention_bar": (float, "X", "whoever is less probably attentive is stopped"),
    "batch_size": (int, "N", "questions asked before the next ones are (default: all)"),
}
_PAY = {
    "pay": ("per_answer", "an answer"),
    "pay_participant": ("per_participant", "a participant who finishes"),
    "pay_screened_out": ("per_screened_out", "a participant who is screened out"),
}
_PAID = "{{adjudge.web.preference_settings:Pay.{}}}"
_NAMED = {"parameters": "--parameter", "codes": "--code", "way_backs": "--way-back"}
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in (
    *_NUMBERS, *_PAY, "traps", "pause_after_batch", "combinations", "recruiter", "currency", "fee",
)} | _NAMED  # fmt: skip
"""Options that only preference campaigns have, by their name."""


def add_decisions(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("comparing two lists")
    group.add_argument("--questions", metavar="FILE", help="questions as 'adjudge questions' writes them")
    group.add_argument("--traps", metavar="FILE", help="traps, if they are not in that file")
    for name, (kind, metavar, about) in _NUMBERS.items():
        usual = f"{{adjudge.web.preference_settings:PreferenceSettings.{name}}}"
        add_option(group, f"--{name.replace('_', '-')}", type=kind, metavar=metavar, help=about, usual=usual)
    group.add_argument(
        "--pause-after-batch", action="store_true", default=None, help="pause the campaign when a batch is complete"
    )
    group.add_argument(
        "--combinations",
        "--combination",
        dest="combinations",
        action="append",
        metavar="WHICH",
        help=f"what curves are learnt for: {WHICH} (default: CG on each scale that there are grades on)",
    )
    group = parser.add_argument_group("recruiting and pay (comparing two lists)")
    group.add_argument("--recruiter", choices=("prolific", "other"), help="where participants come from")
    group.add_argument(
        "--parameter",
        dest="parameters",
        action="append",
        metavar="NAME",
        help="parameter of another recruiter's links, the one that identifies a person first; repeatable",
    )
    for name, metavar, about in (
        ("code", "OUTCOME=CODE", "completion code"),
        ("way-back", "OUTCOME=URL", "where another recruiter takes people back; {code} and {NAME} are filled in"),
    ):
        group.add_argument(
            f"--{name}",
            dest=f"{name.replace('-', '_')}s",
            action="append",
            metavar=metavar,
            help=f"{about}, for {', '.join(_OUTCOMES)}; repeatable",
        )
    for name, (field, about) in _PAY.items():
        option = f"--{name.replace('_', '-')}"
        add_option(group, option, type=float, metavar="X", help=f"paid for {about}", usual=_PAID.format(field))
    words = "of what is paid, three letters"
    add_option(group, "--currency", metavar="CODE", help=words, usual=_PAID.format("currency"))
    words = "of the recruiter, as a share of the pay"
    add_option(group, "--fee", type=float, metavar="X", help=words, usual=_PAID.format("fee_share"))


def decisions(
    arguments: argparse.Namespace, common: dict[str, Any], questions: Questions | None = None
) -> PreferenceSettings:
    """The settings that the options describe; ``questions`` say which combinations of the thesis there can be."""
    from adjudge.web.preference_settings import preference_settings_from

    names = (*_NUMBERS, "pause_after_batch")
    values = common | {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if arguments.combinations is not None:
        scales, k = (("fine", "broad"), 5) if questions is None else (tuple(questions.grades), questions.n_ranks)
        values["combinations"] = [str(one) for one in named_combinations(arguments.combinations, scales, k)]
    recruiter = {
        "kind": arguments.recruiter,
        "parameters": arguments.parameters,
        "codes": _by_outcome("--code", arguments.codes),
        "addresses": _by_outcome("--way-back", arguments.way_backs),
    }
    pay = {field: getattr(arguments, name) for name, (field, _) in _PAY.items()}
    pay |= {"currency": arguments.currency, "fee_share": arguments.fee}
    for name, given in (("recruiter", recruiter), ("pay", pay)):
        values[name] = {key: value for key, value in given.items() if value is not None and value != {}}
    return preference_settings_from(values)


def _by_outcome(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """Values by outcome, each outcome once."""
    found: dict[str, str] = {}
    for one in given or ():
        outcome, sign, value = one.partition("=")
        name = _OUTCOMES.get(outcome.strip().lower().replace("_", "-"))
        if name is None or not sign or not value.strip():
            raise AdjudgeError(f"{option}: expected OUTCOME=… with one of {', '.join(_OUTCOMES)}, got {shown(one)}")
        if name in found:
            raise AdjudgeError(f"{option}: expected each outcome once, got {outcome.strip()} again")
        found[name] = value.strip()
    return found
