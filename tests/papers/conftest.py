"""What tests of several studies share: the public data, and what each study finds on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from papers.data import Data
from papers.distributions import fitted
from papers.studies import Effort, Found

from adjudge.experiments import goodness
from papers import STUDIES


@pytest.fixture(scope="session")
def data(shared_data: Path) -> Data:
    return Data(shared_data)


@pytest.fixture(scope="session")
def find(data: Data) -> Callable[[str], Found]:
    """Runs a study with all of its trials, once per process of tests."""
    return cache(lambda name: STUDIES[name].run(data, Effort(workers=1)))


@pytest.fixture(scope="session")
def fits(data: Data) -> Found:
    """Distributions of effectiveness with a tenth of their trials, fitted to two numbers of queries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goodness, "SIZES", (20, 50))
        return fitted(data, Effort(workers=1), trials=20)
