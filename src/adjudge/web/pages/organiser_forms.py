"""A campaign's settings as a form, and back: what an organiser chooses among, in words.

Everything the form does not show (estimator, rule, seed, the words beside a scale) stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData

from adjudge.errors import AdjudgeError, shown
from adjudge.relevance.choosing import GOALS
from adjudge.web.asking_settings import AskingSettings
from adjudge.web.errors import Refused
from adjudge.web.judging_settings import AskedScale, JudgingSettings, asked_scale, settings_from
from adjudge.web.languages import LANGUAGES
from adjudge.web.pages.organiser_shared import field

PRESETS: Mapping[str, tuple[AskedScale, ...]] = {
    "broad+fine": (asked_scale("broad"), asked_scale("fine")),
    "broad": (asked_scale("broad"),),
    "fine": (asked_scale("fine"),),
    "binary": (asked_scale("binary"),),
}
"""Scales to choose among, by the value of their field."""
_NAMES = {
    "title": "Title",
    "contact": "Contact",
    "scales": "Scales",
    "measure": "Measure",
    "listen_seconds": "Seconds to listen",
    "goal": "Goal",
    "goal.kind": "Goal",
    "goal.level": "Goal",
    "goal.zone": "A difference below this is a tie",
    "judged_by": "Assessors for a pair",
    "agreement_share": "Of so many % of the pairs",
    "repeat_share": "Asked again",
    "languages": "Languages",
}
TEXTS = ("instructions", "consent")
"""What people read, in each language of a campaign."""
_IN_PERCENT = ("confidence", "pairs")


def blank_form() -> dict[str, Any]:
    """The form of a new campaign, with what is usual."""
    return {**form_of(JudgingSettings(title="new")), "title": "", "name": ""}


def form_of(settings: JudgingSettings) -> dict[str, Any]:
    """The fields of a form from settings."""
    goal = settings.goal
    own = settings.scales[0] if _preset(settings.scales) == "own" else asked_scale("0..4")
    form: dict[str, Any] = {
        "title": settings.title,
        "contact": settings.contact,
        "scales": _preset(settings.scales),
        "own_minimum": f"{own.minimum:g}",
        "own_maximum": f"{own.maximum:g}",
        "own_step": f"{own.step:g}",
        "measure": settings.measure,
        "listen_seconds": f"{settings.listen_seconds:g}",
        "goal": goal.kind,
        "zone": f"{goal.zone:g}",
        "stop_when_reached": settings.stop_when_reached,
        "by_sound": settings.by_sound,
        "judged_by": str(settings.judged_by),
        "agreement_share": f"{settings.agreement_share * 100:g}",
        "repeat_share": f"{settings.repeat_share * 100:g}",
        "languages": list(settings.languages),
    }
    for kind in GOALS:
        level = goal.level if goal.kind == kind and goal.level is not None else GOALS[kind].level
        form[f"level_{kind}"] = f"{level * 100 if kind in _IN_PERCENT else level:g}"
    return form | texts_of(settings)


def form_as_sent(fields: FormData) -> dict[str, Any]:
    """The fields as somebody filled them in, to be shown again beside what is wrong with them."""
    return as_sent(fields, blank_form())


def as_sent(fields: FormData, blank: Mapping[str, Any]) -> dict[str, Any]:
    """What was sent for the fields of a blank form: texts, boxes that may be ticked, and languages."""
    texts = {name: field(fields, name, usual) for name, usual in blank.items() if isinstance(usual, str)}
    ticked = {name: name in fields for name, usual in blank.items() if isinstance(usual, bool)}
    chosen = [code for code in map(str, fields.getlist("languages")) if code in LANGUAGES]
    return {**blank, **texts, **ticked, "languages": chosen}


def texts_of(settings: AskingSettings) -> dict[str, str]:
    """What people read, as fields of a form."""
    return {f"{text}_{code}": getattr(settings, text).get(code, "") for text in TEXTS for code in LANGUAGES}


def texts_sent(form: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """What people read, from the fields of a form; languages in which nothing stands are left out."""
    written = {text: {code: form[f"{text}_{code}"].replace("\r\n", "\n") for code in LANGUAGES} for text in TEXTS}
    return {text: {code: words for code, words in by.items() if words.strip()} for text, by in written.items()}


def settings_of_form(form: Mapping[str, Any], before: JudgingSettings | None = None) -> JudgingSettings:
    """Settings from the fields of a form; refused in a sentence where one is wrong."""
    values = {} if before is None else before.model_dump(mode="json")
    values |= {
        "title": form["title"],
        "contact": form["contact"],
        "scales": [scale.model_dump(mode="json") for scale in _scales(form, before)],
        "measure": form["measure"],
        "listen_seconds": number(form, "listen_seconds", "the seconds to listen"),
        "goal": _goal(form, before),
        "stop_when_reached": form["stop_when_reached"],
        "by_sound": form["by_sound"],
        "judged_by": whole(form, "judged_by", "the number of assessors for a pair"),
        "agreement_share": number(form, "agreement_share", "the share of pairs for several assessors") / 100,
        "repeat_share": number(form, "repeat_share", "the share of questions asked again") / 100,
        "languages": form["languages"],
        **texts_sent(form),
    }
    if values.get("on_scale") not in {scale["name"] for scale in values["scales"]}:
        values["on_scale"] = None
    try:
        return settings_from(values)
    except AdjudgeError as error:
        raise Refused(_named(str(error).removeprefix("Campaign: "))) from None


def _named(message: str) -> str:
    """A message about a setting that calls it what the form calls it.

    >>> _named("judged_by: input should be greater than or equal to 1, got 0")
    'Assessors for a pair: input should be greater than or equal to 1, got 0'
    """
    place, colon, rest = message.partition(": ")
    return f"{_NAMES[place]}: {rest}" if colon and place in _NAMES else message


def _preset(scales: tuple[AskedScale, ...]) -> str:
    """Which choice of the form these scales are; ``own`` for a single other one, ``kept`` for what it cannot show."""
    asked = [_levels(scale) for scale in scales]
    known = (name for name, preset in PRESETS.items() if [_levels(scale) for scale in preset] == asked)
    return next(known, "own" if len(scales) == 1 else "kept")


def _levels(scale: AskedScale) -> tuple[str, float, float, float]:
    return scale.name, scale.minimum, scale.maximum, scale.step


def _scales(form: Mapping[str, Any], before: JudgingSettings | None) -> tuple[AskedScale, ...]:
    """The scales that were chosen; those that were there keep their words."""
    choice = form["scales"]
    if before is not None and choice == _preset(before.scales) and choice != "own":
        return before.scales
    if choice != "own":
        if choice not in PRESETS:
            raise Refused(f"Expected one of the scales of the form, got {shown(choice)}.")
        return PRESETS[choice]
    ends = [number(form, f"own_{end}", f"the {end} of your scale") for end in ("minimum", "maximum", "step")]
    if before is not None and len(before.scales) == 1 and list(_levels(before.scales[0])[1:]) == ends:
        return before.scales
    low, high, step = ends
    try:
        return (AskedScale(name=f"{low:g}..{high:g}", minimum=low, maximum=high, step=step),)
    except ValueError:
        raise Refused(
            "Expected a scale from at most 0 to more than 0 in whole steps, "
            f"got {low:g} to {high:g} in steps of {step:g}."
        ) from None


def _goal(form: Mapping[str, Any], before: JudgingSettings | None) -> dict[str, Any]:
    kind = form["goal"]
    kept = {} if before is None else before.goal.model_dump(mode="json")
    level = None
    if kind in GOALS:
        level = number(form, f"level_{kind}", "the level of the goal") / (100 if kind in _IN_PERCENT else 1)
        if before is not None and (before.goal.kind, before.goal.level) == (kind, None) and level == GOALS[kind].level:
            level = None  # the form shows the usual level where none was set
    return {**kept, "kind": kind, "level": level, "zone": number(form, "zone", "the difference that is a tie")}


def number(form: Mapping[str, Any], name: str, what: str) -> float:
    """A field as a number."""
    try:
        found = float(form[name])
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise Refused(f"Expected a number as {what}, got {shown(form[name])}.")
    return found


def whole(form: Mapping[str, Any], name: str, what: str) -> int:
    """A field as a whole number."""
    found = number(form, name, what)
    if not found.is_integer():
        raise Refused(f"Expected a whole number as {what}, got {found:g}.")
    return int(found)


def goal_in_words(settings: JudgingSettings) -> str:
    """What a campaign is after, for people.

    >>> goal_in_words(JudgingSettings(title="Demo"))
    'Rank systems with a mean confidence of 95 %'
    """
    kind = settings.goal.kind
    if kind == "everything":
        return "Judge every candidate"
    level = settings.goal.goal.wanted
    words = {
        "confidence": f"Rank systems with a mean confidence of {level * 100:g} %",
        "pairs": f"Be {level * 100:g} % sure of every pair of systems",
        "tau": f"Expect a rank correlation (τ) of {level:g}",
        "error": f"Know scores to within ±{level:g}",
    }
    return words.get(kind, str(settings.goal.goal))


def ears_in_words(settings: JudgingSettings) -> str:
    """By how many people pairs are judged."""
    if settings.judged_by == 1:
        return "is judged by one assessor"
    several = f"is judged by {settings.judged_by} assessors"
    if settings.agreement_share == 1:
        return several
    return f"{several} in {settings.agreement_share * 100:g} % of the cases, else by one"
