"""An audit: its order, what it hears, and that its bets are fair, by going through all orders of a small collection."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.model.scales import BINARY, FINE
from adjudge.relevance import Session
from adjudge.relevance.audit import AuditTrail, _Bets, _discoveries, audit_order, audited_scoring
from adjudge.relevance.base import scoring, start
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.report import audit_section
from adjudge.relevance.simulation import true_scores
from adjudge.reporting.document import Paragraph

RUNS = {
    "a": {"q1": ["x", "y"]},
    "b": {"q1": ["y", "x"], "q2": ["w"]},
    "c": {"q1": ["y"], "q2": ["v", "w"]},
}
MEASURE = "DCG(ideal=max)@2"
ALPHA = 0.2


@pytest.fixture(scope="module")
def pool() -> Candidates:
    """Four candidates of different sizes."""
    return candidates(aj.read(RUNS), cutoff=2, scale=FINE)


def sizes_of(pool: Candidates) -> Floats:
    """Sums of weights, one by one: 1 at the first rank, 1 / log2(3) at the second."""
    found = dict.fromkeys(zip((pool.queries[q] for q in pool.query), pool.document, strict=True), 0.0)
    for run in RUNS.values():
        for query, documents in run.items():
            for rank, document in enumerate(documents):
                found[query, document] += 1 / np.log2(rank + 2)
    return np.array(list(found.values()))


def all_orders(sizes: Floats) -> Iterator[tuple[Ints, float]]:
    """Every order, and its probability when the next one is always drawn in proportion to its size."""
    for order in itertools.permutations(range(len(sizes))):
        drawn = sizes[list(order)]
        yield np.array(order), float(np.prod(drawn / np.cumsum(drawn[::-1])[::-1]))


def all_trails(pool: Candidates, relevance: Floats, measure: str = MEASURE) -> Iterator[tuple[AuditTrail, float]]:
    """What an audit hears in every order."""
    for order, probability in all_orders(sizes_of(pool)):
        trail = AuditTrail(pool, scoring(measure, FINE), order)
        trail.hear(relevance)
        yield trail, probability


def bets_of(trail: AuditTrail, truth: Floats) -> Iterator[tuple[_Bets, Floats]]:
    """All bets, and what is true."""
    a, b = np.array([0, 0, 1]), np.array([1, 2, 2])
    yield trail.of_scores(np.arange(3)), truth
    yield trail.of_differences(a, b), truth[a] - truth[b]
    for k in range(2):
        vectors, bets = trail.of_contrast(k)
        yield bets, (vectors @ truth)[:, None]


def capital_of(trail: AuditTrail, truth: Floats) -> Floats:
    """Capital of all bets on more and on less than the truth, turns x bets."""
    return np.concatenate(
        [side for bets, true in bets_of(trail, truth) for side in (bets.above(true), bets.below(true))], axis=1
    )


def exact(pool: Candidates, relevance: Floats) -> tuple[Floats, Floats]:
    """Expected capital after each turn, and the probability that it ever reaches 1 / alpha, over all orders."""
    truth = true_scores(replace(pool, relevance=relevance), scoring(MEASURE, FINE))
    expected, ever = np.zeros(()), np.zeros(())
    for trail, probability in all_trails(pool, relevance):
        capital = capital_of(trail, truth)
        expected, ever = (
            expected + probability * capital,
            ever + probability * (capital.max(axis=0) >= 1 / ALPHA),
        )
    return expected, ever


GRADES = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=4, max_size=4)


@settings(max_examples=6)
@given(GRADES)
def test_bets_on_the_truth_are_fair_and_alarms_rare_whatever_the_grades(pool: Candidates, grades: list[float]) -> None:
    """Capital of a fair bet is 1 on average after every turn, exactly; so Ville's inequality holds."""
    expected, ever = exact(pool, np.array(grades))
    np.testing.assert_allclose(expected, 1.0, rtol=1e-6)
    assert ever.max() <= ALPHA + 1e-12


def test_alarms_are_not_merely_impossible(pool: Candidates) -> None:
    """The test above would see an audit that raises false alarms: bets on the wrong side of the truth do."""
    relevance = np.array([1.0, 1.0, 0.0, 1.0])
    truth = true_scores(replace(pool, relevance=relevance), scoring(MEASURE, FINE)) - 0.2
    ever = sum(p * (capital_of(trail, truth).max(axis=0) >= 1 / ALPHA) for trail, p in all_trails(pool, relevance))
    assert np.max(ever) > ALPHA


