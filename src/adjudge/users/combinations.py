"""Which measure on which scale: how an effectiveness finds the mapping that was made for it.

A mapping holds for one *combination* of a measure and a relevance scale. A combination is recognised by what it
computes, not by how it is spelt: two are the same when they give the same numbers on a fixed set of lists, graded with
the levels of the scale, which holds every awkward case (short and long lists, unjudged documents, queries without
anything relevant). So ``nDCG(ideal=max)@5`` finds ``DCG@5``, MIREX's ``PSum@5`` finds ``CG@5``, and ``P(rel=40)@5`` on
Fine grades finds ``P@5`` on ``binary40``, without a list of equivalences kept by hand.

Scales are written ``broad``, ``fine``, ``binary``, ``0..4``; a conversion of Fine grades is written by its name alone,
``graded4`` or ``binary40``, one of another scale ``graded4 of 0..10``. A scale is what the reader of the judgments said
it is: grades 0..2 of a text collection are not MIREX's Broad grades.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, shown
from adjudge.measures import Measure, parse_measure
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.rankings import Lists
from adjudge.model.scales import BINARY, BROAD, FINE, Conversion, Scale, conversion, parse_scale

_N_PROBES, _N_RANKS, _N_JUDGED, _N_UNJUDGED = 64, 8, 10, 4
_SAME = 1e-9  # effectiveness is computed in another order, not to another precision


class AnyMapping(Protocol):
    """Anything that was learnt for one measure on one scale."""

    @property
    def measure(self) -> str: ...
    @property
    def scale(self) -> str: ...


M = TypeVar("M", bound=AnyMapping)


@dataclass(frozen=True)
class Lookup(Generic[M]):
    """What was found for a combination: a mapping, or None and the reason to print."""

    mapping: M | None
    reason: str | None = None


@dataclass(frozen=True)
class RelevanceScale:
    """The scale that assessors used and, where grades were converted since, how."""

    origin: Scale
    conversion: Conversion | None = None

    def __str__(self) -> str:
        scale = self.origin
        origin = f"{scale.minimum:g}..{scale.maximum:g}" if scale.name in ("graded", "groups") else scale.name
        if self.conversion is None:
            return origin
        return self.conversion.name if scale == FINE else f"{self.conversion.name} of {origin}"


@lru_cache(maxsize=256)
def relevance_scale(text: str) -> RelevanceScale:
    """Read a scale as mappings write it, or as an Effectiveness records it.

    >>> [str(relevance_scale(text)) for text in ("Broad", "fine (0..100)", "graded (0..4)", "binary40", "0..4")]
    ['broad', 'fine', '0..4', 'binary40', '0..4']
    >>> relevance_scale("graded4").conversion.bounds
    (26.0, 51.0, 76.0)
    >>> print(relevance_scale("graded4 of 0..10"))
    graded4 of 0..10
    """
    name = text.strip().lower()
    if match := re.fullmatch(r"((?:graded|binary)\d[\d.]*)(?: of (.+))?", name):
        origin = FINE if match[2] is None else relevance_scale(match[2]).origin
        return RelevanceScale(origin, conversion(match[1], origin))
    for scale in (BINARY, BROAD, FINE):
        if name == str(scale):
            return RelevanceScale(scale)
    match = re.fullmatch(r"[^()]+ \((\S+\.\.\S+)\)", name)  # any other scale as it prints itself
    return RelevanceScale(parse_scale(name if match is None else match[1]))


def scale_of(eff: Effectiveness) -> str | None:
    """Name the scale of the judgments behind an effectiveness; None when it was computed elsewhere.

    A conversion that does not record what it converted is taken to be one of Fine grades, as the thesis has them.
    """
    settings = eff.provenance.settings
    converted, origin = settings.get("rescaled"), settings.get("rescaled_from")
    if converted is not None:
        text = str(converted).strip().lower()
        return text if origin is None or str(origin) == str(FINE) else f"{text} of {origin}"
    scale = settings.get("scale")
    return None if scale is None else str(scale)


def find(kind: str, mappings: Iterable[M], measure: str | Measure, scale: str | None) -> Lookup[M]:
    """The first mapping made for the combination or for one that is the same by definition.

    Where there is none, the reason says which measures have one on the scale or, if none has, which scales have.
    """
    known = list(mappings)
    if scale is None:
        return Lookup(None, f"no {kind} mapping for {measure}: the scale of its judgments is not known")
    try:
        wanted = relevance_scale(scale)
        print_ = fingerprint(parse_measure(measure), wanted)
    except AdjudgeError as error:
        return Lookup(None, f"no {kind} mapping for {measure} on {scale}: {error}")
    for mapping in known:
        same_origin = relevance_scale(mapping.scale).origin == wanted.origin
        if same_origin and same_print(print_, _known_print(mapping.measure, mapping.scale)):
            return Lookup(mapping)
    reason = f"no {kind} mapping for {measure} on {wanted}; known"
    scales = [str(relevance_scale(mapping.scale)) for mapping in known]
    if str(wanted) in scales:
        here = {mapping.measure for mapping, on in zip(known, scales, strict=True) if on == str(wanted)}
        return Lookup(None, f"{reason} on {wanted}: {', '.join(sorted(here))}")
    hint = ""
    if (looks := {2.0: "broad", 100.0: "fine"}.get(wanted.origin.maximum)) and wanted.origin.name == "graded":
        hint = f" (if these are {looks.title()} grades of MIREX, name the scale: {looks})"
    return Lookup(None, f"{reason} scales: {', '.join(dict.fromkeys(scales)) or 'none'}{hint}")


def in_unit_interval(kind: str, values: Floats, lookup: Lookup[M], measure: str) -> Lookup[M]:
    """What was found for a measure, unless its values leave [0, 1], where nobody asked users.

    >>> in_unit_interval("satisfaction", np.array([0.5, 32.0]), Lookup(None), "DCG").reason
    'no satisfaction mapping for DCG: its values, 0.5 to 32, are not in [0, 1]'
    """
    if np.isnan(values).all():
        return lookup
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low >= -_SAME and high <= 1 + _SAME:
        return lookup
    return Lookup(None, f"no {kind} mapping for {measure}: its values, {low:g} to {high:g}, are not in [0, 1]")


def wrong_covariance(covariance: Sequence[Sequence[float]], n: int) -> str | None:
    """What is wrong with the covariance of n parameters; None where nothing is, or where it is empty.

    >>> wrong_covariance([[1.0, 0.0]], 2), wrong_covariance([[-1.0]], 1), wrong_covariance((), 3)
    ('the covariance must be 2 x 2', 'the covariance must be finite, with variances of 0 or more', None)
    """
    if covariance and {len(covariance), *map(len, covariance)} != {n}:
        return f"the covariance must be {n} x {n}"
    values = np.array(covariance, dtype=np.float64)
    if covariance and not (bool(np.isfinite(values).all()) and bool((np.diag(values) >= 0).all())):
        return "the covariance must be finite, with variances of 0 or more"
    return None


def check_combination(measure: str, scale: str) -> None:
    """Refuse a combination that nothing can match: an unknown measure or scale, or one unfit for the other."""
    if not isinstance(measure, str) or not isinstance(scale, str):
        raise AdjudgeError(f"expected a measure and a scale as text, got {shown(measure)} and {shown(scale)}")
    _known_print(measure, scale)


@lru_cache(maxsize=1024)
def _known_print(measure: str, scale: str) -> Floats:
    return fingerprint(parse_measure(measure), relevance_scale(scale))


def fingerprint(measure: Measure, scale: RelevanceScale) -> Floats:
    """Effectiveness of the probing lists, graded on the scale's origin and converted."""
    return measure(_probes(scale))


