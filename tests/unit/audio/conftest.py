"""What tests of sound share."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from adjudge.parallel import run_jobs


@pytest.fixture
def pickled_jobs(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes jobs of a module go through pickle as they do to other processes, whose start would take seconds."""

    def run(function: Any, jobs: Mapping[str, Any], **options: Any) -> Iterator[tuple[str, Any]]:
        function, jobs = pickle.loads(pickle.dumps((function, dict(jobs))))
        for name, result in run_jobs(function, jobs, **options | {"workers": 1}):
            yield name, pickle.loads(pickle.dumps(result))

    return lambda module: monkeypatch.setattr(f"adjudge.audio.{module}.run_jobs", run)