def test_values_are_within_the_range_that_is_bet_on_and_bounds_hold_the_truth(pool: Candidates) -> None:
    relevance = np.array([1.0, 0.2, 0.0, 0.7])
    truth = true_scores(replace(pool, relevance=relevance), scoring(MEASURE, FINE))
    missed = np.zeros(3)
    for trail, probability in all_trails(pool, relevance):
        for bets, _ in bets_of(trail, truth):
            assert (bets.low <= bets.y + 1e-12).all()
            assert (bets.y <= bets.high + 1e-12).all()
        low, high = trail.of_scores(np.arange(3)).bounds(2 / ALPHA, np.zeros(3), np.ones(3))
        missed += probability * ((truth < low - 1e-6) | (truth > high + 1e-6))
    assert missed.max() <= ALPHA


def test_capital_by_hand() -> None:
    """On more than .5 with a range from 0: .8 wins .6 of the stake, .2 loses .6; shares are .25, .5 and .9."""
    bets = _Bets(np.array([[0.8], [0.2]]), np.zeros((2, 1)), np.ones((2, 1)))
    first, both = (np.mean([np.prod(won) for won in gains]) for gains in (
        [[1 + 0.6 * f] for f in (0.25, 0.5, 0.9)], [[1 + 0.6 * f, 1 - 0.6 * f] for f in (0.25, 0.5, 0.9)]
    ))  # fmt: skip
    np.testing.assert_allclose(bets.above(np.array([0.5]))[:, 0], [first, both])
    np.testing.assert_allclose(
        bets.below(np.array([0.5]))[:, 0], [np.mean([1 - 0.6 * f for f in (0.25, 0.5, 0.9)]), both]
    )


@pytest.mark.parametrize(
    ("evidence", "found"),
    [([50.0, 1.0, 21.0], [False, False, False]), ([61.0, 1.0, 21.0], [True, False, False]),
     ([31.0, 1.0, 30.0], [True, False, True]), ([1.0], [False])],
)  # fmt: skip
def test_false_discoveries_are_bounded_by_hand(evidence: list[float], found: list[bool]) -> None:
    """Of three claims at .05, one needs 60, two need 30 each."""
    assert _discoveries(np.array(evidence), 0.05).tolist() == found


# The order, and what is heard


def test_the_next_one_is_drawn_in_proportion_to_its_size(pool: Candidates) -> None:
    """First and second places over many seeds, against the probabilities of all orders."""
    orders = [audit_order(pool, scoring(MEASURE, FINE), seed) for seed in range(4000)]
    sizes = sizes_of(pool)
    counts = np.zeros((2, 4))
    for order in orders:
        counts[[0, 1], order[:2]] += 1
    second = sum((p * (np.arange(4) == order[1]) for order, p in all_orders(sizes)), np.zeros(4))
    np.testing.assert_allclose(counts / 4000, [sizes / sizes.sum(), second], atol=0.03)


def test_the_order_follows_from_names_and_seed_alone(pool: Candidates) -> None:
    turned = {name: RUNS[name] for name in reversed(RUNS)}
    again = candidates(aj.read(turned), cutoff=2, scale=FINE)
    order = audit_order(pool, scoring("CG@2", FINE), 3)
    assert order.tolist() == audit_order(again, scoring("CG@2", FINE), 3).tolist()
    assert any(order.tolist() != audit_order(pool, scoring("CG@2", FINE), seed).tolist() for seed in range(4, 8))


def test_what_nobody_retrieved_is_not_audited() -> None:
    judged = candidates(aj.read(RUNS, {"q1": {"x": 50, "z": 70}}, scale="fine"), cutoff=2)
    order = audit_order(judged, scoring("CG@2", FINE), 0)
    assert sorted(judged.document[i] for i in order) == ["v", "w", "x", "y"]


GRADE = {"x": 90, "y": 40, "v": 55, "w": 100}


def started(pool: Candidates, measure: str = "CG@2", **options: Any) -> Session:
    return Session(pool, measure, **options)


