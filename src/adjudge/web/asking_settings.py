"""What every campaign decides, whatever it asks: title, texts and languages, how many answers, how long to listen."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from adjudge.errors import shown
from adjudge.web.languages import LANGUAGES
from adjudge.web.wording import one_line_of, several_lines_of


def _line(text: str) -> str:
    return one_line_of(text, what="text")


def some_words(text: str) -> str:
    """A text that must not be empty."""
    if not text:
        raise ValueError("expected some words, got none")
    return text


def _lines(text: str) -> str:
    several_lines_of(text, what="text", most=50_000)
    return text  # as it was written: blanks mean something in Markdown


def _spoken(language: str) -> str:
    if language not in LANGUAGES:
        raise ValueError(f"expected languages among {', '.join(LANGUAGES)}, got {shown(language)}")
    return language


Line = Annotated[str, Field(max_length=200), AfterValidator(_line)]
Lines = Annotated[str, Field(max_length=50_000), AfterValidator(_lines)]
Language = Annotated[str, Field(max_length=20), AfterValidator(_spoken)]


class AskingSettings(BaseModel):
    """What every campaign that asks people something has, whatever it asks.

    ``judged_by`` people answer a question where agreement is wanted. ``repeat_share`` of somebody's questions are ones
    they answered before. Audio must be heard for ``listen_seconds`` (or to its end) before an answer counts.
    ``instructions`` and ``consent`` are Markdown by language; the first of ``languages`` is the one that is fallen back
    to.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[Line, AfterValidator(some_words)]
    judged_by: Annotated[int, Field(ge=1, le=50)] = 1
    repeat_share: Annotated[float, Field(ge=0, le=0.5)] = 0.05
    listen_seconds: Annotated[float, Field(ge=0, le=600)] = 3.0
    instructions: dict[Language, Lines] = Field(default_factory=dict)
    consent: dict[Language, Lines] = Field(default_factory=dict)
    languages: Annotated[tuple[Language, ...], Field(min_length=1)] = ("en",)
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    contact: Line = ""

    @field_validator("languages")
    @classmethod
    def _once(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(languages))

    def in_language(self, texts: dict[str, str], language: str) -> str:
        """A text in a language, else in the campaign's first, else in any, else nothing."""
        return next((texts[name] for name in (language, self.languages[0], *texts) if name in texts), "")


def one_line(error: ValidationError) -> str:
    """The first thing that is wrong, in words, with its place and value."""
    first = error.errors(include_url=False)[0]
    place = shown(".".join(str(part) for part in first["loc"]))[1:-1]
    ours = first["type"] == "value_error"
    message = first["msg"].removeprefix("Value error, ") if ours else first["msg"][:1].lower() + first["msg"][1:]
    value = "" if ours or first["type"] == "missing" or isinstance(first["input"], dict) else first["input"]
    quoted = shown(value) if isinstance(value, str) else repr(value)
    return f"{f'{place}: ' if place else ''}{message}{f', got {quoted}' if value != '' else ''}"
