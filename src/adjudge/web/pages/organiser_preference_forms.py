"""The settings of a preference campaign as a form, and back.

Shares are written in percent. What the form does not show (the seed) stays as it was; what belongs to a recruiter that
was not chosen is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData

from adjudge.errors import AdjudgeError
from adjudge.web.errors import Refused
from adjudge.web.pages.organiser_forms import as_sent, number, texts_of, texts_sent, whole
from adjudge.web.pages.organiser_shared import several
from adjudge.web.preference_settings import OUTCOMES, PreferenceSettings, preference_settings_from

SHARES = {
    "repeat_share": "Asked again",
    "quiz_bar": "Of the quiz to get right",
    "trap_share": "Traps later on",
    "trust_bar": "Of all traps to get right",
    "attention_bar": "Least probability of listening",
    "fee_share": "The recruiter's fee",
}
"""Fields in percent, with what the form calls them."""
COUNTS = {
    "judged_by": "People for a question",
    "per_participant": "Questions for a person",
    "quiz": "Traps in the quiz",
    "least_traps": "Traps before somebody is stopped",
}
PAY = {
    "per_answer": "Each answer",
    "pay_participant": "Each person who finishes",
    "per_screened_out": "Each person screened out",
}
OUTCOME_WORDS = {"done": "Finished", "screened_out": "Quiz not passed", "failed": "Stopped later"}
"""How somebody's part ended, for organisers."""
OUTCOME_CODES = {
    "done": "Shown when all is answered.",
    "screened_out": "Shown when the quiz was not passed.",
    "failed": "Shown when somebody missed too many traps later.",
}
_NAMES = {
    **SHARES,
    **COUNTS,
    "title": "Title",
    "contact": "Contact",
    "languages": "Languages",
    "listen_seconds": "Seconds to listen",
    "batch_size": "Questions in a batch",
    "combinations": "Curves to show",
    "pay.currency": "Currency",
    "pay.per_answer": PAY["per_answer"],
    "pay.per_participant": PAY["pay_participant"],
    "pay.per_screened_out": PAY["per_screened_out"],
    "pay.fee_share": SHARES["fee_share"],
    "recruiter": "Recruiter",
    "recruiter.kind": "Recruiter",
    "recruiter.parameters": "Names of the parameters",
    **{f"recruiter.codes.{one}": f"Code, {OUTCOME_WORDS[one].lower()}" for one in OUTCOMES},
    **{f"recruiter.addresses.{one}": f"Address, {OUTCOME_WORDS[one].lower()}" for one in OUTCOMES},
}


def blank_preference_form() -> dict[str, Any]:
    """The form of a new campaign, with what is usual."""
    return {**preference_form_of(PreferenceSettings(title="new")), "title": "", "name": ""}


def preference_form_of(settings: PreferenceSettings) -> dict[str, Any]:
    """The fields of a form from settings."""
    recruiter, pay = settings.recruiter, settings.pay
    shares = {name: getattr(pay if name == "fee_share" else settings, name) for name in SHARES}
    form: dict[str, Any] = {
        "title": settings.title,
        "contact": settings.contact,
        "listen_seconds": f"{settings.listen_seconds:g}",
        "languages": list(settings.languages),
        "batch_size": "" if settings.batch_size is None else str(settings.batch_size),
        "pause_after_batch": settings.pause_after_batch,
        "combinations": "\n".join(settings.combinations),
        "recruiter": recruiter.kind,
        "parameters": " ".join(recruiter.parameters),
        "currency": pay.currency,
        "per_answer": f"{pay.per_answer:g}",
        "pay_participant": f"{pay.per_participant:g}",
        "per_screened_out": f"{pay.per_screened_out:g}",
        **{name: str(getattr(settings, name)) for name in COUNTS},
        **{name: f"{round(share * 100, 6):g}" for name, share in shares.items()},
        **{f"code_{one}": recruiter.codes.get(one, "") for one in OUTCOMES},
        **{f"address_{one}": recruiter.addresses.get(one, "") for one in OUTCOMES},
        **texts_of(settings),
    }
    return form


def preference_form_as_sent(fields: FormData) -> dict[str, Any]:
    """The fields as somebody filled them in, to be shown again beside what is wrong with them."""
    return as_sent(fields, blank_preference_form())


