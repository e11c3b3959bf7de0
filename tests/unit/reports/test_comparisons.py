"""The table of adjudge compare: what stands in it, and what the lines around it say."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from adjudge.reporting.render import render
from adjudge.users.comparison import ComparisonTable
from adjudge.users.report import gather, make_report


def test_latex_says_which_version_and_command_made_it_and_how_to_read_it() -> None:
    eff = aj.evaluate(aj.demo(queries=10, depth=5), "CG@5")
    text = ComparisonTable((aj.compare(eff, test="t"),), (), "adjudge compare …").text("latex")
    version, command, how, noticeable, *_ = text.splitlines()
    assert (version, command) == (f"% Adjudge {aj.__version__}", "% adjudge compare …")
    assert how.startswith("% t test, holm correction, α = 0.05; 95 % intervals")
    assert noticeable.startswith("% Noticeable: more than half of the users")
    assert text.count(r" \\") == 1 + 66
    assert "not shown" not in text


def test_whoever_waits_for_a_report_hears_of_each_section() -> None:
    eff = aj.evaluate(aj.demo(queries=10, depth=5), "CG@5")
    heard: list[tuple[int, int]] = []
    make_report(gather(eff, test="t"), sections=["overview", "differences"], progress=lambda *step: heard.append(step))
    assert heard == [(1, 3), (2, 3)]


@pytest.mark.parametrize(
    ("means", "said"),
    [
        ((0.1, 0.1, 0.1), "None is noticeable: "),
        ((0.1, 0.4, 0.7), "1 is noticeable: "),
        ((0.1, 0.1, 0.7), "2 are noticeable: "),
    ],
)
def test_the_report_counts_noticeable_pairs_in_words(means: tuple[float, ...], said: str) -> None:
    values = np.random.default_rng(1).normal(means, 0.01, size=(10, 3))
    eff = aj.Effectiveness.from_matrix(values, measure="CG@5", systems=["a", "b", "c"])
    assert said in render(make_report(gather(eff, test="t", margin=0.5)), "markdown")
