"""Families of satisfaction curves that never fall and never leave [0, 1], whatever their parameters.

A cubic (eq 4.3) may do both. These rise from P(Sat | 0) to P(Sat | 1) and are fitted to single answers; see
:mod:`adjudge.users.satisfaction_fit`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats
from adjudge.registry import Registry
from adjudge.users.curve_forms import CurveForm, logistic_of, registering

_EDGE = 1e-12  # powers of 0 have no slope


@dataclass(frozen=True)
class SatisfactionForm(CurveForm):
    """A family of curves: (effectiveness, *parameters) -> P(Sat)."""

    def __call__(self, effectiveness: Floats, parameters: Floats) -> Floats:
        """P(Sat) at effectiveness in [0, 1]."""
        found: Floats = self.function(effectiveness, *parameters)
        return found


MONOTONE: Registry[SatisfactionForm] = Registry("monotone satisfaction curve")


satisfaction_form = registering(MONOTONE, SatisfactionForm)
"""Register a family of curves; each parameter has the value that a fit starts from, its lowest and its highest."""


@satisfaction_form("logistic", base=(-1.5, -20.0, 20.0), slope=(3.5, 0.0, 200.0))
def logistic(values: Floats, base: float, slope: float) -> Floats:
    """P(Sat) = 1 / (1 + e^-(base + slope·λ))."""
    return logistic_of(base + slope * values)


@satisfaction_form(
    "psychometric", low=(0.1, 0.0, 1.0), rise=(0.8, 0.0, 1.0), slope=(7.0, 0.0, 200.0), middle=(0.5, -0.5, 1.5)
)
def psychometric(values: Floats, low: float, rise: float, slope: float, middle: float) -> Floats:
    """P(Sat) = low + (1 - low)·rise / (1 + e^(-slope·(λ - middle))).

    Some are satisfied whatever they get (``low``), some never are: the curve levels off at both ends, wherever these
    lie (Wichmann and Hill 2001).
    """
    return low + (1.0 - low) * rise * logistic_of(slope * (values - middle))


@satisfaction_form("bounded", low=(0.15, 0.0, 1.0), rise=(0.8, 0.0, 1.0), a=(1.2, 0.2, 20.0), b=(1.2, 0.2, 20.0))
def bounded(values: Floats, low: float, rise: float, a: float, b: float) -> Floats:
    """P(Sat) = low + (1 - low)·rise·(1 - (1 - λ^a)^b), which is ``low`` at 0 and low + (1 - low)·rise at 1.

    The middle is the distribution function of Kumaraswamy (1980), much like a beta distribution's: S-shaped, straight,
    or bent to either side. With a = b = 1 it is a straight line.
    """
    inside = np.clip(values, _EDGE, 1.0 - _EDGE)
    return low + (1.0 - low) * rise * -np.expm1(b * np.log1p(-np.exp(a * np.log(inside))))
