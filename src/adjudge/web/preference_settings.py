"""What an organiser decides about a preference campaign: traps and trust, batches, recruiting, pay, what is learnt."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from adjudge.errors import AdjudgeError, shown
from adjudge.preferences.trust import TrustRules
from adjudge.web.asking_settings import AskingSettings, Line, one_line

Outcome = Literal["done", "screened_out", "failed"]
"""How somebody's part can end: all answered, the quiz not passed, too many traps missed later."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_PROLIFIC = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_PROLIFIC_ADDRESS = "https://app.prolific.com/submissions/complete?cc={code}"
_MOST_PARAMETERS = 10
_RULES = TrustRules()


def _address(text: str) -> str:
    if text and not text.startswith(("https://", "http://")):
        raise ValueError(f"expected an address that begins with https://, got {shown(text)}")
    if not text.isprintable() or " " in text:
        raise ValueError(f"expected an address without blanks and control characters, got {shown(text)}")
    host = re.split(r"[/?#\\]", text.partition("://")[2], maxsplit=1)[0]
    if text and (not host or set(host) & set("{}@")):  # whoever writes the link would choose where people go
        raise ValueError(f"expected an address whose server is written out, got {shown(text)}")
    return text


def _parameter(text: str) -> str:
    if not text or len(text) > 60 or not text.replace("_", "").replace("-", "").isalnum() or not text.isascii():
        raise ValueError(f"expected names of URL parameters in letters, digits, - and _, got {shown(text)}")
    if text == "code":
        raise ValueError("expected another name than 'code', which stands for the completion code in addresses")
    return text


Address = Annotated[str, Field(max_length=1000), AfterValidator(_address)]
Parameter = Annotated[str, AfterValidator(_parameter)]


class Recruiter(BaseModel):
    """Where participants come from, how they are known again, and where they go when their part ends.

    ``prolific`` knows its own parameters and address; ``other`` is any panel that puts an identity into the link and
    takes people back at an address. The first of ``parameters`` identifies a person. ``codes`` and ``addresses`` are by
    outcome; in an address ``{code}`` stands for the code of the outcome, and ``{NAME}`` for what came as parameter
    NAME, for nothing where it did not come.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["none", "prolific", "other"] = "none"
    parameters: Annotated[tuple[Parameter, ...], Field(max_length=_MOST_PARAMETERS)] = ()
    codes: dict[Outcome, Line] = Field(default_factory=dict)
    addresses: dict[Outcome, Address] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _whole(self) -> Recruiter:
        if self.kind == "other" and not self.parameters:
            raise ValueError("expected the name of the URL parameter that identifies a person")
        if self.kind == "prolific" and (self.parameters or self.addresses):
            raise ValueError("Prolific has parameters and addresses of its own; expected its codes only")
        if self.kind == "none" and (self.parameters or self.codes or self.addresses):
            raise ValueError("expected parameters, codes and addresses with a recruiter only; say prolific or other")
        given = [code for code in self.codes.values() if code]
        if len(set(given)) < len(given):
            raise ValueError("expected a code of its own for each outcome, or who did not finish is paid for it")
        return self

    @property
    def expected(self) -> tuple[str, ...]:
        """The parameters of a link, the one that identifies a person first."""
        return _PROLIFIC if self.kind == "prolific" else self.parameters

    def way_back(self, outcome: Outcome, came_with: dict[str, str]) -> tuple[str | None, str | None]:
        """The code to show for an outcome, and the address to go to; None where there is none.

        >>> Recruiter(kind="prolific", codes={"done": "C1"}).way_back("done", {})
        ('C1', 'https://app.prolific.com/submissions/complete?cc=C1')
        """
        from urllib.parse import quote

        code = self.codes.get(outcome) or None
        address = self.addresses.get(outcome) or None
        if self.kind == "prolific" and code is not None:
            address = _PROLIFIC_ADDRESS
        if address is not None:
            for name, value in {"code": code or "", **dict.fromkeys(self.expected, ""), **came_with}.items():
                address = address.replace("{" + name + "}", quote(value, safe=""))
        return code, address


class Pay(BaseModel):
    """What answers cost: an amount for each answer, for each participant who finishes and for each screened out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "EUR"
    per_answer: Annotated[FiniteFloat, Field(ge=0, le=1e6)] = 0.0
    per_participant: Annotated[FiniteFloat, Field(ge=0, le=1e6)] = 0.0
    per_screened_out: Annotated[FiniteFloat, Field(ge=0, le=1e6)] = 0.0
    fee_share: Annotated[FiniteFloat, Field(ge=0, le=10)] = 0.0

    @property
    def is_paid(self) -> bool:
        """Whether anything is paid at all."""
        return self.per_answer + self.per_participant + self.per_screened_out > 0


class PreferenceSettings(AskingSettings):
    """Everything about a preference campaign but its questions, documents and people.

    A participant answers ``quiz`` traps first and must get ``quiz_bar`` of them right; later ``trap_share`` of their
    questions are traps, and whoever falls below ``trust_bar`` after ``least_traps`` of them is stopped. Nobody answers
    more than ``per_participant`` questions, traps aside. Questions are asked in batches of ``batch_size``, one batch
    after the other; with ``pause_after_batch`` the campaign pauses when one is complete. ``combinations`` (``CG@5 on
    fine``) are the measures and scales whose curves the organiser sees.
    """

    repeat_share: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    combinations: Annotated[tuple[Line, ...], Field(max_length=200)] = ()
    per_participant: Annotated[int, Field(ge=1, le=10_000)] = 20
    quiz: Annotated[int, Field(ge=0, le=50)] = _RULES.quiz
    quiz_bar: Annotated[float, Field(ge=0, le=1)] = _RULES.quiz_bar
    trap_share: Annotated[float, Field(ge=0, le=0.5)] = 0.2
    trust_bar: Annotated[float, Field(ge=0, le=1)] = _RULES.bar
    least_traps: Annotated[int, Field(ge=1, le=50)] = _RULES.least
    attention_bar: Annotated[float, Field(ge=0, le=0.5)] = _RULES.attention
    batch_size: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    pause_after_batch: bool = False
    recruiter: Recruiter = Recruiter()
    pay: Pay = Pay()

    def without_way_back(self) -> list[Outcome]:
        """Outcomes after which people of a recruiter have neither a code nor an address.

        Without a quiz nobody is screened out.

        >>> prolific = Recruiter(kind="prolific", codes={"done": "C1"})
        >>> PreferenceSettings(title="Demo", recruiter=prolific).without_way_back()
        ['screened_out', 'failed']
        """
        if self.recruiter.kind == "none":
            return []
        possible = [one for one in OUTCOMES if self.quiz or one != "screened_out"]
        return [one for one in possible if self.recruiter.way_back(one, {}) == (None, None)]


def preference_settings_from(values: dict[str, Any]) -> PreferenceSettings:
    """Settings from plain values; what is wrong is said in one line.

    >>> preference_settings_from({"title": "Demo", "quiz": -1})
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: Campaign: quiz: input should be greater than or equal to 0, got -1
    """
    try:
        return PreferenceSettings.model_validate(values)
    except ValidationError as error:
        raise AdjudgeError(f"Campaign: {one_line(error)}") from None