def same_print(one: Floats, other: Floats) -> bool:
    """Whether two combinations computed the same on lists of the same origin."""
    return one.shape == other.shape and bool(np.abs(one - other).max() <= _SAME)


@lru_cache(maxsize=64)
def _probes(scale: RelevanceScale) -> Lists:
    """Lists of 0 to 8 documents out of 10 judged and 4 unjudged ones, one per query; the first has nothing relevant."""
    rng = np.random.default_rng(20130901)
    origin = scale.origin
    pool = np.full((_N_PROBES, _N_JUDGED), min(origin.minimum, 0.0))
    for grades in pool[1:]:
        steps = rng.random(_N_JUDGED) if origin.levels is None else rng.integers(origin.levels, size=_N_JUDGED)
        span = origin.maximum - origin.minimum
        grades[:] = origin.minimum + span * steps / (1 if origin.levels is None else origin.levels - 1)
    if scale.conversion is not None:
        pool = scale.conversion(pool)
    documents = np.stack([rng.permutation(_N_JUDGED + _N_UNJUDGED)[:_N_RANKS] for _ in range(_N_PROBES)])
    lengths = np.arange(_N_PROBES, dtype=np.int64) % (_N_RANKS + 1)
    judged = (documents < _N_JUDGED) & (np.arange(_N_RANKS) < lengths[:, None])
    padded = np.concatenate([pool, np.zeros((_N_PROBES, _N_UNJUDGED))], axis=1)
    grades = np.where(judged, np.take_along_axis(padded, documents, axis=1), 0.0)
    return Lists(
        grades,
        judged,
        lengths,
        -np.sort(-pool, axis=1),
        np.full(_N_PROBES, _N_JUDGED, dtype=np.int64),
        np.arange(_N_PROBES),
        origin if scale.conversion is None else scale.conversion.scale,
    )
