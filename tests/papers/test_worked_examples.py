"""Examples that the papers work by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from papers.claims import Claim
from papers.data import Data
from papers.studies import STUDIES, Effort


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> list[Claim]:
    """They need no data: an empty folder will do."""
    return list(STUDIES["examples"].run(Data(tmp_path_factory.mktemp("empty")), Effort()).claims)


def of(claims: list[Claim], source: str, word: str) -> Claim:
    return next(claim for claim in reversed(claims) if claim.source == source and claim.what.endswith(word))


def test_all_are_inside_their_bounds(claims: list[Claim]) -> None:
    assert [claim for claim in claims if claim.verdict == "fails"] == []


def test_only_the_slip_of_appendix_a_differs(claims: list[Claim]) -> None:
    differing = [claim for claim in claims if claim.verdict == "differs"]
    assert [(claim.source, claim.published) for claim in differing] == [("T A", "1.6577")]


@pytest.mark.parametrize(
    ("source", "word", "value"),
    [
        ("T 4.1.2", "by Table 4.3", 0.5116),
        ("T 4.1", "each with .7", 0.2061),
        ("T 4.1.3", "degrees of freedom", 1.9842),
        ("T A", "variance", 0.2552),
        ("T 5.6.2", "BSWH2 and BSWH1", 0.00011),
        ("T 5.6.2", "LR and BSWH1", 0.0726),  # printed .0721, from more digits of the difference than are printed
        ("L10 Table 1", "average dynamic recall", 0.753),
        ("L10 Table 2", "consistency of the list", 0.86),
        ("M12 5", "power analysis", 0.066955),
    ],
)
def test_numbers_of_the_reference_come_out(claims: list[Claim], source: str, word: str, value: float) -> None:
    assert of(claims, source, word).ours == pytest.approx(value, abs=2e-4 if source == "T A" else 5e-4)


def test_tables_1_and_2_of_ismir_2010_are_there_row_by_row(claims: list[Claim]) -> None:
    recalls = [claim for claim in claims if claim.source == "L10 Table 1"]
    assert [claim.published for claim in recalls[1:-1:2]] == ["1", ".5", "1", ".75", ".6", ".667"]
    assert [claim.published for claim in recalls[:-1:2]] == ["1", "1", "3", "3", "3", "4"]
    assert len([claim for claim in claims if claim.source == "L10 Table 2"]) == 6


def test_the_folder_is_not_looked_into(claims: list[Claim], tmp_path: Path) -> None:
    again = STUDIES["examples"].run(Data(tmp_path), Effort(quick=True, seed=5)).claims
    assert list(again) == claims
