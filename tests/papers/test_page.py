"""The page on the papers' tables: what it says came out is what comes out, as far as that is cheap to see."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from papers.claims import CAUSES
from papers.run import IMPOSSIBLE, VERDICTS
from papers.studies import PAPERS, Found

from papers import STUDIES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "reproduction.md").read_text()
CHEAP = [name for name, study in STUDIES.items() if study.weight <= 2]


def rows(heading: str) -> list[list[str]]:
    """Cells of the rows of the table that begins with these columns."""
    lines = PAGE[PAGE.index(f"| {heading}") :].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def summary() -> dict[str, tuple[str, list[int]]]:
    return {name: (about, list(map(int, counts))) for name, *counts, about in rows("study | numbers")}


def test_every_study_has_its_row_and_rows_add_up() -> None:
    assert {name: about for name, (about, _) in summary().items()} == {
        name: study.title for name, study in STUDIES.items()
    }
    assert all(numbers == sum(verdicts) for _, (numbers, *verdicts) in summary().values())


def test_the_first_sentence_and_the_causes_are_those_of_the_rows() -> None:
    numbers, *verdicts = (sum(column) for column in zip(*(counts for _, counts in summary().values()), strict=True))
    said = re.search(
        r"(\d+) published numbers, and (\d+) of another implementation: "
        r"(\d+) exact, (\d+) found by search, (\d+) within tolerance, (\d+) differ",
        PAGE,
    )
    assert said is not None
    published, others, *counts = map(int, said.groups())
    assert (published + others, counts) == (numbers, verdicts)
    causes = rows("cause | within tolerance")
    assert {cause: about for cause, _, _, about in causes} == CAUSES
    assert [sum(int(row[place]) for row in causes) for place in (1, 2)] == verdicts[2:4]


def test_what_cannot_be_reproduced_is_told_with_its_reason() -> None:
    assert {why for _, why in rows("tables and figures | why not")} == {f"{why}." for why in IMPOSSIBLE.values()}
    assert [key for key, _ in rows("key | paper")] == list(PAPERS)


@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_study_gives_what_the_page_says(find: Callable[[str], Found], name: str) -> None:
    verdicts = [claim.verdict for claim in find(name).claims]
    assert [len(verdicts), *map(verdicts.count, VERDICTS)] == [*summary()[name][1], 0]  # nothing fails
