"""The lists of a ranking campaign as they stand, to be drawn: groups, spread of ranks, and pairs that do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.groundtruth import (
    COMPARISONS,
    DEFAULT_ALPHA,
    FUNCTIONS,
    BuiltList,
    RankedQuery,
    Rankings,
    build,
    parse_construction,
)
from adjudge.groundtruth.evidence import default_comparison
from adjudge.io import plain
from adjudge.web.ranking_watching import Sent

MOST_MARKS = 400
"""Pairs of each kind that are drawn; all are counted."""


def constructions() -> list[dict[str, Any]]:
    """Ways of making lists from rankings among which an organiser chooses, the usual one first, in words.

    >>> constructions()[0]["name"], constructions()[0]["about"]
    ('Any-1', 'a new group begins with a document that differs from any of the current group')
    """
    usual = measured_by()
    by = [name for name, one in COMPARISONS.items() if one.takes == "rankings" and name != usual and not one.is_random]
    tested = [f"{name}-{tails}" for name in FUNCTIONS for tails in (1, 2)]
    others = [f"{DEFAULT_CONSTRUCTION}:{name}" for name in by]
    return [_way(name) for name in sorted([*tested, *others], key=lambda name: name != DEFAULT_CONSTRUCTION)]


def _way(name: str) -> dict[str, Any]:
    chosen = parse_construction(name)
    by = chosen.comparison("rankings")
    return {
        "name": name,
        "about": FUNCTIONS[chosen.function].about,
        "tails": chosen.tails,
        "by": by,
        "by_about": COMPARISONS[by].about,
    }


def measured_by() -> str:
    """The comparison that consistency is always measured with."""
    return default_comparison("rankings")


def ranked_queries(sent: Iterable[Sent], codes: dict[int, str]) -> dict[str, RankedQuery]:
    """Rankings by query; queries for which nobody ranked anything have none. ``codes`` are those of participants."""
    by_query: dict[str, list[Sent]] = {}
    for one in sent:
        by_query.setdefault(one.query, []).append(one)
    found = {}
    for query, those in by_query.items():
        if any(one.ranked for one in those):
            rows = [(query, codes[one.participant_id], one.groups, one.unranked) for one in those]
            found[query] = Rankings.from_orders(rows).queries[0]
    return found


def listed(
    asked: RankedQuery, construction: str = DEFAULT_CONSTRUCTION, *, alpha: float = DEFAULT_ALPHA
) -> dict[str, Any]:
    """The list of a query with everything that is drawn of it; refused in one line where there cannot be any yet."""
    ranks = np.ascontiguousarray(asked.ranks)
    names = (asked.query, *asked.documents)
    return _listed(names, ranks.tobytes(), str(parse_construction(construction)), alpha)


@lru_cache(maxsize=1024)
def _listed(names: tuple[str, ...], data: bytes, construction: str, alpha: float) -> dict[str, Any]:
    """Made once for the same rankings: a refresh looks at all queries, and most of them did not change."""
    query, *documents = names
    ranks = np.frombuffer(data).reshape(-1, len(documents))
    asked = RankedQuery(query, tuple(documents), tuple(map(str, range(len(ranks)))), ranks)
    with kept_warnings():  # documents that nobody ranked are told below
        built = build(Rankings((asked,)), construction, alpha=alpha).built[0]
    made: dict[str, Any] = plain({"query": query, "construction": construction, "alpha": alpha, **_shown(built)})
    return made


def _shown(built: BuiltList) -> dict[str, Any]:
    evidence, triples = built.evidence, built.triples
    wrong, wrong_two = built.inconsistencies(1), built.inconsistencies(2)
    rows = zip(
        evidence.documents, evidence.middle, evidence.lower, evidence.upper, evidence.answers, built.group, strict=True
    )
    return {
        "documents": [
            {
                "document": name,
                "middle": middle,
                "lower": lower,
                "upper": upper,
                "experts": int(n),
                "group": int(group) + 1,
            }
            for name, middle, lower, upper, n, group in rows
        ],
        "groups": len(built.list.groups),
        "adr_1": built.consistency(1),
        "adr_2": built.consistency(2),
        "triples": {"alike": triples.alike, "ordered": triples.ordered, "circular": triples.circular, "n": triples.n},
        "counts": {"intra": len(wrong.intra), "inter": len(wrong.inter), "misordered": len(wrong.misordered)},
        "counts2": {"intra": len(wrong_two.intra), "inter": len(wrong_two.inter)},
        "marks": {kind: _some(getattr(wrong, kind)) for kind in ("intra", "inter", "misordered")},
        "left_out": list(evidence.left_out),
    }


def _some(pairs: Any) -> list[list[int]]:
    """The pairs nearest to each other first: those are the ones a reader can see."""
    nearest = sorted(pairs.tolist(), key=lambda pair: (pair[1] - pair[0], pair[0]))
    return nearest[:MOST_MARKS]


def summary(
    asked: RankedQuery, construction: str = DEFAULT_CONSTRUCTION, *, alpha: float = DEFAULT_ALPHA
) -> dict[str, Any]:
    """A list in numbers; ``why`` says why there is none."""
    try:
        made = listed(asked, construction, alpha=alpha)
    except AdjudgeError as error:
        return {"query": asked.query, "why": str(error)}
    kept = ("query", "groups", "adr_1", "adr_2", "triples", "counts")
    sizes = np.bincount([one["group"] - 1 for one in made["documents"]]).tolist()
    return {**{name: made[name] for name in kept}, "sizes": sizes, "left_out": len(made["left_out"])}


def mean_of(summaries: Sequence[dict[str, Any]], name: str) -> float | None:
    """Mean of a number over the lists that have it."""
    values = [one[name] for one in summaries if one.get(name) is not None]
    return float(np.mean(values)) if values else None
