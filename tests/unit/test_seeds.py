"""Seeds: numbers, generators and None are taken everywhere, and only the numbers fix the answer."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scripts.docs.reference_python import public_paths, value_of

import adjudge as aj
from adjudge.seeds import Seed
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


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_what_is_no_seed_is_refused(seed: object) -> None:
    with pytest.raises(aj.errors.ParameterError, match=r"'seed' must be a whole number of at least 0"):
        aj.demo(seed)  # type: ignore[arg-type]
