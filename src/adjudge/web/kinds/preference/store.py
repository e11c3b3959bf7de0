"""What a preference campaign stores: questions about two lists, attention checks among them, and their order.

A question is a row of ``pair`` under its own name, its lists are rows of ``listed``; what is known about it (the right
answers of an attention check, grades, systems) is in ``pair.details``. Batches and the queue are drawn from the
campaign's seed when it opens. ``preference_checks`` finds lists with gaps, answers and leases that do not fit them, and
outcomes that contradict answers.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection, func, select

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, shown
from adjudge.preferences.questions import CHOICES, Combination, Question, Questions
from adjudge.users.combinations import RelevanceScale
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.preference.settings import PreferenceSettings, settings_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, locked, log_event, refuse_unless_draft
from adjudge.web.store.items import NewQuestion, check_text, lay_listed, replace_asked
from adjudge.web.store.recruiting import OUTCOMES

if TYPE_CHECKING:
    from adjudge.preferences.questions import Questions


def question_files(paths: Sequence[Path]) -> tuple[Questions, list[tuple[str, str]]]:
    """The questions of several files as one, such as questions and attention checks; and each file with its digest."""
    from adjudge.preferences.files import read_questions
    from adjudge.preferences.questions import joined

    read = [read_questions(path) for path in paths]
    inputs = [(str(path), hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]
    return read[0] if len(read) == 1 else joined(read), inputs


LONGEST_LIST = 12
"""Documents of a list at most: nobody listens to more of them twice."""
MOST_QUESTIONS = 100_000
"""Questions and attention checks of a campaign at most: storing them takes seconds, in which nobody else can write."""


def put_questions(
    connection: Connection,
    campaign: Campaign,
    questions: Questions,
    *,
    inputs: Sequence[tuple[str, str]] = (),
    who: str = "command line",
    now: float,
) -> None:
    """Keep these questions and attention checks instead of what was there; ``inputs`` are their files, with digests.

    What has an expected answer is an attention check. Only a draft takes questions.
    """
    refuse_unless_draft(connection, locked(connection, campaign), "questions")
    n_traps = sum(question.is_trap for question in questions.questions)
    _check(campaign, questions, n_traps)
    replace_asked(connection, campaign, [_asked(campaign, questions, place) for place in range(len(questions))])
    details = {"questions": len(questions) - n_traps, "traps": n_traps, "inputs": [list(given) for given in inputs]}
    log_event(connection, campaign.id, who=who, what="questions", details=details, now=now)


def _check(campaign: Campaign, questions: Questions, n_traps: int) -> None:
    """Refuse what cannot be asked."""
    if n_traps == len(questions):
        raise Refused(f"Expected questions, got {f'{n_traps:,} attention checks and no other' if n_traps else 'none'}.")
    if len(questions) > MOST_QUESTIONS:
        raise Refused(f"Expected at most {MOST_QUESTIONS:,} questions, got {len(questions):,}.")
    check_quiz(settings_of(campaign).quiz, n_traps)
    check_combinations(settings_of(campaign).combinations, list(questions.grades))
    for question in questions.questions:
        check_text("the name of a question", question.name, 400)
        check_text("the query", question.query, 400)
        for side, documents in zip("ab", question.lists, strict=True):
            if len(documents) > LONGEST_LIST:
                raise Refused(
                    f"Question {shown(question.name)}: expected at most {LONGEST_LIST} documents in list {side}, "
                    f"got {len(documents)}."
                )
            for document in documents:
                check_text("the document", document, 400)
        for system in question.systems or ():
            check_text("the system", system, 200)


def check_quiz(wanted: int, n_traps: int) -> None:
    """Refuse a quiz of more attention checks than there are: nobody is asked one twice."""
    if n_traps < wanted:
        raise Refused(
            f"The quiz wants {wanted} attention checks, and there {_are(n_traps)}; give more, or a shorter quiz."
        )


def check_combinations(wanted: Iterable[str], scales: Sequence[str] | None = None) -> None:
    """Refuse what is no measure on a scale, or is on a scale that the questions have no grades on, where known."""
    for text in wanted:
        try:
            origin = str(RelevanceScale(Combination.parse(text).relevance.origin))
        except AdjudgeError as error:
            raise Refused(str(error)) from None
        if scales is not None and origin not in scales:
            have = ", ".join(scales) or "no grades"
            raise Refused(f"{text} needs grades on {origin}; the questions have {have}.")


def _are(number: int) -> str:
    return "is 1" if number == 1 else f"are {number or 'none'}"


def _asked(campaign: Campaign, questions: Questions, place: int) -> NewQuestion:
    """A question or attention check as it is stored."""
    question = questions.questions[place]
    grades = {
        scale: [_plain(array[place, side, : len(documents)]) for side, documents in enumerate(question.lists)]
        for scale, array in questions.grades.items()
    }
    details = {
        "expected": sorted(question.expected),
        "grades": grades,
        "systems": None if question.systems is None else list(question.systems),
    }
    lists = dict(zip("ab", question.lists, strict=True))
    role, wanted = ("trap", 0) if question.is_trap else ("question", campaign.settings.judged_by)
    return NewQuestion(question.name, question.query, lists, role, wanted, details)


def _plain(grades: Floats) -> list[float | None]:
    """Grades as JSON has them: what is unjudged is null."""
    return [None if np.isnan(grade) else float(grade) for grade in grades]


def questions_of(connection: Connection, campaign_id: int) -> Questions:
    """Questions and attention checks in the order in which they were given."""
    return questions_and_ids(connection, campaign_id)[0]


def questions_and_ids(connection: Connection, campaign_id: int) -> tuple[Questions, list[int]]:
    """Questions and attention checks in the order in which they were given, and the number of the row of each."""
    columns = (t.pair.c.id, t.pair.c.query, t.pair.c.document, t.pair.c.details)
    rows = connection.execute(select(*columns).where(t.pair.c.campaign_id == campaign_id).order_by(t.pair.c.id)).all()
    lists: dict[tuple[int, str], list[str]] = defaultdict(list)
    inside = (
        select(t.listed.c.pair_id, t.listed.c.side, t.item.c.identifier)
        .join(t.item, t.item.c.id == t.listed.c.item_id)
        .join(t.pair, t.pair.c.id == t.listed.c.pair_id)
        .where(t.pair.c.campaign_id == campaign_id)
        .order_by(t.listed.c.pair_id, t.listed.c.side, t.listed.c.rank)
    )
    for pair_id, side, document in connection.execute(inside):
        lists[pair_id, side].append(document)
    made = []
    for row in rows:
        systems = row.details["systems"]
        two = None if systems is None else (systems[0], systems[1])
        a, b = (tuple(lists[row.id, side]) for side in "ab")
        made.append(Question(row.document, row.query, a, b, frozenset(row.details["expected"]), two))
    plain = Questions(tuple(made))
    grades = _grades([row.details["grades"] for row in rows], plain.n_ranks)
    return Questions(plain.questions, grades), [row.id for row in rows]


def _grades(stored: Sequence[Mapping[str, list[list[float | None]]]], n_ranks: int) -> dict[str, Floats]:
    """Arrays (questions, 2, ranks) by scale."""
    scales = dict.fromkeys(scale for grades_of in stored for scale in grades_of)
    arrays = {scale: np.full((len(stored), 2, n_ranks), np.nan) for scale in scales}
    for place, grades_of in enumerate(stored):
        for scale, sides in grades_of.items():
            for side, values in enumerate(sides):
                arrays[scale][place, side, : len(values)] = np.array(values, dtype=np.float64)  # None becomes NaN
    return arrays


def count_questions(connection: Connection, campaign_id: int) -> tuple[int, int]:
    """How many questions there are, and how many attention checks."""
    query = select(t.pair.c.role, func.count().label("n")).where(t.pair.c.campaign_id == campaign_id)
    counted: dict[str, int] = {row.role: row.n for row in connection.execute(query.group_by(t.pair.c.role))}
    return counted.get("question", 0), counted.get("trap", 0)


def question_scales(connection: Connection, campaign_id: int) -> list[str] | None:
    """The scales that questions have grades on; None where there are no questions."""
    first = select(t.pair.c.details).where(t.pair.c.campaign_id == campaign_id).order_by(t.pair.c.id).limit(1)
    details = connection.execute(first).scalar_one_or_none()
    return None if details is None else list(details["grades"])  # every question has all of them


def lay_questions(connection: Connection, campaign: Campaign) -> None:
    """Divide the questions into batches and lay the queue: begun ones first, then by batch, in an order of the seed."""
    size = settings_of(campaign).batch_size
    lay_listed(connection, campaign, lambda place, n: place // (size or max(1, n)))


_ANSWERED_AS = {"question": ("judgment", "repeat", "skip"), "trap": ("trap", "skip")}
_COMPARED = tuple(_ANSWERED_AS)


def preference_checks(connection: Connection) -> tuple[Iterator[str], ...]:
    """What is wrong with questions, their leases and answers, and the people, one kind of fault after the other."""
    return _lists(connection), _sides(connection), _choices(connection), _people(connection)


def _lists(connection: Connection) -> Iterator[str]:
    """Whether each question has both lists, without holes, and whether attention checks say what is right."""
    ranks: dict[tuple[int, str], list[int]] = defaultdict(list)
    for row in connection.execute(select(t.listed).order_by(t.listed.c.pair_id, t.listed.c.side, t.listed.c.rank)):
        ranks[row.pair_id, row.side].append(row.rank)
    columns = (
        t.pair.c.id,
        t.pair.c.document,
        t.pair.c.role,
        t.pair.c.details,
        t.pair.c.wanted,
        t.pair.c.document_item_id,
    )
    query = select(*columns, t.campaign.c.name).join(t.campaign, t.campaign.c.id == t.pair.c.campaign_id)
    for row in connection.execute(query.order_by(t.pair.c.id)):
        where = f"{row.name}: {row.role} {row.document!r}"
        if row.role not in _COMPARED:
            if (row.id, "a") in ranks or (row.id, "b") in ranks:
                yield f"{where}: expected no lists to compare"
            continue
        if row.document_item_id is not None:
            yield f"{where}: expected lists, not one document"
        for side in "ab":
            there = ranks.get((row.id, side), [])
            if there != list(range(1, len(there) + 1)) or not there:
                yield f"{where}: expected list {side} to have ranks 1, 2, …, got {there or 'none'}"
        expected = (row.details or {}).get("expected") or []
        if not set(expected) <= set(CHOICES) or bool(expected) != (row.role == "trap"):
            yield f"{where}: expected right answers of checks only, among {', '.join(CHOICES)}, got {expected}"
        if row.role == "trap" and row.wanted:
            yield f"{where}: is wanted {row.wanted} times; attention checks are never counted"


def _sides(connection: Connection) -> Iterator[str]:
    """Whether leases say which list stood first where there are lists, and only there."""
    query = select(t.lease.c.id, t.lease.c.swapped, t.pair.c.role)
    for row in connection.execute(query.join(t.pair, t.pair.c.id == t.lease.c.pair_id)):
        if (row.swapped is None) != (row.role not in _COMPARED):
            yield f"lease {row.id}: expected it to say which list stood first {_where(row.role)}"


def _where(role: str) -> str:
    return "as lists are compared" if role in _COMPARED else "only where lists are compared"


def _choices(connection: Connection) -> Iterator[str]:
    """Whether answers about lists are possible ones, of the right kind, and name the list that stood first."""
    columns = (t.answer.c.id, t.answer.c.kind, t.answer.c.grades, t.answer.c.heard, t.pair.c.role, t.lease.c.swapped)
    query = select(*columns).join(t.pair, t.pair.c.id == t.answer.c.pair_id)
    query = query.outerjoin(t.lease, t.lease.c.id == t.answer.c.lease_id).where(t.pair.c.role.in_(_COMPARED))
    for row in connection.execute(query.order_by(t.answer.c.id)):
        if row.kind not in _ANSWERED_AS[row.role]:
            yield f"answer {row.id}: a {row.role} is answered as {row.kind}"
        choice = (row.grades or {}).get("choice")
        if row.kind != "skip" and choice not in CHOICES:
            yield f"answer {row.id}: expected a choice among {', '.join(CHOICES)}, got {choice!r}"
        first = (row.heard or {}).get("first")
        if row.swapped is not None and first != ("b" if row.swapped else "a"):
            yield f"answer {row.id}: says that list {first} stood first, which its lease does not"


def _people(connection: Connection) -> Iterator[str]:
    """Whether ended parts are ended: with a time and a reason, and with nothing in hand."""
    in_hand = set(connection.execute(select(t.lease.c.participant_id).where(t.lease.c.ended_at.is_(None))).scalars())
    columns = ("id", "code", "outcome", "outcome_at", "set_aside_at", "set_aside_why", "erased_at", "recruited_as")
    query = select(*(t.participant.c[name] for name in columns), t.campaign.c.name)
    for row in connection.execute(query.join(t.campaign, t.campaign.c.id == t.participant.c.campaign_id)):
        where = f"{row.name}: participant {row.code}"
        if row.outcome not in (None, *OUTCOMES):
            yield f"{where}: expected an outcome among {', '.join(OUTCOMES)}, got {row.outcome!r}"
        if (row.outcome is None) != (row.outcome_at is None):
            yield f"{where}: an outcome and its time go together"
        if (row.set_aside_at is None) != (row.set_aside_why is None):
            yield f"{where}: being excluded and its reason go together"
        if row.erased_at is not None and row.recruited_as is not None:
            yield f"{where}: was erased, and is still known to the recruiter"
        if (row.outcome is not None or row.set_aside_at is not None) and row.id in in_hand:
            yield f"{where}: their part has ended, and something is in their hands"


def missing_way_back(settings: PreferenceSettings) -> str | None:
    """What people of the recruiter would lack at the end of their part, in a sentence; None where nothing is missing.

    >>> recruited = PreferenceSettings.parse({"title": "Demo", "recruiter": {"kind": "prolific"}, "quiz": 0})
    >>> print(missing_way_back(recruited))
    People from Prolific need a completion code however their part ends; there is none for done, failed.
    """
    missing = ", ".join(settings.without_way_back()).replace("_", " ")
    if not missing:
        return None
    if settings.recruiter.kind == "prolific":
        who, what, none = "Prolific", "a completion code", "none"
    else:
        who, what, none = "a recruiter", "a completion code or an address", "neither"
    return f"People from {who} need {what} however their part ends; there is {none} for {missing}."


def refuse_other_recruiter(connection: Connection, campaign: Campaign, settings: PreferenceSettings) -> None:
    """Refuse settings by which people who were recruited would not be known again, or find no way back."""
    before, after = settings_of(campaign).recruiter, settings.recruiter
    if (before.kind, before.expected[:1]) != (after.kind, after.expected[:1]):
        somebody = select(t.participant.c.id).where(
            t.participant.c.campaign_id == campaign.id, t.participant.c.recruited_as.is_not(None)
        )
        if connection.execute(somebody.limit(1)).first() is not None:
            raise Conflict(
                "The recruiter, and the parameter that identifies a person, cannot be changed once somebody was "
                "recruited: whoever comes again would be somebody new."
            )
    taken_away = set(settings.without_way_back()) - set(settings_of(campaign).without_way_back())
    missing = missing_way_back(settings)
    if campaign.state != "draft" and taken_away and missing is not None:
        raise Refused(missing)
