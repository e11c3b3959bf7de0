"""Families of curves, declared once: a function, its parameters, where a fit starts and what they may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.registry import Registry

LARGE = 700.0
"""e to the power of it is still a number."""


@dataclass(frozen=True)
class CurveForm:
    """A family of curves: (value, *parameters) -> probabilities."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    start: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]


F = TypeVar("F", bound=CurveForm)
C = TypeVar("C", bound=Callable[..., Any])


def registering(registry: Registry[F], make: type[F]) -> Callable[..., Callable[[C], C]]:
    """A decorator that registers families by name.

    Each parameter has the value that a fit starts from, its lowest and its highest.

    >>> lines = Registry[CurveForm]("line")
    >>> @registering(lines, CurveForm)("rising", slope=(1.0, 0.0, 9.0))
    ... def rising(values, slope):
    ...     return slope * values
    >>> lines["rising"].lowest
    (0.0,)
    """

    def form(name: str, **parameters: tuple[float, float, float]) -> Callable[[C], C]:
        def decorate(function: C) -> C:
            start, lowest, highest = zip(*parameters.values(), strict=True)
            registry.add(name, make(name, function, tuple(parameters), start, lowest, highest))
            return function

        return decorate

    return form


def logistic_of(x: Floats) -> Floats:
    """1 / (1 + e^-x), finite however steep a curve is."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -LARGE, LARGE)))
