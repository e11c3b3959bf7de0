"""How other tools are called."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any


def quiet(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a peer without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **options)