def preference_settings_of_form(
    form: Mapping[str, Any], before: PreferenceSettings | None = None
) -> PreferenceSettings:
    """Settings from the fields of a form; refused in a sentence where one is wrong."""
    shares = {name: round(number(form, name, _as_said(title)) / 100, 10) for name, title in SHARES.items()}
    fee = shares.pop("fee_share")
    values = {} if before is None else before.model_dump(mode="json")
    values |= {
        "title": form["title"],
        "contact": form["contact"],
        "listen_seconds": number(form, "listen_seconds", "the seconds to listen"),
        "languages": form["languages"],
        "batch_size": whole(form, "batch_size", "the questions in a batch") if form["batch_size"] else None,
        "pause_after_batch": form["pause_after_batch"],
        "combinations": _combinations(form["combinations"]),
        "recruiter": _recruiter(form),
        "pay": {
            "currency": form["currency"].upper(),
            "per_answer": number(form, "per_answer", "the pay of an answer"),
            "per_participant": number(form, "pay_participant", "the pay of each person who finishes"),
            "per_screened_out": number(form, "per_screened_out", "the pay of each person screened out"),
            "fee_share": fee,
        },
        **{name: whole(form, name, _as_said(title)) for name, title in COUNTS.items()},
        **shares,
        **texts_sent(form),
    }
    try:
        return preference_settings_from(values)
    except AdjudgeError as error:
        raise Refused(_named(str(error).removeprefix("Campaign: "))) from None


def _as_said(title: str) -> str:
    """A field inside a sentence: ‘Traps in the quiz’."""
    return f"‘{title}’"


def _named(message: str) -> str:
    """A message about a setting that calls it what the form calls it; shares are said in percent.

    >>> _named("quiz_bar: input should be less than or equal to 1, got 7.0")
    'Of the quiz to get right: expected at most 100 %, got 700 %'
    >>> _named("quiz: input should be greater than or equal to 0, got -1")
    'Traps in the quiz: input should be greater than or equal to 0, got -1'
    >>> _named("pay.currency: string should match pattern '^[A-Z]{3}$', got 'EURO'")
    "Currency: expected three letters such as EUR, got 'EURO'"
    """
    place, colon, rest = message.partition(": ")
    if not colon or place not in _NAMES:
        return message
    field_name = place.rpartition(".")[2]
    if field_name in SHARES:
        rest = _in_percent(rest)
    if field_name == "currency":
        rest = f"expected three letters such as EUR, got {rest.rpartition(', got ')[2]}"
    return f"{_NAMES[place]}: {rest}"


def _in_percent(rest: str) -> str:
    ends = {
        "greater than or equal to": "at least",
        "less than or equal to": "at most",
        "less than": "less than",
    }
    for said, short in ends.items():
        head = f"input should be {said} "
        if rest.startswith(head):
            limit, _, got = rest.removeprefix(head).partition(", got ")
            return f"expected {short} {float(limit) * 100:g} %, got {float(got) * 100:g} %"
    return rest


def _combinations(text: str) -> list[str]:
    """Measures on scales, one a line, in the form in which they print themselves; each is checked.

    >>> _combinations("CG@5 on Fine; nDCG(ideal=max)@5 on broad")
    ['CG@5 on fine', 'nDCG(ideal=max)@5 on broad']
    """
    from adjudge.preferences.questions import Combination

    lines = [part.strip() for line in text.splitlines() for part in line.split(";")]
    try:
        return list(dict.fromkeys(str(Combination.parse(line)) for line in lines if line))
    except AdjudgeError as error:
        raise Refused(f"{_NAMES['combinations']}: {str(error).removeprefix('Combination: ')}") from None


def _recruiter(form: Mapping[str, Any]) -> dict[str, Any]:
    """What was decided about the recruiter that was chosen."""
    kind = form["recruiter"]
    if kind == "none":
        return {"kind": kind}
    codes = {one: form[f"code_{one}"] for one in OUTCOMES if form[f"code_{one}"]}
    if kind == "prolific":
        return {"kind": kind, "codes": codes}
    addresses = {one: form[f"address_{one}"] for one in OUTCOMES if form[f"address_{one}"]}
    parameters = form["parameters"].replace(",", " ").split()
    return {"kind": kind, "parameters": parameters, "codes": codes, "addresses": addresses}


def preference_goal_in_words(settings: PreferenceSettings) -> str:
    """What a campaign is after, for people.

    >>> preference_goal_in_words(PreferenceSettings(title="Demo", judged_by=3))
    'Compare two lists: 3 answers to every question'
    """
    return f"Compare two lists: {several(settings.judged_by, 'answer')} to every question"
