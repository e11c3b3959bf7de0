"""The curves of a preference campaign so far: satisfaction by effectiveness, agreement by difference.

Shares of bins come with the intervals of :mod:`adjudge.preferences.curves`; a curve is fitted once there are answers
enough to say something. Only answers that count are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.arrays import Floats
    from adjudge.preferences.curves import ShareBins
    from adjudge.preferences.questions import Questions
    from adjudge.preferences.study import Evidence, Study

MOST_CURVES = 4
"""Combinations whose curves are drawn."""
FEWEST_ANSWERS = 20
"""Answers, and answers that call both lists good or bad, from which a curve is fitted."""
_POINTS = 41


def curves_so_far(study: Study, combinations: Sequence[str]) -> list[dict[str, Any]]:
    """Bins and curves of the first combinations; CG of whole lists on each scale where none are named.

    What cannot be computed yet has its ``why``, in words.
    """
    return [_curves(study, name) for name in wanted_combinations(study.questions, combinations)[:MOST_CURVES]]


def wanted_combinations(questions: Questions, named: Sequence[str]) -> list[str]:
    """Those that are named; CG of whole lists on each scale that there are grades on where none are."""
    return list(named) or [f"CG@{questions.n_ranks} on {scale}" for scale in questions.grades]


def _curves(study: Study, name: str) -> dict[str, Any]:
    from adjudge.preferences.curves import agreement_bins, satisfaction_bins
    from adjudge.preferences.questions import Combination
    from adjudge.preferences.study import evidence

    wanted = Combination.parse(name)
    measure, scale = wanted.measure, wanted.scale
    nothing: dict[str, Any] = {"bins": [], "curve": [], "why": None}
    try:
        seen = evidence(study, measure, scale)
    except AdjudgeError as error:
        return {"measure": measure, "scale": scale, "why": str(error), "satisfaction": nothing, "agreement": nothing}
    satisfied = satisfaction_bins(seen).satisfied if len(seen.lists) else None
    return {
        "measure": measure,
        "scale": scale,
        "why": None,
        "answers": len(seen.delta),
        "unjudged": seen.unjudged,
        "satisfaction": {**_satisfaction(seen), "bins": _bins(satisfied), "ties": len(seen.lists)},
        "agreement": {**_agreement(seen), "bins": _bins(agreement_bins(seen).agree)},
    }


def _bins(shares: ShareBins | None) -> list[dict[str, Any]]:
    """Bins that have anything in them."""
    if shares is None:
        return []
    return [
        {
            "low": row["from"],
            "high": row["to"],
            "at": row["mean"],
            "n": row["count"],
            "share": row["share"],
            "lower": row["low"],
            "upper": row["high"],
        }
        for row in shares.to_dicts()
        if row["count"]
    ]


def _too_few(n: int, what: str) -> str | None:
    return None if n >= FEWEST_ANSWERS else f"{n} of at least {FEWEST_ANSWERS} {what} for a curve"


def _satisfaction(seen: Evidence) -> dict[str, Any]:
    from adjudge.preferences.curves import satisfaction_curve

    why = _too_few(len(seen.lists), "pairs called good or bad")
    if why is not None:
        return {"curve": [], "why": why}
    grid = np.linspace(0, 1, _POINTS)
    try:
        curve = satisfaction_curve(seen)(grid)
    except (AdjudgeError, np.linalg.LinAlgError) as error:
        return {"curve": [], "why": f"no curve can be fitted yet: {error}"}
    return {"curve": _points(grid, curve), "why": None}


def _agreement(seen: Evidence) -> dict[str, Any]:
    """The curve of those who prefer the better list, its band, and from which difference on more than half do."""
    from adjudge.preferences.curves import agreement_curve
    from adjudge.users.noticing import agreement_interval, noticeable_difference, noticeable_interval

    unknown = dict.fromkeys(("noticeable", "noticeable_low", "noticeable_high"))
    nothing: dict[str, Any] = {"curve": [], "band": [], **unknown}
    why = _too_few(len(seen.delta), "answers")
    if why is not None:
        return {**nothing, "why": why}
    grid = np.linspace(0, 1, _POINTS)
    try:
        mapping = agreement_curve(seen)
        low, high = agreement_interval(mapping, grid)
        ends = noticeable_interval(mapping)
    except (AdjudgeError, np.linalg.LinAlgError) as error:
        return {**nothing, "why": f"no curve can be fitted yet: {error}"}
    return {
        "curve": _points(grid, mapping(grid).agree),
        "band": _points(grid, low.agree, high.agree) if mapping.covariance else [],
        "noticeable": noticeable_difference(mapping),
        "noticeable_low": ends[0],
        "noticeable_high": ends[1],
        "why": None,
    }


def _points(*columns: Floats) -> list[list[float]]:
    """Columns as rows of rounded numbers, small enough to be sent often."""
    return [[round(float(value), 4) for value in row] for row in zip(*columns, strict=True)]
