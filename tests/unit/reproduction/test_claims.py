"""Claims: how a printed number is read, what counts as the same, and what must have a reason."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.reproduction.claims import CAUSES, DIFFERING, Claim, Reason, normalised, printed_value, rounded_like

CHANCE = Reason("draws", "chance")


@st.composite
def printed_numbers(draw: st.DrawFn) -> tuple[str, float, float]:
    """A number as papers print it, its value, and the worth of one in its last digit."""
    digits, whole = draw(st.integers(0, 6)), draw(st.integers(0, 99_999))
    fraction = draw(st.integers(0, 10**digits - 1)) if digits else 0
    negative, percent = draw(st.booleans()) and (whole or fraction), draw(st.booleans())
    text = f"{whole:,}" if whole or not digits else draw(st.sampled_from(["", "0"]))
    text += f".{fraction:0{digits}d}" if digits else ""
    unit = 10.0**-digits / (100 if percent else 1)
    value = (whole * 10**digits + fraction) * unit
    sign = draw(st.sampled_from(["-", "−"])) if negative else ""
    end = draw(st.sampled_from([" %", "%"])) if percent else ""
    return f"{sign}{text}{end}", -value if negative else value, unit


@given(printed_numbers())
def test_a_printed_number_is_read_and_agrees_with_its_own_value(printed: tuple[str, float, float]) -> None:
    text, value, _ = printed
    assert printed_value(text) == pytest.approx(value, rel=1e-12, abs=1e-15)
    assert Claim("T 1", "x", text, value).verdict == "exact"


@given(printed_numbers(), st.floats(-0.49, 0.49))
def test_what_rounds_to_the_printed_digits_is_exact(printed: tuple[str, float, float], part: float) -> None:
    text, value, unit = printed
    near = value + part * unit
    if math.copysign(1, near) == math.copysign(1, value) or value != 0:
        assert Claim("T 1", "x", text, near).verdict == "exact"


@given(printed_numbers(), st.floats(0.51, 1e6), st.booleans())
def test_what_does_not_is_not(printed: tuple[str, float, float], part: float, below: bool) -> None:
    text, value, unit = printed
    claim = Claim("T 1", "x", text, value - part * unit if below else value + part * unit)
    assert claim.verdict == "differs"
    assert not claim.is_explained


@given(printed_numbers(), st.floats(0.51, 100.0))
def test_a_tolerance_reaches_as_far_as_it_says(printed: tuple[str, float, float], part: float) -> None:
    text, value, unit = printed
    ours = value + part * unit
    assert Claim("T 1", "x", text, ours, 1.01 * part * unit, CHANCE).verdict == "within tolerance"
    assert Claim("T 1", "x", text, ours, 0.99 * part * unit, CHANCE).verdict == "differs"


@pytest.mark.parametrize(
    ("value", "printed", "shown"),
    [
        (0.98384, ".9838", ".9838"),
        (0.98384, "0.98", ".98"),
        (0.0617, "6.2 %", "6.2 %"),
        (0.0617, "6%", "6 %"),
        (1316.4, "1,316", "1,316"),
        (1316.4, "1316", "1,316"),
        (-0.5, "−.500", "-.500"),
        (96.0, "96", "96"),
    ],
)
def test_ours_is_shown_as_the_published_number_is(value: float, printed: str, shown: str) -> None:
    assert rounded_like(value, printed) == shown
    assert normalised(shown) == shown


@pytest.mark.parametrize("text", ["", "  ", "about 5", "1.2.3", "%", ".", "1e-6", "2/3", "± .05"])
def test_what_is_no_printed_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a number as papers print them"):
        Claim("T 1", "x", text, 1.0)


@pytest.mark.parametrize(("tolerance", "why"), [(-0.1, CHANCE), (0.1, None)])
def test_a_tolerance_is_positive_and_has_a_reason(tolerance: float, why: Reason | None) -> None:
    with pytest.raises(ValueError, match="a tolerance is positive and has a reason"):
        Claim("T 1", "x", ".5", 0.5, tolerance, why)


def test_a_difference_with_a_reason_is_explained() -> None:
    assert Claim("T 1", "x", ".5", 0.7, why=Reason("data", "other data")).is_explained
    assert not Claim("T 1", "x", ".5", 0.7).is_explained


def test_only_a_number_that_is_not_exact_has_a_reason() -> None:
    assert Claim("T 1", "x", ".5", 0.5, why=CHANCE).reason is None
    assert Claim("T 1", "x", ".5", 0.6, 0.2, CHANCE).reason == CHANCE
    assert Claim("T 1", "x", ".5", 0.9).reason is None


def test_every_cause_is_put_in_words() -> None:
    assert list(CAUSES) == list(DIFFERING)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_differs(value: float) -> None:
    claim = Claim("T 1", "x", ".5", value, 1.0, CHANCE)
    assert claim.verdict == "differs"
    assert claim.shown == str(value)


def test_an_independent_number_is_compared_by_its_own_digits() -> None:
    assert Claim("M12 5", "t", ".067", 0.0669553, independent=".066955").agrees_with_independent is True
    assert Claim("M12 5", "t", ".067", 0.0669, independent=".066955").agrees_with_independent is False
    assert Claim("M12 5", "t", ".067", 0.0669).agrees_with_independent is None
