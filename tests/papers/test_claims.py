"""Claims: how a printed number is read, what counts as the same, and what must have a reason."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from papers.claims import (
    CAUSES,
    DIFFERING,
    Bound,
    Claim,
    Reason,
    between,
    by_chance,
    independent,
    near,
    normalised,
    printed_value,
    rounded_like,
)

CHANCE, OTHER = Reason("draws", "chance"), Reason("data", "other data")
WIDE = between(-1e9, 1e9, "anything goes")


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
    assert Claim.printed("T 1", "x", text, value).verdict == "exact"


@given(printed_numbers(), st.floats(-0.49, 0.49))
def test_what_rounds_to_the_printed_digits_is_exact(printed: tuple[str, float, float], part: float) -> None:
    text, value, unit = printed
    ours = value + part * unit
    if math.copysign(1, ours) == math.copysign(1, value) or value != 0:
        assert Claim.printed("T 1", "x", text, ours).verdict == "exact"


@given(printed_numbers(), st.floats(0.51, 1e6), st.booleans())
def test_what_does_not_is_not(printed: tuple[str, float, float], part: float, below: bool) -> None:
    text, value, unit = printed
    ours = value - part * unit if below else value + part * unit
    assert Claim.printed("T 1", "x", text, ours).verdict == "fails"
    assert Claim("T 1", "x", text, ours, WIDE, OTHER).verdict == "differs"


@given(printed_numbers(), st.floats(0.51, 100.0))
def test_a_tolerance_reaches_as_far_as_it_says(printed: tuple[str, float, float], part: float) -> None:
    text, value, unit = printed
    ours = value + part * unit
    assert (
        Claim.around("T 1", "x", text, ours, 1.01 * part * unit, basis="chance", why=CHANCE).verdict
        == "within tolerance"
    )
    assert Claim.around("T 1", "x", text, ours, 0.99 * part * unit, basis="chance", why=CHANCE).verdict == "fails"
    assert Claim("T 1", "x", text, ours, WIDE, CHANCE, 0.99 * part * unit).verdict == "differs"


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
        Claim("T 1", "x", text, 1.0, WIDE, OTHER)


@pytest.mark.parametrize(("tolerance", "why"), [(-0.1, CHANCE), (0.1, None)])
def test_a_tolerance_is_positive_and_has_a_reason(tolerance: float, why: Reason | None) -> None:
    with pytest.raises(ValueError, match="a tolerance is positive and has a reason"):
        Claim("T 1", "x", ".5", 0.5, independent(".5"), why, tolerance)


@pytest.mark.parametrize("ends", [(0.6, 0.4), (math.nan, 1.0), (0.0, math.inf)])
def test_a_bound_has_two_ends_and_says_where_it_comes_from(ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="expected a finite bound"):
        between(*ends, "somewhere")
    with pytest.raises(ValueError, match="says where it comes from"):
        between(0.4, 0.6, "")


def test_a_number_outside_its_bound_fails_whatever_the_reason() -> None:
    bound = between(0.8, 0.9, "others")
    assert Claim("T 1", "x", ".5", 0.85, bound, OTHER).verdict == "differs"
    outside = Claim("T 1", "x", ".5", 0.95, bound, OTHER)
    assert outside.verdict == "fails"
    assert outside.reason is None
    assert Claim("T 1", "x", ".5", 0.5, bound, OTHER).verdict == "fails"  # as printed, yet not what the data give


def test_a_bound_that_reaches_beyond_the_printed_number_needs_a_reason() -> None:
    for bound in (between(0.4, 0.6, "others"), independent(".61")):
        with pytest.raises(ValueError, match="a bound that reaches beyond the printed number has a reason"):
            Claim("T 1", "x", ".5", 0.5, bound)
    assert Claim("M12 5", "t", ".067", 0.0669553, independent(".066955")).verdict == "exact"
    assert Claim("M12 5", "t", ".067", 0.0669, independent(".066955")).verdict == "fails"


def test_what_was_picked_for_being_nearest_is_found_by_search_and_not_exact() -> None:
    claim = Claim("T 4.1", "x", ".6095", 0.60951, independent(".6095"), searched="the nearest of 1,800")
    assert claim.verdict == "found by search"
    assert Claim("T 4.1", "x", ".6095", 0.6097, independent(".6095"), searched="the nearest of 9").verdict == "fails"


def test_only_a_number_that_is_not_exact_has_a_reason() -> None:
    assert Claim("T 1", "x", ".5", 0.5, WIDE, CHANCE).reason is None
    assert Claim.around("T 1", "x", ".5", 0.6, 0.2, basis="chance", why=CHANCE).reason == CHANCE


def test_every_cause_is_put_in_words() -> None:
    assert list(CAUSES) == list(DIFFERING)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_fails(value: float) -> None:
    claim = Claim("T 1", "x", ".5", value, WIDE, CHANCE, 1.0)
    assert claim.verdict == "fails"
    assert claim.shown == str(value)


def test_bounds_of_chance_are_three_standard_errors_of_both_computations() -> None:
    """sd 2 over 100 trials there and 100 here: 3 x 2 x sqrt(2 / 100)."""
    bound = by_chance(10.0, 2.0, 100, of=100)
    assert (bound.low, bound.high) == pytest.approx((10 - 0.6 * math.sqrt(2), 10 + 0.6 * math.sqrt(2)))
    assert by_chance(10.0, 0.0, 100, of=100, least=0.5).high == pytest.approx(10.5)
    assert by_chance(10.0, 2.0, 4, of=100).width > bound.width


@pytest.mark.parametrize(
    ("bound", "shown"),
    [
        (independent(".9304"), ".9304"),
        (between(160, 284, "orders"), "160 to 284"),
        (between(5, 5, "all"), "5"),
        (near(".5", 0.05, "reading", "a plot"), "0.45 to 0.55"),
    ],
)
def test_a_bound_is_written_as_a_number_or_as_both_ends(bound: Bound, shown: str) -> None:
    assert str(bound) == shown
