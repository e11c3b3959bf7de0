"""Every design of a G-study, for tests that ask for one."""

from __future__ import annotations

import pytest

from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, Design


@pytest.fixture(params=[SYSTEMS_QUERIES, CROSSED, NESTED], ids=["two-way", "crossed", "nested"])
def design(request: pytest.FixtureRequest) -> Design:
    """Each design in turn."""
    found: Design = request.param
    return found
