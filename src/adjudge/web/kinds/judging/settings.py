"""What an organiser decides about a judging campaign: scales, measure, goal, how many assessors a pair is for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    field_validator,
    model_validator,
)

from adjudge.errors import AdjudgeError, shown
from adjudge.model.scales import Scale, parse_scale
from adjudge.relevance.base import ESTIMATORS, estimable, refuse_drawn, scoring
from adjudge.relevance.choosing import GOALS, RULES, SECOND, Goal
from adjudge.web.store.campaigns import SETTINGS, Campaign, CampaignSettings
from adjudge.web.store.settings import setting
from adjudge.web.store.wording import Language, Line

MOST_BUTTONS = 11
"""Scales of more levels than this are answered with a slider."""

_LABELS = {
    "broad": ("Not similar", "Somewhat similar", "Very similar"),
    "binary": ("Not similar", "Similar"),
}


def _scale_name(text: str) -> str:
    if re.fullmatch(r"[\w .-]*\w[\w .-]*", text) is None:
        raise ValueError(f"expected a name of letters, digits, spaces, dots and hyphens, got {shown(text)}")
    return text


class AskedScale(BaseModel):
    """A scale that assessors answer on: its ends and step, and the words beside its levels.

    ``labels`` by language, one for each level from the lowest; without them levels are numbers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(max_length=40), AfterValidator(_scale_name)]
    minimum: FiniteFloat = 0.0
    maximum: FiniteFloat
    step: Annotated[FiniteFloat, Field(gt=0)] = 1.0
    labels: dict[Language, tuple[Line, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _whole(self) -> AskedScale:
        if not self.minimum <= 0 < self.maximum:
            raise ValueError("expected a minimum of at most 0 and a maximum above 0")
        steps = (self.maximum - self.minimum) / self.step
        if not 0.5 < steps <= 10_000 or abs(steps - round(steps)) > 1e-9:  # infinitely many cannot be rounded
            raise ValueError("expected a step that divides the scale into 1 to 10,000 whole steps")
        for language, words in self.labels.items():
            if len(words) != self.n_levels:
                raise ValueError(f"expected {self.n_levels} labels in {language!r}, got {len(words)}")
        return self

    def __str__(self) -> str:
        return f"{self.name} ({self.minimum:g} to {self.maximum:g})"

    @property
    def n_levels(self) -> int:
        """How many grades there are to choose from."""
        return round((self.maximum - self.minimum) / self.step) + 1

    @property
    def by_buttons(self) -> bool:
        """Whether there are few enough levels for a button each."""
        return self.n_levels <= MOST_BUTTONS

    @property
    def scale(self) -> Scale:
        """The scale as the rest of Adjudge knows it."""
        known = {scale.name: scale for scale in map(parse_scale, ("broad", "fine", "binary"))}.get(self.name)
        if known is not None and (known.minimum, known.maximum) == (self.minimum, self.maximum):
            return known
        return Scale(self.name, self.maximum, self.minimum, levels=self.n_levels if self.step == 1 else None)

    def check(self, grade: object) -> float:
        """A grade of this scale as a number; refused where it is none."""
        if isinstance(grade, bool) or not isinstance(grade, int | float) or not math.isfinite(grade):
            raise AdjudgeError(f"Scale {self.name}: expected a number, got {shown(grade)}")
        steps = (grade - self.minimum) / self.step
        if not self.minimum <= grade <= self.maximum or abs(steps - round(steps)) > 1e-6:
            raise AdjudgeError(
                f"Scale {self.name}: expected a grade from {self.minimum:g} to {self.maximum:g} "
                f"in steps of {self.step:g}, got {grade:g}"
            )
        return self.minimum + round(steps) * self.step


def asked_scale(text: str) -> AskedScale:
    """A scale from a word: broad, fine, binary or an interval such as 0..4.

    >>> asked_scale("broad").labels["en"]
    ('Not similar', 'Somewhat similar', 'Very similar')
    >>> asked_scale("0..4").n_levels
    5
    """
    scale = parse_scale(text)
    name = scale.name if scale.name != "graded" else text.replace(" ", "")
    labels = {"en": _LABELS[name]} if name in _LABELS else {}
    return AskedScale(name=name, minimum=scale.minimum, maximum=scale.maximum, labels=labels)


class CampaignGoal(BaseModel):
    """When there are enough judgments: a goal of the low-cost engine, or ``everything``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str = setting(
        "order",
        title="Goal",
        help="When there are enough judgments.",
        group="goal",
        field="goal",
        choices={
            "order": (
                "Rank the systems",
                "Stops when the order of two systems is right with this probability on average, differences that do "
                "not matter aside. The usual goal, and the cheapest.",
            ),
            "winner": (
                "Name the best system",
                "Stops when, with this probability, no other system is better than the first one.",
            ),
            "top": (
                "Name the first systems",
                "Stops when, with this probability, no other system is better than the first ones.",
            ),
            "every": (
                "Be sure of every pair of systems",
                "Stops when the order of even the least sure pair is right with this probability. Takes far more.",
            ),
            "tau": (
                "Reach a rank correlation",
                "Stops when Kendall’s τ with the true ranking is expected to be this high.",
            ),
            "tau_ap": (
                "Reach a rank correlation, mostly at the top",
                "Stops when the AP correlation with the true ranking is expected to be this high.",
            ),
            "scores": (
                "Know the scores themselves",
                "Stops when every system’s score is known to within this much, with 95 % confidence.",
            ),
            "confidence": (
                "Be sure who is better or that they are alike",
                "As in version 1.0: stops when the sign of a difference, or that it does not matter, is known with "
                "this mean confidence.",
            ),
            "pairs": (
                "The same for every pair",
                "As in version 1.0: stops when even the least sure pair is so well known.",
            ),
            "error": (
                "Know a typical score",
                "As in version 1.0: stops when a typical system’s score is known to within this much.",
            ),
            "everything": (
                "Judge everything",
                "Every candidate is judged. Needed only when the judgments themselves are the aim.",
            ),
        },
        option="--goal",
        metavar="KIND",
    )
    level: FiniteFloat | None = setting(
        None,
        title="Level of the goal",
        option="--level",
        usual="0.95; 0.9 for tau and tau_ap, 0.05 for scores and error",
    )
    top: int = setting(
        3,
        title="Number of first systems",
        help="For the goal that names them; the dashboard shows each system’s probability of being one of them.",
        group="goal",
        metavar="K",
        ge=1,
        le=1000,
    )
    zone: float = setting(
        0.01,
        title="A difference below this is a tie",
        help="On the scale of the measure, from 0 to 1; nobody is asked to tell such systems apart.",
        group="goal",
        option="--zone",
        metavar="D",
        ge=0,
        lt=1,
    )
    least: Annotated[int, Field(ge=0, lt=2**63)] | None = None

    @model_validator(mode="after")
    def _known(self) -> CampaignGoal:
        if self.kind != "everything" and self.kind not in GOALS:
            raise ValueError(f"expected one of {', '.join([*GOALS, 'everything'])}, got {self.kind!r}")
        self.goal  # noqa: B018 - checks the level
        return self

    @property
    def goal(self) -> Goal:
        """What progress is measured by; for ``everything`` the order, which does not stop it."""
        kind = "order" if self.kind == "everything" else self.kind
        level = None if self.kind == "everything" else self.level
        return Goal(kind, level, self.zone, self.least, top=self.top)


@SETTINGS.register("judging")
class JudgingSettings(CampaignSettings):
    """Everything about a judging campaign but its runs, documents and people.

    ``judged_by`` assessors judge a pair in ``agreement_share`` of the pairs; one judges the others. With ``by_sound``
    the estimator hears the clips: what sounds alike is about as relevant. With ``second_opinions`` up to ``judged_by``
    assessors judge a pair where that tells more than another pair. The share ``audit`` of the judgments is of pairs
    that are drawn at random, to check the estimate.
    """

    asked_for = "grades"
    made_of = "runs of at least one system"

    groups: ClassVar[Mapping[str, tuple[str, str]]] = {
        "name": CampaignSettings.groups["name"],
        "scales": ("What do assessors answer?", ""),
        "goal": ("When is it enough?", ""),
        "asked": ("How many people?", ""),
    }

    scales: tuple[AskedScale, ...] = setting(
        (asked_scale("broad"), asked_scale("fine")),
        title="Scales",
        help="What assessors answer on: broad, fine, binary or an interval such as 0..4.",
        choices={
            "broad+fine": (
                "Broad and Fine together",
                "As MIREX asked: not, somewhat or very similar, and a slider from 0 to 100. Each checks the other, "
                "gently.",
            ),
            "broad": ("Broad", "Not similar, somewhat similar, very similar. Quick."),
            "fine": ("Fine", "A slider from 0 to 100. Tells systems apart with fewer answers."),
            "binary": ("Yes or no", "Similar or not. Quickest; needs the most answers."),
        },
        group="scales",
        option="--scale",
        metavar="SCALE",
        usual="broad and fine",
        min_length=1,
        max_length=4,
    )
    on_scale: str | None = setting(None, title="Scale that systems are ranked on", metavar="SCALE", usual="the finest")
    measure: str = setting(
        "CG@5",
        title="Measure",
        help="What systems are ranked by; its cutoff decides how much of each ranking is judged.",
        group="scales",
        option="-m --measure",
        metavar="MEASURE",
        examples=("CG@5", "nDCG@5", "AP@10", "RR@10", "ERR@5", "P(rel=1)@5"),
    )
    listen_seconds: float = setting(
        3.0,
        title="Seconds to listen",
        help="Of each clip before an answer counts; 0 asks for none.",
        unit="s",
        group="scales",
        ge=0,
        le=600,
    )
    goal: CampaignGoal = CampaignGoal()
    stop_when_reached: bool = setting(
        True,
        title="Give no more questions once the goal is reached",
        help="The campaign stays open until you close it.",
        group="goal",
    )
    by_sound: bool = setting(
        False,
        title="Let the estimate hear the clips",
        help="What sounds alike is about as relevant: fewer judgments are needed where that is so.",
        group="goal",
    )
    audit: float = setting(
        0.0,
        title="Pairs that an audit draws",
        help="At random, to check the estimate. A tenth is recommended; in simulations it cost hardly any answers.",
        unit="%",
        group="goal",
        ge=0,
        lt=1,
    )
    judged_by: int = setting(
        1,
        title="Assessors for a pair",
        help="With two or more, agreement between people can be measured.",
        group="asked",
        ge=1,
        le=50,
    )
    agreement_share: float = setting(
        1.0,
        title="Pairs that several judge",
        help="The other pairs are judged by one person. A fifth is enough to measure agreement.",
        unit="%",
        group="asked",
        gt=0,
        le=1,
    )
    second_opinions: bool = setting(
        False,
        title="Ask several only where that tells more",
        help="A pair is given to another assessor, up to that number, only where a second opinion tells more about the "
        "systems than a new pair does. The share of pairs that several judge is then up to the model.",
        group="asked",
    )
    estimator: str = setting("hierarchical", title="How relevance is estimated", metavar="NAME")
    rule: str | None = setting(
        None, title="How the next pair is chosen", metavar="NAME", usual="by the rule that serves the goal"
    )

    @field_validator("scales")
    @classmethod
    def _different(cls, scales: tuple[AskedScale, ...]) -> tuple[AskedScale, ...]:
        if len({scale.name for scale in scales}) < len(scales):
            raise ValueError("expected scales of different names")
        return scales

    @model_validator(mode="after")
    def _fits(self) -> JudgingSettings:
        if self.on_scale is not None and self.on_scale not in {scale.name for scale in self.scales}:
            raise ValueError(f"expected one of the campaign's scales to evaluate on, got {self.on_scale!r}")
        if self.estimator not in ESTIMATORS or self.rule not in (None, *RULES):
            raise ValueError(f"expected an estimator among {', '.join(ESTIMATORS)} and a rule among {', '.join(RULES)}")
        if self.second_opinions and self.judged_by < 2:
            raise ValueError("second opinions: expected at least 2 assessors for a pair, got 1")
        if self.second_opinions and (self.estimator != "hierarchical" or self.rule not in (None, *SECOND)):
            rules = ", ".join(SECOND)
            raise ValueError(f"second opinions: expected the estimator hierarchical and a rule among {rules}")
        estimable(self.measure)
        found = scoring(self.measure, self.evaluated.scale)
        if self.estimator == "known_item":  # assessors who find two relevant documents must not stop a campaign
            raise ValueError("known_item is no estimator for campaigns, whose assessors may find several documents")
        if self.estimator != "hierarchical":
            refuse_drawn(found)
        return self

    @property
    def evaluated(self) -> AskedScale:
        """The scale that systems are ranked on: the one named, else the finest."""
        named = [scale for scale in self.scales if scale.name == self.on_scale]
        return named[0] if named else max(self.scales, key=lambda scale: scale.n_levels)

    @property
    def cutoff(self) -> int:
        """How many documents of a ranking are candidates."""
        return estimable(self.measure)[1]

    def check_grades(self, grades: object) -> dict[str, float]:
        """One grade for each scale; refused where one is missing, unknown or off its scale."""
        names = [scale.name for scale in self.scales]
        if not isinstance(grades, dict) or set(grades) != set(names):
            came = ", ".join(map(str, grades)) if isinstance(grades, dict) else shown(grades)
            raise AdjudgeError(f"Expected a grade on each of {', '.join(names)}, got {came or 'none'}")
        return {scale.name: scale.check(grades[scale.name]) for scale in self.scales}


def settings_of(campaign: Campaign) -> JudgingSettings:
    """The settings of a judging campaign; refused for a campaign of another kind."""
    return campaign.settings_as(JudgingSettings)
