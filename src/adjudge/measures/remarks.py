"""What every evaluation checks before it starts, and what it says aloud."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjudge.arrays import Mask
from adjudge.choices import Missing, Ties, Unjudged, check_choice
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.measures.base import Measure
from adjudge.measures.notation import parse_measure
from adjudge.model.collection import Collection
from adjudge.model.judgments import Judgments
from adjudge.model.rankings import Blocks


def blocks_for(collection: Collection, measures: Sequence[Measure], *, unjudged: Unjudged, ties: Ties) -> Blocks:
    """Rankings as deep as the measures look, or whole where that is not known beforehand."""
    whole = unjudged == "condensed" or ties == "expected" or any(m.cutoff is None or m.judged_only for m in measures)
    return Blocks(collection, None if whole else max(m.cutoff or 0 for m in measures), ties=ties == "expected")


def canonical_name(text: str) -> str:
    """How a measure is called here, however it is spelt."""
    return str(parse_measure(text))


def check_options(collection: Collection, *, unjudged: str, missing: str, ties: str, seed: int) -> None:
    """Refuse options that are none, and ties that were broken before anybody asked."""
    check_choice("unjudged", unjudged, Unjudged)
    check_choice("missing", missing, Missing)
    check_choice("ties", ties, Ties)
    if not isinstance(seed, int) or seed < 0:
        raise AdjudgeError(f"'seed' must be a whole number of at least 0, got {seed}")
    depth = collection.runs.cut_at
    if ties == "expected" and depth is not None:
        raise AdjudgeError(f"ties='expected' needs whole rankings, but these were cut at depth {depth} when read.")


def absent_lists(collection: Collection, judgments: Judgments) -> Mask:
    """Which judged queries each system retrieved nothing for, shape (queries, systems)."""
    nothing: Mask = np.stack([run.lengths[: judgments.n_queries] == 0 for run in collection.runs], axis=1)
    return nothing


def remarks_on(collection: Collection, judgments: Judgments, absent: Mask, missing: Missing) -> tuple[str, ...]:
    """What should be said aloud about this evaluation; the worst of it also as warnings."""
    aloud = []
    unjudged = collection.queries[judgments.n_queries :]
    if unjudged:
        aloud.append(f"{count_of(len(unjudged), 'query')} of the runs without judgments left out: {some_of(unjudged)}.")
    if absent.all():
        asked, judged = some_of(unjudged) or "nothing", some_of(collection.queries[: judgments.n_queries])
        raise AdjudgeError(f"No query of the runs is judged: the runs answer {asked}; the judgments are for {judged}.")
    if absent.any():
        names = [collection.systems[s] for s in np.flatnonzero(absent.any(axis=0))]
        first = collection.queries[int(np.flatnonzero(absent.any(axis=1))[0])]
        text = (
            f"{count_of(int(absent.sum()), 'list')} missing: nothing retrieved by {some_of(names)} "
            f"for judged queries such as {shown(first)}"
        )
        if missing == "error":
            raise AdjudgeError(f"{text}; say zero or drop for missing lists to go on.")
        aloud.append(f"{text}; {'each counts 0' if missing == 'zero' else 'left out of the means'}.")
    for text in aloud:
        warn(text, stacklevel=3)
    return (*aloud, *_quiet_remarks(judgments))


def _quiet_remarks(judgments: Judgments) -> list[str]:
    remarks = []
    pool = judgments.pool
    filled = np.diff(pool.offsets) > 0
    best = np.zeros(len(filled))
    best[filled] = np.maximum.reduceat(pool.grades, pool.offsets[:-1][filled])
    nothing = int(np.count_nonzero(best <= 0))
    if nothing:
        remarks.append(f"{count_of(nothing, 'query')} without a relevant document: effectiveness 0.")
    remarks.extend(judgments.notes)
    if len(judgments.assessors) > 1 and len(pool.grades) < len(judgments):
        remarks.append(f"Pairs judged by several assessors have the {judgments.combine} of their grades.")
    if judgments.subtopic is not None:
        remarks.append("Documents judged for several sub-topics have the highest of those grades.")
    return remarks


def unreachable(measures: Sequence[Measure], judgments: Judgments) -> list[str]:
    """Measures whose threshold no grade of the scale reaches: they are 0 whatever the systems do."""
    top = judgments.scale.maximum
    names = [str(m) for m in measures if (dict(m.parameters).get("rel") or 0) > top]
    return [f"No grade is high enough for {some_of(names)} on the scale {judgments.scale}: 0."] if names else []


def count_of(n: int, noun: str) -> str:
    """A number and what it counts, as one says it."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n} {noun if n == 1 else plural}"


def some_of(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    few = ", ".join(names[:3])
    return few if len(names) <= 3 else f"{few} and {len(names) - 3} more"
