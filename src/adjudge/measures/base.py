"""What a measure is: a function from the grades of ranked lists to one number a list, declared and registered once.

The declaration (:func:`measure`) feeds the parser, ``adjudge measures``, the documentation and the contract tests. A
parsed measure such as ``RBP(p=0.8)@5`` is a :class:`Measure`: a definition with its parameters and cutoff bound.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.measures.parameters import IDEAL, Parameter
from adjudge.model.rankings import Lists
from adjudge.registry import Registry

Ideal = Literal["none", "max", "judged"]


MeasureFunction = Callable[..., Floats]  # (lists, **parameters) -> effectiveness of each list


@dataclass(frozen=True, eq=False)
class Definition:
    """One registered measure: its function and everything that is known about it."""

    name: str
    title: str
    equation: str
    reference: str
    function: MeasureFunction
    parameters: Mapping[str, Parameter]
    cutoff: bool
    monotone: bool | Literal["at a cutoff"]
    unbounded: bool
    needs: Callable[[Lists], str | None] | None

    @property
    def docstring(self) -> str:
        """What the function says of itself."""
        return inspect.getdoc(self.function) or ""

    def bounded(self, ideal: Ideal) -> bool:
        """Whether effectiveness lies in [0, 1] by construction: always, unless gains are summed without an ideal."""
        return not (ideal == "none" and self.unbounded)


MEASURES: Registry[Definition] = Registry("measure")
DEEPEST = 1_000_000  # nobody looks further down a list
_ROUNDING = 1e-9


def measure(
    name: str,
    *,
    title: str,
    equation: str,
    reference: str,
    ideal: Ideal,
    parameters: Mapping[str, Parameter] | None = None,
    cutoff: bool = True,
    monotone: bool | Literal["at a cutoff"] = True,
    unbounded: bool = False,
    needs: Callable[[Lists], str | None] | None = None,
) -> Callable[[MeasureFunction], MeasureFunction]:
    """Register a measure; the function comes back unchanged.

    ``ideal`` is the default one; ``cutoff=False`` refuses ``@k``; ``monotone`` says that a better grade in a list
    never lowers its effectiveness and one elsewhere in the pool never raises it (perhaps only ``"at a cutoff"``);
    ``unbounded`` that it may exceed 1 without an ideal; ``needs`` returns what is missing for the measure to make
    sense on some lists.
    """

    def decorate(function: MeasureFunction) -> MeasureFunction:
        declared = {**(parameters or {}), "ideal": IDEAL.with_default(ideal)}
        definition = Definition(
            name, title, equation, reference, function, declared, cutoff, monotone, unbounded, needs
        )
        MEASURES.add(name, definition)
        return function

    return decorate


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters and cutoff, printed and parsed as the field writes it."""

    definition: Definition
    parameters: tuple[tuple[str, Any], ...]
    cutoff: int | None = None
    judged_only: bool = False

    @classmethod
    def bind(
        cls, definition: Definition, given: Mapping[str, Any], cutoff: int | None, *, judged_only: bool = False
    ) -> Measure:
        """Check parameters and fill in defaults."""
        if cutoff is not None and not definition.cutoff:
            raise AdjudgeError(f"{definition.name}: takes no cutoff, got @{cutoff}")
        if cutoff is not None and not 1 <= cutoff <= DEEPEST:
            raise AdjudgeError(f"{definition.name}: the cutoff must be from 1 to {DEEPEST:,}, got {cutoff}")
        for name in given:
            if name not in definition.parameters:
                known = ", ".join([*definition.parameters, "judged_only"])
                raise AdjudgeError(f"{definition.name}: has no parameter {name!r}; known: {known}")
        bound = {
            name: parameter.check(definition.name, name, given.get(name, parameter.default))
            for name, parameter in definition.parameters.items()
        }
        return cls(definition, tuple(bound.items()), cutoff, judged_only)

    @property
    def name(self) -> str:
        """Name of the family, without parameters and cutoff."""
        return self.definition.name

    @property
    def ideal(self) -> Ideal:
        """What the measure is normalised by."""
        ideal: Ideal = dict(self.parameters)["ideal"]
        return ideal

    @property
    def bounded(self) -> bool:
        """Whether effectiveness lies in [0, 1] by construction."""
        return self.definition.bounded(self.ideal)

    @property
    def monotone(self) -> bool:
        """Whether better grades in a list never lower its effectiveness, nor better ones elsewhere raise it."""
        monotone = self.definition.monotone
        return self.cutoff is not None if monotone == "at a cutoff" else monotone

    def __str__(self) -> str:
        declared = self.definition.parameters
        shown = [
            f"{name}={declared[name].show(value)}" for name, value in self.parameters if value != declared[name].default
        ]
        if self.judged_only:
            shown.append("judged_only=True")
        inside = f"({','.join(shown)})" if shown else ""
        return f"{self.name}{inside}" + (f"@{self.cutoff}" if self.cutoff is not None else "")

    def __repr__(self) -> str:
        return f"<Measure {self}>"

    def __call__(self, lists: Lists) -> Floats:
        """Effectiveness of each list, shape (lists,)."""
        lacking = self._lacking(lists)
        if lacking is not None:
            raise AdjudgeError(f"{self}: {lacking}")
        cut = (lists.condensed() if self.judged_only else lists).at(self.cutoff)
        values = self.definition.function(cut, **dict(self.parameters))
        return _rounded_down(values) if self.bounded else values

    def _lacking(self, lists: Lists) -> str | None:
        """Why the measure makes no sense on these lists, if it does not."""
        for name, value in self.parameters:
            lacking = self.definition.parameters[name].lacking(value, lists.scale)
            if lacking is not None:
                return lacking
        return None if self.definition.needs is None else self.definition.needs(lists)


def _rounded_down(values: Floats) -> Floats:
    """Values without what rounding adds to 1; what exceeds 1 by more is an error of the measure, left to be seen."""
    found: Floats = np.where((values > 1) & (values <= 1 + _ROUNDING), 1.0, values)
    return found
