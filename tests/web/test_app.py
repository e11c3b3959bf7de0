"""The application is whole before anybody asks it for anything."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def test_the_first_request_touches_no_filters_of_warnings(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """FastAPI builds routes when they are first looked at, under filters that other threads may take away."""
    entered: list[object] = []
    enter = warnings.catch_warnings.__enter__

    def noted(self: warnings.catch_warnings[Any]) -> Any:
        entered.append(self)
        return enter(self)

    with monkeypatch.context() as patch:
        patch.setattr(warnings.catch_warnings, "__enter__", noted)
        answers = [client.get(path).status_code for path in ("/nothing", "/api/nothing")]
    assert answers == [404, 404]
    assert entered == []