@settings(max_examples=20)
@given(st.permutations(range(4)), st.integers(0, 4), st.integers(0, 3))
def test_only_judgments_up_to_the_first_gap_are_heard_in_whatever_sequence_they_came(
    pool: Candidates, sequence: Sequence[int], n: int, seed: int
) -> None:
    """The same ones give the same audit to the last bit, judged in this session or before it."""
    session = started(pool, seed=seed)
    for place in sequence[:n]:
        query, document = session.pair(place)
        session.judge(query, document, GRADE[document])
    known = {session.pair(place): float(GRADE[session.pair(place)[1]]) for place in sequence[:n]}
    before = started(pool.judged_as(known), seed=seed)
    looked = started(pool, seed=seed)
    for place in sequence[:n]:
        query, document = looked.pair(place)
        looked.judge(query, document, GRADE[document])
        looked.audit()  # to look on the way changes nothing
    order = audit_order(pool, session.scoring, seed).tolist()
    gap = next((i for i, place in enumerate(order) if place not in sequence[:n]), len(order))
    assert session.audit().n_heard == gap
    assert session.audit() == looked.audit()
    heard, again = session.audit(), before.audit()
    assert [(row.audit_low, row.audit_high) for row in sorted(heard.rows, key=str) if row.other is None] == [
        (row.audit_low, row.audit_high) for row in sorted(again.rows, key=str) if row.other is None
    ]


def test_every_fourth_judgment_is_of_the_audit(pool: Candidates) -> None:
    session = started(pool, audit=0.25)
    order = [session.pair(int(place)) for place in audit_order(pool, session.scoring, 0)]
    for _ in range(3):
        query, document = session.next()[0]
        session.judge(query, document, GRADE[document])
    (left, *_) = [pair for pair in order if not session.model.judged[pool.find(*pair)]]
    assert session.next() == [left]


def test_a_batch_has_the_audit_at_its_turns_and_others_first(pool: Candidates) -> None:
    session, plain = started(pool, audit=0.5), started(pool)
    first, second, *_ = [session.pair(int(place)) for place in audit_order(pool, session.scoring, 0)]
    batch = session.next(4)
    assert (batch[1], batch[3], len(set(batch))) == (first, second, 4)
    assert [pair for pair in batch if pair not in (first, second)] == [
        pair for pair in plain.next(4) if pair not in (first, second)
    ][:2]
    taken = session.next(1, exclude=[first])  # somebody else has it: this is the second judgment, the audit's
    assert taken == [second]
    assert len(session.next(9)) == 4


def test_sessions_without_an_audit_ask_as_before(pool: Candidates) -> None:
    assert started(pool).next(4) == started(pool, audit=0.0).next(4)
    with pytest.raises(AdjudgeError, match=r"'audit' must be in \[0, 1\), got 1"):
        started(pool, audit=1.0)


def test_a_saved_session_goes_on_with_its_audit(pool: Candidates, tmp_path: Path) -> None:
    session = started(pool, audit=0.5)
    for query, document in session.next(3):
        session.judge(query, document, GRADE[document])
    session.save(tmp_path / "state.json")
    resumed = Session.load(tmp_path / "state.json", pool)
    assert (resumed.next(), resumed.audit()) == (session.next(), session.audit())
    state = json.loads((tmp_path / "state.json").read_text())
    del state["audit"]  # as version 1.0 wrote it
    (tmp_path / "old.json").write_text(json.dumps(state))
    assert Session.load(tmp_path / "old.json", pool).audit_share == 0


def test_corrections_are_heard(pool: Candidates) -> None:
    session, right = started(pool), started(pool)
    order = [session.pair(int(place)) for place in audit_order(pool, session.scoring, 0)]
    for query, document in order[:3]:
        session.judge(query, document, 100 - GRADE[document])
        right.judge(query, document, GRADE[document])
    session.audit()
    for query, document in order[:3]:
        session.correct(query, document, GRADE[document])
    assert session.audit() == right.audit()


# What it says


def collection() -> Candidates:
    found = candidates(aj.demo(queries=12, depth=5), cutoff=5).retrieved()
    return replace(found, relevance=np.nan_to_num(found.relevance))


def judged(session: Session, known: Candidates, n: int) -> Session:
    for _ in range(n):
        ((query, document),) = session.next()
        session.judge(query, document, float(known.relevance[known.find(query, document)]) * 100)
    return session


