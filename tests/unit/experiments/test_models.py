"""Models of samples are fitted once, and no more of them kept than a few."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.experiments.samples import samples_of
from adjudge.experiments.simulate import collection
from adjudge.experiments.simulate.collection import fit_collection
from adjudge.model.effectiveness import Effectiveness


def test_a_model_is_that_of_its_sample_and_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "_KEPT", {})
    values = np.random.default_rng(0).random((8, 3))
    samples = samples_of(Effectiveness.from_matrix(values, measure="AP"))
    (model,) = collection.models_of(samples, "kernel", "independent")
    assert model.systems == samples.systems
    alone = fit_collection(values, systems=samples.systems, margin="kernel", dependence="independent")
    assert model.means.tolist() == alone.means.tolist()
    assert collection.models_of(samples, "kernel", "independent")[0] is model


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "_KEPT", {})
    made: list[int] = []

    def make(i: int) -> tuple[()]:
        made.append(i)
        return ()

    for i in (0, 1, 2, 3, 4, 4, 0):
        collection.kept((str(i),), lambda i=i: make(i))  # type: ignore[misc]
    assert made == [0, 1, 2, 3, 4, 0]
