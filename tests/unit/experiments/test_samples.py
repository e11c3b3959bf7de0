from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.experiments.samples import Samples, samples_of


def effectiveness(values: Floats | None = None, measure: str = "AP") -> aj.Effectiveness:
    given = np.random.default_rng(0).random((6, 3)) if values is None else values
    return aj.Effectiveness.from_matrix(given, measure=measure)


def test_samples_come_back_from_a_table_value_by_value() -> None:
    eff = effectiveness()
    strata = {query: "ab"[i % 2] for i, query in enumerate(eff.queries)}
    first = samples_of({"one": eff, "two": effectiveness(measure="RR")}, strata=strata, scale="fine")
    again = Samples.from_polars(first.to_polars())
    assert again.digest == first.digest
    for sample, other in zip(first, again, strict=True):
        for name in ("name", "queries", "systems", "strata"):
            assert getattr(sample, name) == getattr(other, name)
        assert np.array_equal(sample.values, other.values)


def test_the_digest_knows_of_values_and_strata() -> None:
    eff = effectiveness()
    values = eff.values[:, :, 0].copy()
    values[2, 1] += 1e-12
    plain = samples_of(eff)
    strata = dict.fromkeys(eff.queries, "a")
    assert len({plain.digest, samples_of(effectiveness(values)).digest, samples_of(eff, strata=strata).digest}) == 3


def test_queries_with_a_gap_are_left_out_with_a_word() -> None:
    eff = effectiveness()
    values = eff.values.copy()
    values[4, 1, 0] = np.nan
    with pytest.warns(AdjudgeWarning, match="1 of 6 queries lack a value of some system and are left out"):
        found = samples_of(replace(eff, values=values))
    assert found.fewest_queries == 5
    assert found.notes == ("AP: 1 of 6 queries lack a value of some system and are left out.",)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.ones((3, 2)), "needs at least 4 queries that all systems have, got 3"),
        (np.ones((5, 1)), "needs at least 2 systems, got 1"),
        (np.eye(6, 3) * -1e300, r"AP: expected effectiveness of at most 1e\+70, .* got 1e\+300"),
    ],
)
def test_effectiveness_that_cannot_be_drawn_from_is_refused(values: Floats, words: str) -> None:
    with pytest.raises(AdjudgeError, match=words):
        samples_of(effectiveness(values))


def test_what_is_no_effectiveness_comes_twice_or_lacks_strata_is_refused() -> None:
    eff = effectiveness()
    with pytest.raises(AdjudgeError, match=r"a stratum for every query.*got none for .* and 5 more"):
        samples_of(eff, strata={})
    with pytest.raises(AdjudgeError, match=r"each measure, scale and collection once.*got 'AP' twice"):
        samples_of([eff, eff])
    for wrong in ([], None, "matrix.csv", ["a.csv"], {"2011": "a.csv"}):
        with pytest.raises(AdjudgeError, match=r"expected effectiveness, as aj\.evaluate makes .* got "):
            samples_of(wrong)  # type: ignore[arg-type]
