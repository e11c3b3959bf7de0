"""What results show of themselves: a line in a notebook, frames for pandas."""

from __future__ import annotations

import pytest

import adjudge as aj


@pytest.fixture(scope="module")
def eff() -> aj.Effectiveness:
    return aj.evaluate(aj.demo(queries=5, depth=5), "CG@5")


def test_a_notebook_shows_a_line_not_every_number(eff: aj.Effectiveness) -> None:
    study = aj.gstudy(eff)
    assert [
        repr(one) for one in (eff, aj.summarize(eff), aj.satisfaction(eff), study, study.dstudy(queries=[5, 50]))
    ] == [
        "<Effectiveness: 5 queries x 12 systems x 1 measure (CG@5)>",
        "<Summary: 12 systems (CG@5)>",
        "<Satisfaction: 5 queries x 12 systems (CG@5 on fine)>",
        "<GStudy: CG@5, 12 systems x 5 queries, ANOVA>",
        "<DStudy: CG@5, queries: 5, 50>",
    ]
    assert repr(aj.compare(eff, test="t")) == "<Comparison: CG@5, 66 pairs, t test>"
    two = eff.select(systems=["KLN2", "ZX1"])
    assert repr(aj.compare(two, test="t")) == "<Comparison: CG@5, 1 pair, t test>"


def test_summaries_comparisons_and_satisfaction_are_pandas_frames_when_asked(eff: aj.Effectiveness) -> None:
    for one, rows in ((aj.summarize(eff), 12), (aj.compare(eff, test="t"), 66), (aj.satisfaction(eff), 12)):
        frame = one.to_pandas()
        assert frame.shape[0] == rows
        assert frame.to_dict("list").keys() == one.to_dicts()[0].keys()
        assert "system" in frame.columns
