"""What is to be said of lists: one record a query, totals, and sentences."""

from __future__ import annotations

import math
from typing import Any

from adjudge.groundtruth.building import Answers, BuiltList, GroundTruth
from adjudge.groundtruth.evidence import Tails
from adjudge.groundtruth.rankings import Rankings
from adjudge.words import counted

SPLIT_HAIRS = 0.005
"""Lists whose consistencies are nearer than this are not called better and worse."""


def list_record(built: BuiltList, *, tails: Tails = 1) -> dict[str, Any]:
    """One list in numbers: its size, its consistency, what contradicts it.

    ``intra``, ``inter`` and ``misordered`` count pairs by tests with ``tails``; ``pairs_within`` and ``pairs_between``
    are how many there could be. Triples are of three kinds, see
    :class:`~adjudge.groundtruth.consistency.Triples`; ``triples_broken`` are of any, of ``triples`` wholly compared.
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
        "triples_alike": triples.alike,
        "triples_ordered": triples.ordered,
        "triples_circular": triples.circular,
        "triples_broken": triples.broken,
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
    return [made, borne_out, *_undivided(truth), *_uncompared(truth, total), *_worst(truth), *_triples(total)]


def _made(truth: GroundTruth, total: dict[str, Any], answers: Answers | None) -> str:
    size = f"{counted(total['documents'], 'document')} in {counted(total['groups'], 'group')}"
    made = truth.made_by if answers is None else f"{truth.made_by}, {_given(truth, answers)}"
    return f"{counted(len(truth), 'list')} of {size}, {made}."


def _given(truth: GroundTruth, answers: Answers) -> str:
    """The answers about the queries that have a list; lists from elsewhere were not made from them."""
    about = answers.without({one.query for one in answers.queries} - set(truth))
    return f"{'measured by' if truth.construction is None else 'from'} {asked_of(about)}"


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
        return f"{counted(answers.n_ranks, 'rank')} by {counted(answers.n_experts, 'expert')}"
    people = len({who for one in answers.queries for who in one.assessor.tolist()} - {-1})
    return counted(answers.n_answers, "preference") + (f" by {counted(people, 'person')}" if people else "")


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
        f"{total['intra']:,} of {counted(total['pairs_within'], 'pair')} inside groups "
        f"{'differs' if total['intra'] == 1 else 'differ'}",
        f"{total['inter']:,} of {counted(total['pairs_between'], 'pair')} across groups "
        f"{'does' if total['inter'] == 1 else 'do'} not",
    ]
    stand = "stands" if total["misordered"] == 1 else "stand"
    return f"{figures}: {', '.join(wrong)}, {total['misordered']:,} {stand} in the wrong order."


def _undivided(truth: GroundTruth) -> list[str]:
    """A list of one group is wholly consistent where no two documents differ; that is no news about the documents."""
    alike = [
        one.list.query
        for one in truth.built
        if len(one.list) > 1 and not one.evidence.differs(one.alpha, 1).any() and one.evidence.compared.any()
    ]
    if not alike:
        return []
    where = "" if len(truth) == 1 else f" of {_named(alike)}"
    why = "people see no difference, disagree, or are too few to show one"
    return [f"No two documents{where} differ significantly (α = {truth.alpha:g}): {why}."]


def _named(queries: list[str]) -> str:
    """A few names.

    >>> _named(["q1", "q2", "q3", "q4", "q5"])
    'q1, q2, q3 and 2 more queries'
    """
    if len(queries) > 4:
        return f"{', '.join(queries[:3])} and {len(queries) - 3} more queries"
    return ", ".join(queries[:-1]) + (" and " if len(queries) > 1 else "") + queries[-1]


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
    triples = counted(total["triples"], "triple")
    kinds_found = ", ".join(found) if len(found) > 1 else found[0].partition(" ")[2]
    none = f"{total['triples_broken']:,} cannot be put right by any list: {kinds_found}"
    return [f"Of {triples} of documents compared with one another, {none}."]


def _uncompared(truth: GroundTruth, total: dict[str, Any]) -> list[str]:
    n_compared = total["pairs_within"] + total["pairs_between"]
    n_pairs = sum(len(one.list) * (len(one.list) - 1) // 2 for one in truth.built)
    if n_compared == n_pairs:
        return []
    return [f"{n_compared:,} of {counted(n_pairs, 'pair')} of documents were compared; the others count neither way."]