def wrong(change: Callable[[Floats], Floats]) -> Any:
    """An estimator whose scores are wrong."""

    def begin(candidates: Candidates, scoring: Any, **options: Any) -> Any:
        model = start("hierarchical", candidates, scoring)
        honest = model.scores
        model.scores = lambda: replace(honest(), mean=change(honest().mean))  # type: ignore[method-assign]
        return model

    return begin


def test_a_model_that_is_wrong_is_contradicted_and_one_that_is_right_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    known = collection()
    honest = judged(Session(known.unjudged(), "CG@5", audit=0.5), known, 120).audit()
    assert not honest.contradicted
    assert honest.evidence < 5
    assert "not contradicted" in honest.title
    assert not any(row.verdict == "contradicted" for row in honest.rows)
    for change in (lambda mean: mean + 0.3, lambda mean: mean - 0.3):
        monkeypatch.setitem(aj.relevance.ESTIMATORS._members, "wrong", wrong(change))
        found = judged(Session(known.unjudged(), "CG@5", estimator="wrong", audit=0.5), known, 120).audit()
        assert found.contradicted
        assert found.title.startswith("Audit of CG@5: contradicted")
        assert found.rows[0].verdict == "contradicted"


def test_all_heard_bounds_hold_and_clear_differences_are_confirmed_in_their_true_order() -> None:
    known = collection()
    audit = Session(known, "CG@5").audit()
    true = dict(zip(known.systems, true_scores(known, scoring("CG@5", FINE)), strict=True))
    assert audit.n_heard == audit.n_candidates == len(known)
    for row in audit.rows:
        if row.kind in ("score", "difference"):
            score = true[row.system] - (true[row.other] if row.other else 0.0)
            assert row.audit_low - 1e-5 <= score <= row.audit_high + 1e-5
    pairs = [(true[row.system] - true[str(row.other)], row.verdict) for row in audit.rows if row.kind == "difference"]
    assert {verdict for apart, verdict in pairs if apart > 0.15} == {"confirmed"}
    assert all(apart >= -0.01 for apart, verdict in pairs if verdict == "confirmed")
    assert not any(verdict == "contradicted" for _, verdict in pairs)


