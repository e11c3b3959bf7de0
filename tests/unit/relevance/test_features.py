from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.features import FEATURES, Evidence

NAN = np.nan
RUNS = {
    "a1": {"q1": ["x", "y"], "q2": ["u", "v"]},
    "a2": {"q1": ["y", "x"], "q2": ["v", "w"]},
    "b": {"q1": ["x", "z"], "q2": ["u"]},
}
JUDGMENTS = {"q1": {"x": 2, "y": 1, "j": 0}, "q2": {"v": 2}}
METADATA = pl.DataFrame(
    {
        "document": ["q1", "q2", "j", "x", "y", "z", "v", "w"],
        "artist": ["Q", "Q", "R", "P", "P", "R", "S", "S"],
        "genre": ["rock", "jazz", "rock", "rock", "jazz", "rock", "jazz", "jazz"],
    }
)
PLACES = {"q1": 0, "j": 8, "x": 1, "y": 3, "z": 1.5, "v": 4, "w": 5}  # similarity is 1 - distance / 10


class Alike:
    """Similarity of documents with a place on a line."""

    digest = "places"

    def among(self, documents: Sequence[str]) -> Floats:
        at = np.array([PLACES.get(document, NAN) for document in documents])
        return np.asarray(1 - np.abs(at[:, None] - at) / 10)


# Worked by hand; pairs are q1: j (judged, retrieved by nobody), x, y, z; q2: u (no metadata), v, w
BY_HAND = {
    "fSYS": [0, 1, 2 / 3, 1 / 3, 2 / 3, 2 / 3, 1 / 3],
    "fTEAM": [0, 1, 1 / 2, 1 / 2, 1, 1 / 2, 1 / 2],
    "OV": [1 / 2] * 7,
    "aRANK": [NAN, 4 / 3, 3 / 2, 2, 1, 3 / 2, 2],
    "sGEN": [1, 1, 0, 1, NAN, 1, 1],
    "fGEN": [2 / 3, 2 / 3, 1 / 3, 2 / 3, NAN, 1, 1],
    "fART": [1 / 3, 2 / 3, 2 / 3, 1 / 3, NAN, 1, 1],
    "aSYS": [NAN, 3 / 4, 1, 1, 11 / 12, 3 / 4, 5 / 6],
    "aDOC": [3 / 4, 1 / 4, 1 / 2, 1 / 2, 1, NAN, 1],
    "aGEN": [1, 0, NAN, 1 / 2, NAN, NAN, 1],
    "aART": [NAN, 1 / 2, 1, 0, NAN, NAN, 1],
    "sSIM": [0.2, 0.9, 0.7, 0.85, NAN, NAN, NAN],
    "aSIM": [1 / 2, 1 / 2, 1, 1, NAN, NAN, 1],
}
WITH_OWN = {
    "aSYS": [NAN, 8 / 9, 5 / 6, 1, 11 / 12, 5 / 6, 5 / 6],
    "aDOC": BY_HAND["aDOC"],
    "aGEN": [1 / 2, 1 / 2, 1 / 2, 1 / 2, NAN, 1, 1],
    "aART": [0, 3 / 4, 3 / 4, 0, NAN, 1, 1],
    "aSIM": [0, 1, 1 / 2, 1, NAN, 1, 1],
}


@pytest.fixture(scope="module")
def tiny() -> Candidates:
    collection = aj.read(RUNS, JUDGMENTS, METADATA, scale="broad", teams={"a1": "A", "a2": "A", "b": "B"})
    return candidates(collection, cutoff=2, similarity=Alike())


@pytest.mark.parametrize("name", FEATURES)
def test_features_are_those_worked_by_hand(tiny: Candidates, name: str) -> None:
    assert tiny.document == ("j", "x", "y", "z", "u", "v", "w")
    np.testing.assert_allclose(Evidence(tiny).column(name), BY_HAND[name], rtol=1e-14)


@pytest.mark.parametrize("name", WITH_OWN)
def test_a_pair_counts_in_its_own_features_only_when_asked(tiny: Candidates, name: str) -> None:
    np.testing.assert_allclose(Evidence(tiny).column(name, own=True), WITH_OWN[name], rtol=1e-14)


def test_without_judgments_only_features_of_outputs_are_defined(tiny: Candidates) -> None:
    nothing = np.full(len(tiny), NAN)
    for name, known in FEATURES.items():
        undefined = np.isnan(Evidence(tiny).column(name, nothing)).all()
        assert undefined == known.judged


def test_without_metadata_nothing_is_said_of_genres_and_artists_and_every_system_is_a_team() -> None:
    evidence = Evidence(candidates(aj.read(RUNS, JUDGMENTS, scale="broad"), cutoff=2))
    assert np.isnan(evidence.table(["sGEN", "fGEN", "fART", "aGEN", "aART"])).all()
    assert np.isfinite(evidence.table(["fSYS", "OV"])).all()
    np.testing.assert_array_equal(evidence.column("fTEAM"), evidence.column("fSYS"))


def test_a_judgment_changes_the_features_of_others_but_not_its_own(tiny: Candidates) -> None:
    evidence, names = Evidence(tiny), ["aSYS", "aDOC", "aGEN", "aART"]
    for pair in np.flatnonzero(tiny.judged):
        other = tiny.relevance.copy()
        other[pair] = 1 - other[pair] / 2
        before, after = evidence.table(names), evidence.table(names, other)
        np.testing.assert_array_equal(before[pair], after[pair])
        assert not np.array_equal(before, after, equal_nan=True)


def test_opinions_are_features_by_their_own_names(tiny: Candidates) -> None:
    opinion = np.linspace(0, 1, len(tiny))
    evidence = Evidence(dataclasses.replace(tiny, opinions={"llm": opinion}))
    np.testing.assert_array_equal(evidence.column("llm"), opinion)
    np.testing.assert_array_equal(evidence.column("llm:fSYS"), opinion * evidence.column("fSYS"))


@pytest.mark.parametrize("name", ["fSYS", "a:b"])
def test_opinions_with_the_name_of_something_else_are_refused(tiny: Candidates, name: str) -> None:
    with pytest.raises(AdjudgeError, match=f"The opinion '{name}' needs another name"):
        Evidence(dataclasses.replace(tiny, opinions={name: np.zeros(len(tiny))}))


def test_an_unknown_feature_is_refused_with_the_nearest(tiny: Candidates) -> None:
    with pytest.raises(AdjudgeError, match=r"'fSIS'.*'fSYS'"):
        Evidence(tiny).column("fSIS")


def test_the_table_of_no_features_has_no_columns(tiny: Candidates) -> None:
    assert Evidence(tiny).table([]).shape == (7, 0)
