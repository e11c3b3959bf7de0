"""Trust recomputed from the records of the study of 2012.

``workers.csv`` has one row for somebody in one batch: how many traps they saw and missed, and the trust that the
platform recorded. It has no answers: which they gave, how long they took and where the lists stood is not known, so
that of all there is here only the share of traps can be held against it.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from adjudge.preferences.trust import AnswerFacts, TrustRules, assess, trap_trust


@pytest.fixture(scope="module")
def workers(shared_data: Path) -> pl.DataFrame:
    return pl.read_csv(shared_data / "user-study-2012" / "workers.csv", null_values="NA", infer_schema_length=None)


def test_recorded_trust_is_the_share_of_traps_answered_right(workers: pl.DataFrame) -> None:
    asked = workers.filter(pl.col("golds_count") > 0)
    assert len(asked) == 717
    for missed, golds, recorded in asked.select("missed_count", "golds_count", "trust_overall").iter_rows():
        assert trap_trust(golds - missed, golds) == pytest.approx(recorded, abs=5.0e-5)  # recorded with four digits


def test_who_saw_no_trap_has_a_recorded_trust_of_one(workers: pl.DataFrame) -> None:
    unasked = workers.filter(pl.col("golds_count") == 0)
    assert len(unasked) == 1411 - 717
    assert set(unasked["trust_overall"]) == {trap_trust(0, 0)}


def test_our_rules_agree_with_the_platform_on_who_had_enough_traps(workers: pl.DataFrame) -> None:
    """Whoever had eight traps or more and a recorded trust below the bar would have been stopped, and nobody else."""
    rules = TrustRules(quiz=0, attention=0)
    enough = workers.filter(pl.col("golds_count") >= rules.least)
    assert len(enough) > 50
    for missed, golds, recorded in enough.select("missed_count", "golds_count", "trust_overall").iter_rows():
        answers = [AnswerFacts(True, i >= missed) for i in range(golds)]
        assert (assess(answers, rules).verdict == "failed traps") == (recorded < rules.bar)
