"""Sentences: shares never nothing or everything where they are not, as many digits throughout an interval."""

from __future__ import annotations

import pytest

from adjudge.text import share, share_with


@pytest.mark.parametrize("value", [1e-7, 0.0002, 0.004, 0.00999, 0.0101, 0.5, 0.98999, 0.9951, 0.9998, 1 - 1e-7])
@pytest.mark.parametrize("digits", [0, 1])
def test_what_is_neither_nothing_nor_everything_reads_as_neither(value: float, digits: int) -> None:
    number = float(share(value, digits).removesuffix(" %"))
    assert 0 < number < 100
    assert min(number, 100 - number) == pytest.approx(min(100 * value, 100 - 100 * value), rel=0.06 if digits else 0.6)


def test_rounding_beside_the_ends_is_not_shown() -> None:
    assert share(1e-17) == "0.0 %"
    assert share(1 - 1e-16) == "100.0 %"
    assert share_with(0.0, 1e-19, 0.31) == "0.0 % [0.0, 31.0]"


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((0.0093, 0.0084, 0.01), "0.93 % [0.84, 1.00]"),
        ((0.0, 0.0, 0.00012), "0.000 % [0.000, 0.012]"),
        ((1.0, 0.9951, 1.0), "100.00 % [99.51, 100.00]"),
        ((0.25, 0.0002, 0.75), "25.00 % [0.02, 75.00]"),
        ((0.25, 0.0000002, 0.75), "25.000 % [0.000, 75.000]"),
        ((float("nan"), float("nan"), float("nan")), "–"),
    ],
)
def test_an_interval_has_as_many_digits_throughout(ends: tuple[float, float, float], words: str) -> None:
    assert share_with(*ends) == words
