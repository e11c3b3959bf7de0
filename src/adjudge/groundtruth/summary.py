"""What is to be said of lists: one record a query, totals, and sentences."""

from __future__ import annotations

import math
from typing import Any

from adjudge.groundtruth.building import Answers, BuiltList, GroundTruth
from adjudge.groundtruth.evidence import Tails
from adjudge.groundtruth.rankings import Rankings

SPLIT_HAIRS = 0.005
"""Lists whose consistencies are nearer than this are not called better and worse."""


def list_record(built: BuiltList, *, tails: Tails = 1) -> dict[str, Any]:
    """One list in numbers: its size, its consistency, what contradicts it.

    ``intra``, ``inter`` and ``misordered`` count pairs by tests with ``tails``; ``pairs_within`` and ``pairs_between``
    are how many there could be. Triples are of three kinds, see
    :class:`~adjudge.groundtruth.consistency.Triples`; ``triples`` of them were wholly compared.
    """
    wrong, triples = built.inconsistencies(tails), built.triples
    return {
        "query": built.list.query,
        "documents": len(built.list),
        "groups": len(built.list.groups),
        "documents_a_group": built.mean_group_size,
        "adr_1": built.consistency(1),
        "adr_2": built.consistency(2),
        "intra": len(wrong.intra),
        "pairs_within": wrong.n_within,
        "inter": len(wrong.inter),
        "pairs_between": wrong.n_between,
        "misordered": len(wrong.misordered),
        "triples_alike": triples.equal,
        "triples_ordered": triples.ordered,
        "triples_circular": triples.circular,
        "triples": triples.n,
        "left_out": len(built.evidence.left_out),
    }


def list_records(truth: GroundTruth, *, tails: Tails = 1) -> list[dict[str, Any]]:
    """A record for each list, in order."""
    return [list_record(one, tails=tails) for one in truth.built]


def total_record(truth: GroundTruth, *, tails: Tails = 1) -> dict[str, Any]:
    """All lists in numbers: sums, except that consistencies and documents a group are means over queries."""
    records = list_records(truth, tails=tails)
    total: dict[str, Any] = {name: sum(one[name] for one in records) for name in records[0] if name != "query"}
    total["documents_a_group"] /= len(records)
    return {"query": "all", **total, "adr_1": truth.consistency(1), "adr_2": truth.consistency(2)}


def sentences(truth: GroundTruth, answers: Answers | None = None) -> list[str]:
    """What a reader should know of the lists, most important first.

    >>> from adjudge.groundtruth.building import build
    >>> rankings = Rankings.from_orders([("q", name, [["a"], ["b"], ["c"]], []) for name in "uvwxyz"])
    >>> for sentence in sentences(build(rankings, "Any-1"), rankings):
    ...     print(sentence)
    1 list of 3 documents in 3 groups, Any-1, from 18 ranks by 6 experts.
    ADR-1 consistency is 1.000 (ADR-2 1.000): experts bear out everything that the list says.
    """
    total = total_record(truth)
    made, borne_out = _made(truth, total, answers), _borne_out(truth, total)
    return [made, borne_out, *_uncompared(truth, total), *_worst(truth), *_triples(total)]


def _made(truth: GroundTruth, total: dict[str, Any], answers: Answers | None) -> str:
    size = f"{_n(total['documents'], 'document')} in {_n(total['groups'], 'group')}"
    given = "" if answers is None else f", from {asked_of(answers)}"
    return f"{_n(len(truth), 'list')} of {size}, {truth.made_by}{given}."


def tabulated(truth: GroundTruth) -> str:
    """The first two sentences and a table of the lists, as a ground truth prints itself."""
    from adjudge.stats.effects import table

    shown = [
        [one["query"], str(one["documents"]), str(one["groups"]), *(_three(one[name]) for name in ("adr_1", "adr_2"))]
        for one in list_records(truth)
    ]
    rows = table([["query", "documents", "groups", "ADR-1", "ADR-2"], *shown])
    return "\n".join([*sentences(truth)[:2], *rows])


def _three(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def asked_of(answers: Answers) -> str:
    """How much was asked of how many.

    >>> asked_of(Rankings.from_orders([("q", "ann", [["a"], ["b"]], [])]))
    '2 ranks by 1 expert'
    """
    if isinstance(answers, Rankings):
        return f"{_n(answers.n_ranks, 'rank')} by {_n(answers.n_experts, 'expert')}"
    return f"{_n(answers.n_answers, 'preference')} by {_n(len(answers.assessors), 'person')}"


def _borne_out(truth: GroundTruth, total: dict[str, Any]) -> str:
    one_tail, two_tails = total["adr_1"], total["adr_2"]
    if math.isnan(one_tail):
        return "No two documents of a list were compared, so that nothing can be said of consistency."
    they = "the list says" if len(truth) == 1 else "the lists say"
    mean = "" if len(truth) == 1 else "Mean "
    figures = f"{mean}ADR-1 consistency is {one_tail:.3f} (ADR-2 {two_tails:.3f})"
    if one_tail == 1 and not total["intra"] + total["inter"] + total["misordered"]:
        return f"{figures}: experts bear out everything that {they}."
    wrong = [
        f"{total['intra']:,} of {_n(total['pairs_within'], 'pair')} inside groups differ",
        f"{total['inter']:,} of {_n(total['pairs_between'], 'pair')} across groups do not",
    ]
    return f"{figures}: {', '.join(wrong)}, {total['misordered']:,} stand in the wrong order."


def _worst(truth: GroundTruth) -> list[str]:
    every = [(one.consistency(1), one.list.query) for one in truth.built]
    known = [(value, query) for value, query in every if not math.isnan(value)]
    if len(known) < 2 or max(known)[0] - min(known)[0] < SPLIT_HAIRS:
        return []
    (lowest, query), (highest, best) = min(known), max(known)
    return [f"The least consistent list is that of {query} ({lowest:.3f}), the most that of {best} ({highest:.3f})."]


def _triples(total: dict[str, Any]) -> list[str]:
    kinds = (
        ("alike", "alike in two pairs but not in the third"),
        ("ordered", "ordered in two pairs but not in the third"),
        ("circular", "going round in a circle"),
    )
    found = [f"{total[f'triples_{kind}']:,} {words}" for kind, words in kinds if total[f"triples_{kind}"]]
    if not found:
        return []
    return [f"No list can be right about all of {_n(total['triples'], 'triple')} of documents ({'; '.join(found)})."]


def _uncompared(truth: GroundTruth, total: dict[str, Any]) -> list[str]:
    n_compared = total["pairs_within"] + total["pairs_between"]
    n_pairs = sum(len(one.list) * (len(one.list) - 1) // 2 for one in truth.built)
    if n_compared == n_pairs:
        return []
    return [f"{n_compared:,} of {_n(n_pairs, 'pair')} of documents were compared; the others count neither way."]


def _n(n: int, noun: str) -> str:
    return f"{n:,} {noun if n == 1 else 'people' if noun == 'person' else noun + 's'}"
