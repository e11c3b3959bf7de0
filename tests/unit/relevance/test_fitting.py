from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, InputError
from adjudge.model.scales import BINARY, BROAD, FINE, Scale
from adjudge.relevance import models as fitting
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.features import cut_levels
from adjudge.relevance.models import PUBLISHED_SCALES, FittedModel, Ordinal, fit_estimator, published_model

MODEL = {"features": ["fSYS"], "effects": [3.5], "intercepts": [1, -1], "levels": [0, 0.5, 1]}


@pytest.fixture(scope="module")
def demo() -> Candidates:
    return candidates(aj.demo(depth=5), cutoff=5)


@pytest.mark.parametrize(
    ("scale", "wanted", "worth"),
    [
        (BINARY, None, [0, 1]),
        (BROAD, None, [0, 0.5, 1]),
        (Scale("graded", 4.0, -2.0, levels=7), None, [0, 0.25, 0.5, 0.75, 1]),
        (FINE, None, [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]),
        (FINE, 4, [0.125, 0.375, 0.625, 0.875]),
        (Scale("share", 1.0), 2, [0.25, 0.75]),
    ],
)
def test_levels_are_those_of_the_scale_or_equal_parts_of_it(
    scale: Scale, wanted: int | None, worth: Sequence[float]
) -> None:
    bounds, found = cut_levels(scale, wanted)
    assert found == pytest.approx(worth)
    assert np.searchsorted(bounds, worth, side="right").tolist() == list(range(len(worth)))
    assert np.searchsorted(bounds, [0.0, 1.0], side="right").tolist() == [0, len(worth) - 1]


def test_what_is_fitted_never_has_its_own_judgment_among_its_features(
    demo: Candidates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where collections differ in one judgment, that pair's response differs, never its features."""
    seen: list[tuple[Floats, Ints]] = []

    def caught(x: Floats, level: Ints, n_levels: int, *, ridge: float) -> Ordinal:
        seen.append((x, level))
        return Ordinal(-np.arange(float(n_levels - 1)), np.zeros(x.shape[1]))

    monkeypatch.setattr(fitting, "fit_ordinal", caught)
    pair = int(np.flatnonzero(demo.relevance == 0)[0])
    changed = demo.relevance.copy()
    changed[pair] = 1.0
    for relevance in (demo.relevance, changed):
        fit_estimator([_with(demo, relevance)], features=["aDOC"], shares=[0.5], draws=1, seed=3)
    (x, level), (new_x, new_level) = seen
    moved = np.flatnonzero(level != new_level)
    assert len(moved) <= 1
    np.testing.assert_array_equal(x[moved], new_x[moved])


def _with(some: Candidates, relevance: Floats) -> Candidates:
    return dataclasses.replace(some, relevance=relevance)


def test_the_same_seed_gives_the_same_model(demo: Candidates) -> None:
    models = [fit_estimator([demo], features=["fSYS", "aDOC"], seed=seed) for seed in (1, 1, 2)]
    assert models[0].to_dict() == models[1].to_dict() != models[2].to_dict()


def test_several_collections_are_fitted_together(demo: Candidates) -> None:
    one, two = (fit_estimator([demo] * n, features=["fSYS"], ridge=0.0) for n in (1, 2))
    assert two.n_documents == 2 * one.n_documents == 2 * int(demo.judged.sum())
    np.testing.assert_allclose(one.ordinal.effects, two.ordinal.effects, atol=1e-6)


def test_a_model_comes_back_from_its_file(demo: Candidates, tmp_path: Path) -> None:
    model = fit_estimator([demo], features=["fSYS", "fTEAM"])
    model.save(tmp_path / "model.json")
    again = FittedModel.load(tmp_path / "model.json")
    assert again.to_dict() == model.to_dict()
    assert str(again) == str(model)


@pytest.mark.parametrize("scale", PUBLISHED_SCALES)
@pytest.mark.parametrize("kind", ["output", "judgments"])
def test_published_models_can_be_written_as_plain_values(scale: str, kind: Any) -> None:
    model = published_model(scale, kind)
    again = FittedModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.to_dict() == model.to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "Expected a model with features, effects"),
        ({"features": "fSYS"}, "'features' must be a list of names"),
        ({"effects": ["x"]}, "'effects' must be a list of numbers"),
        ({"effects": [1, 2]}, "Expected an effect of each feature"),
        ({"intercepts": [-1, 1]}, "intercepts that fall"),
        ({"intercepts": []}, "one or more"),
        ({"levels": [0, 1]}, "Expected 3 levels, got 2"),
        ({"levels": [0, 2, 1]}, "levels that rise between 0 and 1"),
        ({"n_documents": "many"}, "'n_documents' a number"),
    ],
)
def test_what_is_no_model_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        FittedModel.from_dict({**MODEL, **change})


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b"3", b"\xff\xfe\x00"])
def test_files_that_hold_no_model_are_refused_by_name(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(text)
    with pytest.raises(InputError, match=r"model\.json"):
        FittedModel.load(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json"):
        FittedModel.load(tmp_path / "none.json")


def test_what_cannot_be_fitted_is_refused(demo: Candidates, make_collection: Callable[..., aj.Collection]) -> None:
    with pytest.raises(AdjudgeError, match="one judged collection or more"):
        fit_estimator([])
    with pytest.raises(AdjudgeError, match="got one without judgments"):
        fit_estimator([_with(demo, np.full(len(demo), np.nan))])
    with pytest.raises(AdjudgeError, match="collections with one scale"):
        fit_estimator([demo, candidates(make_collection(1, scale="0..9"), cutoff=5)])
    with pytest.raises(AdjudgeError, match="'levels' must be a whole number of at least 2, got 1"):
        fit_estimator([demo], features=["fSYS"], levels=1)
    with pytest.raises(AdjudgeError, match=r"'shares' must be in \(0, 1\), got 1"):
        fit_estimator([demo], features=["aDOC"], shares=[1.0])
    with pytest.raises(AdjudgeError, match="No feature is called 'fSIS'"):
        fit_estimator([demo], features=["fSIS"])
    blank = candidates(make_collection(1, scale="0..3"), cutoff=5)
    with pytest.raises(AdjudgeError, match="No judged document has all features: fSYS, sGEN"):
        fit_estimator([blank], features=["fSYS", "sGEN"])
