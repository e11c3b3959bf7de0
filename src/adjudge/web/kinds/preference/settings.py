"""What an organiser decides about a preference campaign: attention checks, trust, batches, recruiting, pay, curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, FiniteFloat, StringConstraints

from adjudge.preferences.trust import TrustRules
from adjudge.web.store.campaigns import SETTINGS, Campaign, CampaignSettings
from adjudge.web.store.recruiting import OUTCOMES, Outcome, Recruiter
from adjudge.web.store.settings import setting
from adjudge.web.store.wording import Line

_RULES = TrustRules()
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{3}$", to_upper=True)]


class Pay(BaseModel):
    """What answers cost: an amount for each answer, for each participant who finishes and for each screened out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    per_answer: FiniteFloat = setting(
        0.0,
        title="Each answer",
        help="Questions, attention checks and repeats alike; people cannot tell them apart.",
        group="pay",
        option="--pay",
        ge=0,
        le=1e6,
    )
    per_participant: FiniteFloat = setting(
        0.0,
        title="Each person who finishes",
        help="On top of their answers.",
        group="pay",
        field="pay_participant",
        option="--pay-participant",
        ge=0,
        le=1e6,
    )
    per_screened_out: FiniteFloat = setting(
        0.0,
        title="Each person screened out",
        help="Instead of pay for their answers.",
        group="pay",
        option="--pay-screened-out",
        ge=0,
        le=1e6,
    )
    fee_share: FiniteFloat = setting(
        0.0,
        title="The recruiter’s fee",
        help="On top of everything that people get.",
        unit="%",
        group="pay",
        option="--fee",
        ge=0,
        le=10,
    )
    currency: Currency = setting(
        "EUR", title="Currency", help="Three letters.", group="pay", metavar="CODE", examples=("EUR", "GBP", "USD")
    )

    @property
    def is_paid(self) -> bool:
        """Whether anything is paid at all."""
        return self.per_answer + self.per_participant + self.per_screened_out > 0


@SETTINGS.register("preference")
class PreferenceSettings(CampaignSettings):
    """Everything about a preference campaign but its questions, documents and people.

    A participant answers ``quiz`` attention checks first and must get ``quiz_bar`` of them right; later
    ``trap_share`` of their questions are attention checks, and whoever falls below ``trust_bar`` after
    ``least_traps`` of them is stopped. Nobody answers more than ``per_participant`` questions, attention checks
    aside. Questions are asked in batches of ``batch_size``, one batch after the other; with ``pause_after_batch``
    the campaign pauses when one is complete. ``combinations`` (``CG@5 on fine``) are the measures and scales whose
    curves the organiser sees.
    """

    asked_for = "preferences"
    made_of = "a file with questions"

    groups: ClassVar[Mapping[str, tuple[str, str]]] = {
        "name": CampaignSettings.groups["name"],
        "asked": ("What is asked of each person?", ""),
        "trust": (
            "How do you know that they listen?",
            "Attention checks are questions whose answer is known. A few come first, as a quiz; others are mixed in "
            "later, and nobody can tell them apart. Answers of people who miss too many are excluded, never deleted, "
            "and their questions are asked again.",
        ),
        "batches": ("In which steps?", ""),
        "recruiter": ("Where do people come from?", ""),
        "pay": (
            "What do you pay?",
            "Only to reckon what the campaign costs: nobody is paid from here. Leave zeros and no cost is shown.",
        ),
    }

    per_participant: int = setting(
        20,
        title="Questions for a person",
        help="At most this many, attention checks aside. A question takes about a minute.",
        group="asked",
        ge=1,
        le=10_000,
    )
    judged_by: int = setting(
        1,
        title="People for a question",
        help="One is enough for curves; with two or more you see whether people agree.",
        group="asked",
        ge=1,
        le=50,
    )
    repeat_share: float = setting(
        0.0,
        title="Asked again",
        help="Of a person’s questions, to see whether they say the same twice.",
        unit="%",
        group="asked",
        ge=0,
        le=0.5,
    )
    quiz: int = setting(
        _RULES.quiz,
        title="Attention checks in the quiz",
        help="They come first; 0 leaves the quiz out.",
        group="trust",
        ge=0,
        le=50,
    )
    quiz_bar: float = setting(
        _RULES.quiz_bar,
        title="Of the quiz to get right",
        help="Below it somebody is thanked and screened out.",
        unit="%",
        group="trust",
        ge=0,
        le=1,
    )
    trap_share: float = setting(
        0.2,
        title="Attention checks later on",
        help="Among the questions after the quiz; one in five is usual.",
        unit="%",
        group="trust",
        ge=0,
        le=0.5,
    )
    trust_bar: float = setting(
        _RULES.bar,
        title="Of all checks to get right",
        help="Below it somebody is stopped, and their answers are excluded.",
        unit="%",
        group="trust",
        ge=0,
        le=1,
    )
    least_traps: int = setting(
        _RULES.least,
        title="Attention checks before somebody is stopped",
        help="Fewer say too little to stop anybody.",
        group="trust",
        finer=True,
        ge=1,
        le=50,
    )
    attention_bar: float = setting(
        _RULES.attention,
        title="Least probability of listening",
        help="From speed, sides and repeats together with attention checks; 0 stops nobody by it.",
        unit="%",
        group="trust",
        finer=True,
        ge=0,
        le=0.5,
    )
    batch_size: int | None = setting(
        None,
        title="Questions in a batch",
        help="One batch is finished before the next begins. Empty: all at once.",
        group="batches",
        usual="all",
        ge=1,
        le=1_000_000,
    )
    pause_after_batch: bool = setting(
        False,
        title="Pause after each batch",
        help="You look at cost and curves, then open it again.",
        group="batches",
    )
    combinations: tuple[Line, ...] = setting(
        (),
        title="Curves to show",
        help="A measure on a scale that your questions have grades on, such as CG@5 on fine. One per line; empty: CG "
        "on every scale there is. The dashboard draws the first four.",
        group="batches",
        option="--combinations --combination",
        metavar="COMBINATION|thesis|FILE",
        usual="CG on each scale that there are grades on",
        examples=("CG@5 on fine",),
        max_length=200,
    )
    seed: int = setting(
        0,
        title="Seed",
        help="Decides what is left to chance.",
        usual="drawn",
        ge=0,
        lt=2**63,
    )
    recruiter: Recruiter = Recruiter()
    pay: Pay = Pay()

    def recruited_by(self) -> Recruiter | None:
        """Who sends people to the campaign; None where nobody does."""
        return None if self.recruiter.kind == "none" else self.recruiter

    def without_way_back(self) -> list[Outcome]:
        """Outcomes after which people of a recruiter have neither a code nor an address.

        Without a quiz nobody is screened out.

        >>> prolific = Recruiter(kind="prolific", codes={"done": "C1"})
        >>> PreferenceSettings(title="Demo", recruiter=prolific).without_way_back()
        ['screened_out', 'failed']
        """
        if self.recruiter.kind == "none":
            return []
        possible = [outcome for outcome in OUTCOMES if self.quiz or outcome != "screened_out"]
        return [outcome for outcome in possible if self.recruiter.way_back(outcome, {}) == (None, None)]


def settings_of(campaign: Campaign) -> PreferenceSettings:
    """The settings of a preference campaign; refused for a campaign of another kind."""
    return campaign.settings_as(PreferenceSettings)
