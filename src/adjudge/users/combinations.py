"""Which measure on which scale: how an effectiveness finds the mapping that was made for it.

What users say about effectiveness holds for one *combination* of a measure and a relevance scale. A combination is
recognised by what it computes, not by how it is spelt: two are the same when they give the same numbers on a fixed
set of probing lists, graded with the levels of the scale, which holds every awkward case (short and long lists,
unjudged documents, queries without anything relevant). So ``nDCG(ideal=max)@5`` finds what is known of ``DCG@5``,
MIREX's ``PSum@5`` finds ``CG@5``, and ``P(rel=40)@5`` on Fine grades finds ``P@5`` on ``binary40``, without a list of
equivalences kept by hand.

Scales are written ``broad``, ``fine``, ``binary``, ``0..4``; a conversion of Fine grades is written by its name alone,
``graded4`` or ``binary40``, one of another scale ``graded4 of 0..10``. A scale is what the reader of the judgments said
it is: grades 0..2 of a text collection are not MIREX's Broad grades.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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


class Mapped(Protocol):
    """Anything that was learnt for one measure on one scale."""

    @property
    def measure(self) -> str: ...
    @property
    def scale(self) -> str: ...


M = TypeVar("M", bound=Mapped)


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
        plain = _plain(self.origin)
        if self.conversion is None:
            return plain
        return self.conversion.name if self.origin == FINE else f"{self.conversion.name} of {plain}"


def _plain(scale: Scale) -> str:
    return f"{scale.minimum:g}..{scale.maximum:g}" if scale.name in ("graded", "groups") else scale.name


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
    """The first mapping made for the combination or for one that is the same by definition."""
    known = list(mappings)
    if scale is None:
        return Lookup(None, f"no {kind} mapping for {measure}: the scale of its judgments is not known")
    try:
        wanted = relevance_scale(scale)
        print_ = fingerprint(parse_measure(measure), wanted)
    except AdjudgeError as error:
        return Lookup(None, f"no {kind} mapping for {measure} on {scale}: {error}")
    for mapping in known:
        if same_print(print_, _known_print(mapping.measure, mapping.scale)) and _same_origin(mapping.scale, wanted):
            return Lookup(mapping)
    return Lookup(None, f"no {kind} mapping for {measure} on {wanted}; {_what_is_known(known, wanted)}")


def _same_origin(scale: str, wanted: RelevanceScale) -> bool:
    return relevance_scale(scale).origin == wanted.origin


def _what_is_known(known: Iterable[Mapped], wanted: RelevanceScale) -> str:
    """Say which measures have a mapping on the scale or, when none has, which scales have."""
    here = sorted({m.measure for m in known if str(relevance_scale(m.scale)) == str(wanted)})
    if here:
        return f"known on {wanted}: {', '.join(here)}"
    hint = ""
    if (looks := {2.0: "broad", 100.0: "fine"}.get(wanted.origin.maximum)) and wanted.origin.name == "graded":
        hint = f" (if these are {looks.title()} grades of MIREX, name the scale: {looks})"
    scales = list(dict.fromkeys(str(relevance_scale(m.scale)) for m in known))
    return f"known scales: {', '.join(scales) or 'none'}{hint}"


def wrong_covariance(covariance: Sequence[Sequence[float]], n: int) -> str | None:
    """What keeps the covariance of n parameters from being one; None where nothing does, or nobody knows it.

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
    """Refuse a combination that nothing could ever match: an unknown measure or scale, or one unfit for the other."""
    if not isinstance(measure, str) or not isinstance(scale, str):
        raise AdjudgeError(f"expected a measure and a scale as text, got {shown(measure)} and {shown(scale)}")
    fingerprint(parse_measure(measure), relevance_scale(scale))


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
    """Lists of 0 to 8 documents out of 10 judged and 4 unjudged ones, every query its own; the first has no gains."""
    rng = np.random.default_rng(20130901)
    origin = scale.origin
    pool = np.stack(list(_grades(rng, origin)))
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


def _grades(rng: np.random.Generator, scale: Scale) -> Iterator[Floats]:
    """Grades of the judged documents of each query: none relevant first, then anything the scale allows."""
    yield np.full(_N_JUDGED, min(scale.minimum, 0.0))
    for _ in range(_N_PROBES - 1):
        span = scale.maximum - scale.minimum
        steps = rng.random(_N_JUDGED) if scale.levels is None else rng.integers(scale.levels, size=_N_JUDGED)
        yield scale.minimum + span * steps / (1 if scale.levels is None else scale.levels - 1)
