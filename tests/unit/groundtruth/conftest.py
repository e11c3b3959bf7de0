"""What tests of files share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Write a file and give its path."""

    def write(content: str | bytes) -> Path:
        path = tmp_path / "given.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
