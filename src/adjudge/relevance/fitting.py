"""Models that estimate relevance from features: as plain values that can be saved, and fitted to judged collections.

A model for features with judgments in them is fitted as it will be used: some documents, drawn at random, are judged,
and the others are predicted from them. So a document's own judgment is never among its features, and the variance that
a model claims is that of documents it has not seen. (The published M_jud was fitted with each document's own judgment
inside; on unseen documents its error is about twice what it claims.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, shown
from adjudge.formats import Source, write_whole
from adjudge.model.scales import Scale
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.features import FEATURES, Evidence
from adjudge.relevance.levels import cut_levels
from adjudge.relevance.ordinal import Ordinal, fit_ordinal

OUTPUT_FEATURES = ("fSYS", "OV", "fSYS:OV", "fART", "sGEN", "fGEN", "sGEN:fGEN")
"""Features of the published M_out (T 7.3.1)."""
JUDGMENT_FEATURES = ("fSYS", "aSYS", "aART")
"""Features of the published M_jud (T 7.3.1)."""

_KEYS = ("features", "effects", "intercepts", "levels", "source", "n_documents")


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A proportional-odds model of relevance: features by name, their effects, and what each level is worth (0 to 1).

    ``n_documents`` is how many the model was fitted to, each as often as it was drawn, ``source`` where it comes from.
    """

    features: tuple[str, ...]
    ordinal: Ordinal
    levels: tuple[float, ...]
    source: str = ""
    n_documents: int = 0

    def __post_init__(self) -> None:
        if len(self.features) != len(self.ordinal.effects):
            raise AdjudgeError(f"Expected an effect of each feature, got {len(self.ordinal.effects)} effects.")
        if len(self.levels) != len(self.ordinal.intercepts) + 1:
            raise AdjudgeError(f"Expected {len(self.ordinal.intercepts) + 1} levels, got {len(self.levels)}.")
        if not all(0 <= level <= 1 for level in self.levels) or list(self.levels) != sorted(self.levels):
            raise AdjudgeError(f"Expected levels that rise between 0 and 1, got {list(self.levels)}.")

    def __str__(self) -> str:
        rows = [*zip(self.features, self.ordinal.effects, strict=True)]
        rows += [(f"α {level:g}", a) for level, a in zip(self.levels[1:], self.ordinal.intercepts, strict=True)]
        width = max(len(name) for name, _ in rows)
        return "\n".join([self.source or "own fit", *(f"{name:<{width}} {value:9.4f}" for name, value in rows)])

    def estimate(self, evidence: Evidence, relevance: Floats | None = None) -> tuple[Floats, Floats]:
        """Expectation and variance of the relevance of every pair; NaN where a feature is not defined."""
        table = evidence.table(self.features, relevance)
        return self.ordinal.moments(table, np.array(self.levels))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "features": list(self.features),
            "effects": self.ordinal.effects.tolist(),
            "intercepts": self.ordinal.intercepts.tolist(),
            "levels": list(self.levels),
            "source": self.source,
            "n_documents": self.n_documents,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> FittedModel:
        """From plain values; what is not a model is refused.

        >>> values = {"features": ["fSYS"], "effects": [3.5], "intercepts": [-1], "levels": [0, 1]}
        >>> FittedModel.from_dict(values).features
        ('fSYS',)
        """
        if not isinstance(plain, Mapping) or not set(_KEYS[:4]) <= set(plain) <= set(_KEYS):
            raise AdjudgeError(f"Expected a model with {', '.join(_KEYS)}, got {shown(plain)}")
        names = plain["features"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise AdjudgeError(f"'features' must be a list of names, got {shown(names)}")
        effects, intercepts, levels = (_numbers(plain, key) for key in _KEYS[1:4])
        source, n = plain.get("source", ""), plain.get("n_documents", 0)
        if not isinstance(source, str) or not isinstance(n, int):
            raise AdjudgeError(f"'source' must be text and 'n_documents' a number, got {shown(source)} and {shown(n)}")
        return cls(tuple(names), Ordinal(np.array(intercepts), np.array(effects)), levels, source, n)

    def save(self, path: str | Path) -> None:
        """Write as JSON; the file appears when it is complete."""
        write_whole(Path(path), (json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> FittedModel:
        """Read from JSON; what cannot be used is refused with its place."""
        source = Source.open(Path(path))
        try:
            return cls.from_dict(json.loads(source.text))
        except json.JSONDecodeError as error:
            raise source.error(f"expected JSON: {error.msg.lower()}", error.lineno) from None
        except AdjudgeError as error:
            raise source.error(str(error)) from None


def _numbers(plain: Mapping[str, Any], key: str) -> tuple[float, ...]:
    value = plain[key]
    if not isinstance(value, list) or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in value):
        raise AdjudgeError(f"{key!r} must be a list of numbers, got {shown(value)}")
    return tuple(float(x) for x in value)


def fit_estimator(
    collections: Sequence[Candidates],
    *,
    features: Sequence[str] = OUTPUT_FEATURES,
    levels: int | None = None,
    shares: Sequence[float] = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7),
    draws: int = 4,
    ridge: float = 1.0,
    seed: int = 0,
) -> FittedModel:
    """Fit a model to the judged pairs of collections, without any document's own judgment in its features.

    ``levels`` is into how many equal parts the scale is cut, 10 where it has more than 11 levels (Fine); scales with
    few levels keep them. Where ``features`` contain judgments, each collection is judged in part, ``draws`` times for
    each of the ``shares``, and the documents left are what is fitted. Pairs for which a feature is not defined are left
    out.
    ``ridge`` as in :func:`~adjudge.relevance.ordinal.fit_ordinal`.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> print(fit_estimator([candidates(aj.demo(depth=5), cutoff=5)], features=["fSYS", "aDOC"], seed=1))
    own fit
    ...
    """
    scale = _one_scale(collections)
    bounds, worth = cut_levels(scale, levels)
    rng = np.random.default_rng(seed)
    parts = [part for found in collections for part in _examples(found, tuple(features), tuple(shares), draws, rng)]
    x, relevance = np.vstack([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    if not len(x):
        raise AdjudgeError("No judged document has all features: " + ", ".join(features))
    level = np.searchsorted(bounds, relevance, side="right").astype(np.int64)
    return FittedModel(tuple(features), fit_ordinal(x, level, len(worth), ridge=ridge), worth, "own fit", len(x))


def _one_scale(collections: Sequence[Candidates]) -> Scale:
    if not collections:
        raise AdjudgeError("Expected one judged collection or more to fit to, got none.")
    scale = collections[0].scale
    for other in collections:
        if (other.scale.maximum, other.scale.levels) != (scale.maximum, scale.levels):
            raise AdjudgeError(f"Expected collections with one scale, got {scale} and {other.scale}.")
        if not other.judged.any():
            raise AdjudgeError("Expected judged collections to fit to, got one without judgments.")
    return scale


def _examples(
    candidates: Candidates, features: tuple[str, ...], shares: tuple[float, ...], draws: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Features and relevance of judged documents, for each way of judging the collection in part."""
    evidence, judged = Evidence(candidates), np.flatnonzero(candidates.judged)
    names = {name for term in features for name in term.split(":")}
    if not any(name in FEATURES and FEATURES[name].judged for name in names):
        yield _complete(evidence.table(features)[judged], candidates.relevance[judged])
        return
    for share in np.repeat(shares, draws):
        seen = _some(judged, float(share), rng)
        left = np.setdiff1d(judged, seen)
        known: Floats = np.full(len(candidates), np.nan)
        known[seen] = candidates.relevance[seen]
        yield _complete(evidence.table(features, known)[left], candidates.relevance[left])


def _some(judged: Ints, share: float, rng: np.random.Generator) -> Ints:
    if not 0 < share < 1:
        raise AdjudgeError(f"'shares' must be between 0 and 1, got {share:g}")
    return rng.choice(judged, size=max(1, round(share * len(judged))), replace=False)


def _complete(x: Floats, relevance: Floats) -> tuple[Floats, Floats]:
    whole = ~np.isnan(x).any(axis=1)
    return x[whole], relevance[whole]
