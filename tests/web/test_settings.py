"""Settings are declared once: forms, options and the reference agree with the classes, of new kinds too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import pytest
from starlette.datastructures import FormData

from adjudge.cli.campaign.create import create
from adjudge.cli.campaign.declared import kind_settings, values_of
from adjudge.cli.command import OneLineParser
from adjudge.web.kinds.base import KINDS, Kind
from adjudge.web.pages.forms import form_as_sent, form_of, sections, settings_of_form
from adjudge.web.store.campaigns import SETTINGS, CampaignSettings
from adjudge.web.store.settings import Setting, setting, settings_in

RATING = "rating"


@pytest.fixture
def rating() -> Iterator[type[CampaignSettings]]:
    """A kind of campaign that has nothing but settings."""
    SETTINGS.add(RATING, RatingSettings)
    yield RatingSettings
    SETTINGS.remove(RATING)


class RatingSettings(CampaignSettings):
    """Everything about a rating campaign."""

    asked_for: ClassVar[str] = "ratings"
    made_of: ClassVar[str] = "documents"

    stars: int = setting(5, title="Stars", help="How many there are.", group="Stars", ge=2, le=10)
    patience: float = setting(0.5, title="Patience", unit="%", group="Stars", ge=0, le=1)
    half: bool = setting(False, title="Half stars", group="Stars")


class Rating(Kind):
    """Just enough of a kind to have a form."""

    name = RATING
    settings = RatingSettings


Rating.__abstractmethods__ = frozenset()


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_command_line_reads_from_source_is_what_the_classes_declare(kind: str) -> None:
    def plain(settings: tuple[Setting, ...]) -> list[Setting]:
        return [replace(each, default=None if each.name == "scales" else each.default) for each in settings]

    assert plain(kind_settings()[kind]) == plain(settings_in(SETTINGS[kind]))


def test_every_setting_that_people_choose_has_a_title_and_fits_its_default() -> None:
    for model in SETTINGS.values():
        for each in settings_in(model):
            assert each.title, each.name
            assert not each.group or each.group in model.groups, each.name


def test_the_form_of_a_new_kind_is_made_from_its_settings() -> None:
    kind = Rating()  # type: ignore[abstract]
    assert [section.group for section in sections(kind.settings)] == ["name", "asked", "Stars"]
    form = form_of(kind, RatingSettings(title="Songs", patience=0.25, half=True))
    assert (form["stars"], form["patience"], form["half"]) == ("5", "25", True)
    sent = form_as_sent(kind, FormData([*{**form, "stars": "7", "patience": "40", "languages": "en"}.items()]))
    settings = settings_of_form(kind, sent)
    assert isinstance(settings, RatingSettings)
    assert (settings.stars, settings.patience) == (7, 0.4)
    with pytest.raises(ValueError, match="Patience: expected at most 100 %, got 140 %"):
        settings_of_form(kind, {**sent, "patience": "140"})


def test_the_options_of_a_new_kind_are_made_from_its_settings(rating: type[CampaignSettings]) -> None:
    parser = OneLineParser(prog="create")
    for add_options in create.options:
        add_options(parser)
    arguments = parser.parse_args(["songs", "--kind", RATING, "--stars", "3", "--half", "--judged-by", "2"])
    values = values_of(arguments, kind_settings()[RATING])
    assert rating.parse(values) == RatingSettings(title="songs", stars=3, half=True, judged_by=2)
    assert "how many there are (2 to 10; default: 5)" in " ".join(parser.format_help().split())
