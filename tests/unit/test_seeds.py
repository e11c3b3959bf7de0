"""Seeds: numbers, generators and None are taken everywhere, and only the numbers fix the answer."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from scripts.docs.reference_python import public_paths, value_of

import adjudge as aj
from adjudge.errors import ParameterError
from adjudge.seeds import Seed, as_seed
from adjudge.users import Comparison


def test_every_public_function_takes_any_seed() -> None:
    functions = {path: value for path in public_paths() if inspect.isroutine(value := value_of(path))}
    seeds = {path: inspect.signature(value).parameters.get("seed") for path, value in functions.items()}
    assert [path for path, seed in seeds.items() if seed is not None and seed.annotation != "Seed"] == []


def test_a_generator_gives_a_number_and_the_result_keeps_it() -> None:
    eff = aj.evaluate(aj.demo(), "CG@5")

    def compared(seed: Seed) -> Comparison:
        return aj.compare(eff, test="permutation", correction="none", resamples=1000, seed=seed)

    first, again = (compared(np.random.default_rng(1)) for _ in range(2))
    assert first.seed is not None
    assert first.to_dicts() == again.to_dicts() == compared(first.seed).to_dicts()
    generator = np.random.default_rng(1)
    assert len({compared(seed).seed for seed in (generator, generator, None)}) == 3


def test_a_specification_keeps_the_number_that_a_generator_gave() -> None:
    drawn = [aj.experiments.Power(seed=np.random.default_rng(1)) for _ in range(2)]
    assert drawn[0] == drawn[1] == aj.experiments.Power(seed=as_seed(np.random.default_rng(1)))
    assert aj.experiments.Power(seed=None) != aj.experiments.Power(seed=None)


@pytest.mark.parametrize("seed", [np.random.RandomState(1), np.random.SeedSequence(1), np.random.PCG64(1)])
def test_other_sources_of_randomness_are_refused_in_one_line(seed: Any) -> None:
    took = rf"'seed' must be a whole number of at least 0, a NumPy generator or None, got {type(seed).__name__}.*"
    eff = aj.Effectiveness.from_matrix([[0.1, 0.2], [0.3, 0.5]])
    for call in (lambda: aj.summarize(eff, seed=seed), lambda: aj.experiments.Power(seed=seed), lambda: as_seed(seed)):
        with pytest.raises(ParameterError) as refused:
            call()
        assert re.fullmatch(f"(power: )?{took}", str(refused.value))