def test_bounds_of_halves_do_not_rest_on_the_model_that_chose_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that has the order upside down: what the audit alone says of its halves is nothing."""
    known = collection()
    monkeypatch.setitem(aj.relevance.ESTIMATORS._members, "wrong", wrong(lambda mean: 2 * mean.mean() - mean))
    for n in (40, 120):
        audit = judged(Session(known.unjudged(), "CG@5", estimator="wrong", audit=0.5), known, n).audit()
        (halves,) = [row for row in audit.rows if row.kind == "halves"]
        assert (halves.audit_low, halves.audit_high) == (-1.0, 1.0)


def bounds_of_scores(session: Session) -> dict[str, tuple[float, float]]:
    """What the audit alone says of scores."""
    return {
        row.system: (row.audit_low, row.audit_high) for row in session.audit().rows if row.kind in ("mean", "score")
    }


def test_of_several_opinions_the_first_is_heard_whenever_somebody_looks() -> None:
    """Second opinions change nothing that was heard, given in this session or before it."""
    known = collection()
    session = Session(known.unjudged(), "CG@5", per_pair=2, seed=1)
    order = [session.pair(int(place)) for place in audit_order(known, session.scoring, 1)]
    for query, document in order[:30]:
        session.judge(query, document, 100 * float(known.relevance[known.find(query, document)]), "b")
    before = bounds_of_scores(session)
    for query, document in order[:20]:
        session.judge(query, document, 0, "a")  # before "b" by name
    given = {(known.find(q, d), who): known.to_relevance(grade) for q, d, grade, who in session.judgments}  # type: ignore[misc]
    later = Session(known.with_answers(given), "CG@5", per_pair=2, seed=1)
    for looked in (session, later):
        assert bounds_of_scores(looked) == before
    in_a_file = known.with_answers(given).answers
    assert in_a_file is not None
    unordered = replace(
        known, relevance=in_a_file.mean(len(known)), answers=replace(in_a_file, turn=0 * in_a_file.turn)
    )
    assert bounds_of_scores(Session(unordered, "CG@5", per_pair=2, seed=1)) != before
    np.testing.assert_array_equal(unordered.first_relevance(), unordered.relevance)


def test_of_ratios_the_model_that_is_audited_knows_assessors() -> None:
    known = collection()
    session = Session(known.unjudged(), "nDCG@5", per_pair=2)
    for query, document in session.next(60):
        grade = 100 * float(known.relevance[known.find(query, document)])
        session.judge(query, document, grade, "a")
        session.judge(query, document, max(grade - 20, 0), "b")
    exact = Session(
        known.with_answers({(pair, ""): value for (pair, _), value in session.model.answers.items()}), "nDCG@5"
    )
    half, narrow = (
        np.mean([row.high - row.low for row in s.audit().rows if row.kind == "score"]) for s in (session, exact)
    )
    assert half > narrow


def test_of_ratios_the_numerator_is_audited() -> None:
    known = collection()
    session = judged(Session(known.unjudged(), "nDCG@5", audit=0.3), known, 60)
    audited = audited_scoring(session.scoring)
    assert audited.divisor == pytest.approx(sum(1 / np.log2(rank + 1) for rank in range(1, 6)))
    audit = session.audit()
    assert audit.title.startswith("Audit of the numerator of nDCG@5: not contradicted")
    true = true_scores(known, audited)
    assert audit.rows[0].audit_low <= true.mean() <= audit.rows[0].audit_high


@pytest.mark.parametrize("measure", ["AP@5", "RR@5", "ERR@5", "Q@5", "GAP@5", "nDCG(gain=exp)@5"])
def test_of_measures_like_ap_relevance_by_the_weights_of_ranks_is_audited(measure: str) -> None:
    known = replace(collection(), scale=BINARY)
    known = replace(known, relevance=np.rint(known.relevance))
    audit = Session(known, measure).audit()
    assert audit.n_heard == len(known)
    assert not audit.contradicted
    worth = scoring(measure, BINARY).weights
    relevance = known.relevance[known.entry_pair] * worth[known.entry_rank - 1]
    expected = np.bincount(known.entry_system, relevance, minlength=known.n_systems) / worth.sum() / known.n_queries
    claims = {row.system: row.expected for row in audit.rows[2 : 2 + known.n_systems]}
    assert claims == pytest.approx(dict(zip(known.systems, expected, strict=True)))


@pytest.mark.parametrize("measure", ["nDCG@2", "RR@2"])
def test_known_item_search_is_audited(measure: str) -> None:
    pool = candidates(aj.read(RUNS), cutoff=2, scale=BINARY)
    session = Session(pool, measure, estimator="known_item", audit=0.5)
    for query, document in (("q1", "x"), ("q1", "y"), ("q2", "v"), ("q2", "w")):
        session.judge(query, document, float(document == "w"))
    audit, worth = session.audit(), scoring(measure, BINARY).weights
    claims = {row.system: row.expected for row in audit.rows if row.system in RUNS and row.other is None}
    ranks = {"b": 0, "c": 1}  # of the one relevant document
    expected = {name: worth[ranks[name]] / worth.sum() / 2 if name in ranks else 0.0 for name in RUNS}
    assert claims == pytest.approx(expected)


def test_nothing_heard_says_nothing(pool: Candidates) -> None:
    audit = started(pool).audit()
    assert (audit.evidence, audit.detectable, audit.path) == (1.0, None, ())
    assert {(row.audit_low, row.audit_high) for row in audit.rows if row.other is None} == {(0.0, 1.0)}
    with pytest.raises(AdjudgeError, match="a figure of an audit needs audited judgments"):
        audit.figure()
    single = Session(candidates(aj.read({"a": RUNS["a"]}), cutoff=2, scale=FINE), "CG@2")
    single.judge("q1", "x", 50)
    assert [row.system for row in single.audit().rows] == ["mean of all systems", "a"]


def test_the_section_says_what_was_found_and_what_could_have_been() -> None:
    known = collection()
    audit = judged(Session(known.unjudged(), "CG@5", audit=0.5), known, 120).audit()
    text = " ".join(block.text for block in audit_section(audit).blocks if isinstance(block, Paragraph))
    assert f"not contradicted after {audit.n_heard} audited judgments" in text
    assert f"wrong by {audit.detectable:.2f} would have been found with probability 0.8" in text
    assert "the probability that it ever reaches 20 is 0.05 at most" in text
