"""A campaign's settings as a form, and back, and as a summary, from what each setting declares.

Shares are written in percent. What the form does not show (the seed) stays as it was, and what counts only with another
choice is left out. A kind completes the form where that is not enough: see ``Kind.fill_form`` and ``Kind.read_form``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from starlette.datastructures import FormData

from adjudge.errors import AdjudgeError, shown
from adjudge.web.errors import Refused
from adjudge.web.kinds.base import Kind
from adjudge.web.languages import LANGUAGES
from adjudge.web.pages.shared import field
from adjudge.web.store.campaigns import CampaignSettings
from adjudge.web.store.settings import Setting, settings_in

TEXTS = ("instructions", "consent")
"""What people read, in each language of a campaign."""
_ENDS = {
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "more than",
    "less than": "less than",
}
_BEYOND = re.compile(rf"input should be ({'|'.join(_ENDS)}) (\S+), got (\S+)")


@dataclass(frozen=True)
class Section:
    """A part of a form: its heading, a paragraph, rows of fields (of a wide one, or side by side), and finer ones."""

    group: str
    heading: str
    about: str
    rows: Sequence[Sequence[Setting]]
    finer: Sequence[Setting]


def sections(model: type[CampaignSettings]) -> list[Section]:
    """The form of a class of settings; a group that the class does not name comes last, under its own name."""
    fields = _fields(model)
    groups = {**model.groups, **{each.group: (each.group, "") for each in fields if each.group not in model.groups}}
    made = []
    for group, (heading, about) in groups.items():
        here = [each for each in fields if each.group == group]
        plain, finer = ([each for each in here if each.finer == is_finer] for is_finer in (False, True))
        rows = [list(row) for _, row in groupby(plain, key=_row)]
        made.append(Section(group, heading, about, rows, finer))
    return made


def _row(setting: Setting) -> tuple[str, ...]:
    """What fields in one row have in common."""
    return setting.path if setting.is_wide or setting.type == "keyed" else ()


def _fields(model: type[CampaignSettings]) -> list[Setting]:
    return [each for each in settings_in(model) if each.group]


def blank_form(kind: Kind) -> dict[str, Any]:
    """The form of a new campaign, with what is usual."""
    return {**form_of(kind, kind.settings(title="new")), "title": "", "name": ""}


def form_of(kind: Kind, settings: CampaignSettings) -> dict[str, Any]:
    """The fields of a form from settings."""
    form: dict[str, Any] = {"languages": list(settings.languages)}
    for text in TEXTS:
        form |= {f"{text}_{code}": getattr(settings, text).get(code, "") for code in LANGUAGES}
    for setting in _fields(kind.settings):
        form |= _write(setting, attrgetter(setting.name)(settings))
    return form | kind.fill_form(settings)


def summary(kind: Kind, settings: CampaignSettings, facts: Mapping[str, str]) -> list[tuple[str, dict[str, str]]]:
    """Settings in words by their title, under the headings of the form.

    What counts only with another choice is left out. ``facts`` replace the words of settings of the same title; other
    facts come last.
    """
    form, rest, made = form_of(kind, settings), dict(facts), []
    for section in sections(kind.settings):
        rows = {}
        for setting in [*(each for row in section.rows for each in row), *section.finer]:
            if not setting.when or form[setting.when[0]] in setting.when[1:]:
                said = setting.in_words(attrgetter(setting.name)(settings))
                rows[setting.title] = rest.pop(setting.title, said)
        made.append((section.heading, rows))
    return [*made, ("What does that come to?", rest)] if rest else made


def _write(setting: Setting, value: Any) -> dict[str, Any]:
    """The fields of one setting."""
    name = setting.input
    if setting.type == "keyed":
        return {f"{name}_{key}": value.get(key, "") for key in setting.choices}
    if setting.type == "flag" and setting.choices:
        return {name: list(setting.choices)[value]}
    if setting.type == "flag":
        return {name: value}
    if setting.type in ("lines", "words"):
        return {name: ("\n" if setting.type == "lines" else " ").join(map(str, value))}
    if isinstance(value, int | float):
        return {name: f"{round(value * setting.factor, 6):.15g}"}
    return {name: "" if value is None else value}


def form_as_sent(kind: Kind, fields: FormData) -> dict[str, Any]:
    """The fields as somebody filled them in, to be shown again beside what is wrong with them."""
    blank = blank_form(kind)
    texts = {name: field(fields, name, usual) for name, usual in blank.items() if isinstance(usual, str)}
    ticked = {name: name in fields for name, usual in blank.items() if isinstance(usual, bool)}
    chosen = [code for code in map(str, fields.getlist("languages")) if code in LANGUAGES]
    return {**blank, **texts, **ticked, "languages": chosen}


def settings_of_form(kind: Kind, form: Mapping[str, Any], before: CampaignSettings | None = None) -> CampaignSettings:
    """Settings from the fields of a form; refused in a sentence where one is wrong."""
    values = {} if before is None else before.model_dump(mode="json")
    values["languages"] = form["languages"]
    for text in TEXTS:
        written = {code: form[f"{text}_{code}"].replace("\r\n", "\n") for code in LANGUAGES}
        values[text] = {code: words for code, words in written.items() if words.strip()}
    for setting in _fields(kind.settings):
        place = values
        for name in setting.path[:-1]:
            place = place.setdefault(name, {})
        if setting.when and form[setting.when[0]] not in setting.when[1:]:
            place.pop(setting.path[-1], None)
        else:
            place[setting.path[-1]] = _read(setting, form)
    try:
        return kind.settings.parse(kind.read_form(form, values, before))
    except Refused:
        raise
    except AdjudgeError as error:
        raise Refused(_titled(str(error).removeprefix("Campaign: "), settings_in(kind.settings))) from None


def _read(setting: Setting, form: Mapping[str, Any]) -> Any:
    """The value of one setting."""
    if setting.type == "keyed":
        return {key: text for key in setting.choices if (text := form[f"{setting.input}_{key}"])}
    text = form[setting.input]
    if setting.type == "flag":
        return text == list(setting.choices)[True] if setting.choices else text
    if setting.type == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if setting.type == "words":
        return text.replace(",", " ").split()
    if setting.is_optional and not text:
        return None
    if setting.type == "whole":
        return whole(form, setting.input, f"‘{setting.title}’")
    if setting.type == "number":
        return round(number(form, setting.input, f"‘{setting.title}’") / setting.factor, 10)
    return text


def _titled(message: str, settings: Sequence[Setting]) -> str:
    """A message about a setting that calls it what the form calls it, with numbers as the form shows them.

    >>> share = Setting(title="Of the quiz to get right", unit="%", path=("quiz_bar",))
    >>> _titled("quiz_bar: input should be less than or equal to 1, got 7.0", [share])
    'Of the quiz to get right: expected at most 100 %, got 700 %'
    >>> currency = Setting(title="Currency", examples=("EUR",), path=("pay", "currency"))
    >>> _titled("pay.currency: string should match pattern '^[A-Z]{3}$', got 'EURO'", [currency])
    "Currency: expected a value such as EUR, got 'EURO'"
    """
    place, colon, rest = message.partition(": ")
    parts = tuple(place.split("."))
    named = [each for each in settings if parts[: len(each.path)] == each.path or each.path[: len(parts)] == parts]
    if not colon or not named:
        return message
    setting = named[0]
    title = setting.title
    if setting.type == "keyed" and parts[-1] in setting.choices:
        title = f"{title}, {setting.choices[parts[-1]][0]}"
    if beyond := _BEYOND.fullmatch(rest):
        unit = " %" if setting.unit == "%" else ""
        limit, came = (f"{float(end) * setting.factor:.15g}{unit}" for end in beyond.groups()[1:])
        rest = f"expected {_ENDS[beyond[1]]} {limit}, got {came}"
    elif setting.examples and rest.startswith("string should match pattern"):
        rest = f"expected a value such as {setting.examples[0]}, got {rest.rpartition(', got ')[2]}"
    return f"{title}: {rest}"


def number(form: Mapping[str, Any], name: str, what: str) -> float:
    """A field as a number."""
    try:
        value = float(form[name])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Refused(f"Expected a number as {what}, got {shown(form[name])}.")
    return value


def whole(form: Mapping[str, Any], name: str, what: str) -> int:
    """A field as a whole number."""
    value = number(form, name, what)
    if not value.is_integer():
        raise Refused(f"Expected a whole number as {what}, got {value:g}.")
    return int(value)
