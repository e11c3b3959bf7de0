"""Simulated experts rank a copy of a campaign through a real server, and what they make is held against the truth."""

from __future__ import annotations

import pytest

from adjudge.errors import AdjudgeError
from adjudge.reporting.document import TableBlock
from adjudge.web.kinds.ranking.rehearse import ranking_forecast_section, rehearse_rankings
from adjudge.web.kinds.ranking.settings import RankingSettings
from adjudge.web.rehearse import Behaviour, Plan


def test_sure_experts_recover_the_true_lists_and_careless_ones_are_counted() -> None:
    candidates = {"q": [f"q{n}" for n in range(5)], "r": [f"r{n}" for n in range(5)]}
    settings = RankingSettings.parse({"title": "Rehearsed", "judged_by": 5, "rank_all": True, "listen_seconds": 3})
    plan = Plan(assessors=5, behaviour=Behaviour(noise=0.01), repeats=1, seed=1)
    (trial,) = rehearse_rankings(candidates, settings, plan)
    assert (trial.rankings, trial.wanted, trial.experts) == (10, 10, 5)
    assert (trial.recovered, trial.consistency, trial.groups) == (1.0, 1.0, 5.0)
    assert (trial.careless, trial.wronged) == (0, 0)
    assert 0.1 < trial.person_hours < 2
    table = ranking_forecast_section([trial]).blocks[1]
    assert isinstance(table, TableBlock)
    assert table.rows[0] == ("rankings", "10  (10 to 10) of 10 wanted")


def test_a_campaign_without_candidates_cannot_be_rehearsed() -> None:
    with pytest.raises(AdjudgeError, match="no candidates yet"):
        rehearse_rankings({}, RankingSettings.parse({"title": "Empty"}), Plan())
