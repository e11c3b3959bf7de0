"""The page on campaigns, from the declarations of their settings."""

from __future__ import annotations

from collections.abc import Iterable

from scripts.docs.reference_words import help_text, paragraphs, table

from adjudge.web.store.settings import Setting, settings_in

_INTRO = """# Settings of campaigns

What an organiser decides, for each kind of campaign. The form of a campaign, the options of
[`adjudge campaign create`](commands.md#adjudge-campaign-create) and the API take the same settings, and refuse the same
values. In forms a share is written in percent; in the API a setting with a dot is a field of an object: `pay.fee_share`
is `{"pay": {"fee_share": 0.33}}`.
"""


def text() -> str:
    """The page."""
    from adjudge.cli.campaign.declared import common_settings
    from adjudge.web.kinds.base import KINDS

    common = common_settings()
    parts = [_INTRO, "## Of every campaign\n", _table(common)]
    for name, kind in KINDS.items():
        settings = settings_in(kind.settings)
        parts += [f"## {name}\n", *(f"{paragraph}\n" for paragraph in paragraphs(kind.settings))]
        parts.append(_table(setting for setting in settings if not _is_as_usual(setting, common)))
    return "\n".join(parts)


def _is_as_usual(setting: Setting, common: Iterable[Setting]) -> bool:
    return any(
        (each.path, each.default, each.limits) == (setting.path, setting.default, setting.limits) for each in common
    )


def _table(settings: Iterable[Setting]) -> str:
    from adjudge.cli.campaign.declared import option_of

    rows = [
        (
            f"`{setting.name}`",
            f"`{option_of(setting)}`",
            help_text(f"{setting.title}: {setting.help[:1].lower()}{setting.help[1:]}".removesuffix(": ")),
            _values(setting),
            _usual(setting),
        )
        for setting in settings
        if setting.ge is None or setting.ge != setting.le  # else there is nothing to choose
    ]
    return table(["setting", "option", "what it is", "values", "default"], rows) + "\n"


def _values(setting: Setting) -> str:
    if setting.type == "flag":
        return "yes or no"
    unit = {"%": "a share", "s": "seconds", "h": "hours"}.get(setting.unit, "")
    named = (
        ", ".join(f"`{choice}`" for choice in setting.choices) if setting.type in ("choice", "line", "keyed") else ""
    )
    return ", ".join(part for part in (unit, setting.limits, named) if part)


def _usual(setting: Setting) -> str:
    from adjudge.cli.options import shown_default

    if setting.usual or setting.type == "keyed":
        return setting.usual
    return shown_default(setting.default) or ("no" if setting.type == "flag" else "")
