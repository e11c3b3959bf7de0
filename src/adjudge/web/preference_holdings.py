"""What a preference campaign holds: questions about two lists, traps among them, and the order in which they are asked.

A question is a row of ``pair`` under its own name, its lists are rows of ``listed``; what is known about it (the right
answers of a trap, grades, systems) is kept in ``pair.details``. Documents of lists are rows from the moment a question
names them, and can be asked about once there is something to hear, read or see. Batches and the queue are drawn from
the campaign's seed when it opens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from sqlalchemy import Connection, func, select

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, shown
from adjudge.preferences.questions import Combination, Question, Questions
from adjudge.users.combinations import RelevanceScale
from adjudge.web.campaign_rows import Campaign, locked, log_event, refuse_unless_draft
from adjudge.web.errors import Refused
from adjudge.web.items import check_text
from adjudge.web.listed_holdings import Asked, lay_listed, replace_asked
from adjudge.web.schema import item, listed, pair

LONGEST_LIST = 12
"""So many documents a list has at most: nobody listens to more of them twice."""
MOST_QUESTIONS = 100_000
"""So many questions and traps a campaign has at most: storing them takes seconds, in which nobody else can write."""


def put_questions(
    connection: Connection,
    found: Campaign,
    questions: Questions,
    *,
    inputs: Sequence[tuple[str, str]] = (),
    who: str = "command line",
    now: float,
) -> None:
    """Keep these questions and traps instead of those that were there; ``inputs`` are their files, with digests.

    What has an expected answer is a trap. Only a draft takes questions.
    """
    refuse_unless_draft(connection, locked(connection, found), "questions")
    n_traps = sum(one.is_trap for one in questions.questions)
    _check(found, questions, n_traps)
    replace_asked(connection, found, [_asked(found, questions, place) for place in range(len(questions))])
    details = {"questions": len(questions) - n_traps, "traps": n_traps, "inputs": [list(given) for given in inputs]}
    log_event(connection, found.id, who=who, what="questions", details=details, now=now)


def _check(found: Campaign, questions: Questions, n_traps: int) -> None:
    """Refuse what cannot be asked."""
    if n_traps == len(questions):
        raise Refused(f"Expected questions, got {f'{n_traps:,} traps and no other' if n_traps else 'none'}.")
    if len(questions) > MOST_QUESTIONS:
        raise Refused(f"Expected at most {MOST_QUESTIONS:,} questions, got {len(questions):,}.")
    check_quiz(found.preference.quiz, n_traps)
    check_combinations(found.preference.combinations, list(questions.grades))
    for one in questions.questions:
        check_text("the name of a question", one.name, 400)
        check_text("the query", one.query, 400)
        for side, documents in zip("ab", one.lists, strict=True):
            if len(documents) > LONGEST_LIST:
                raise Refused(
                    f"Question {shown(one.name)}: expected at most {LONGEST_LIST} documents in list {side}, "
                    f"got {len(documents)}."
                )
            for document in documents:
                check_text("the document", document, 400)
        for system in one.systems or ():
            check_text("the system", system, 200)


def check_quiz(wanted: int, n_traps: int) -> None:
    """Refuse a quiz of more traps than there are: nobody is asked one twice."""
    if n_traps < wanted:
        raise Refused(f"The quiz wants {wanted} traps, and there {_are(n_traps)}; give more traps, or a shorter quiz.")


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


def _asked(found: Campaign, questions: Questions, place: int) -> Asked:
    """A question or trap as it is stored."""
    one = questions.questions[place]
    grades = {
        scale: [_plain(array[place, side, : len(documents)]) for side, documents in enumerate(one.lists)]
        for scale, array in questions.grades.items()
    }
    details = {
        "expected": sorted(one.expected),
        "grades": grades,
        "systems": None if one.systems is None else list(one.systems),
    }
    lists = dict(zip("ab", one.lists, strict=True))
    role, wanted = ("trap", 0) if one.is_trap else ("question", found.settings.judged_by)
    return Asked(one.name, one.query, lists, role, wanted, details)


def _plain(grades: Floats) -> list[float | None]:
    """Grades as JSON has them: what is unjudged is null."""
    return [None if np.isnan(grade) else float(grade) for grade in grades]


def questions_of(connection: Connection, campaign_id: int) -> Questions:
    """Questions and traps in the order in which they were given."""
    return questions_and_ids(connection, campaign_id)[0]


def questions_and_ids(connection: Connection, campaign_id: int) -> tuple[Questions, list[int]]:
    """Questions and traps in the order in which they were given, and the number of the row of each."""
    columns = (pair.c.id, pair.c.query, pair.c.document, pair.c.details)
    rows = connection.execute(select(*columns).where(pair.c.campaign_id == campaign_id).order_by(pair.c.id)).all()
    lists: dict[tuple[int, str], list[str]] = defaultdict(list)
    inside = (
        select(listed.c.pair_id, listed.c.side, item.c.identifier)
        .join(item, item.c.id == listed.c.item_id)
        .join(pair, pair.c.id == listed.c.pair_id)
        .where(pair.c.campaign_id == campaign_id)
        .order_by(listed.c.pair_id, listed.c.side, listed.c.rank)
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
    scales = dict.fromkeys(scale for one in stored for scale in one)
    arrays = {scale: np.full((len(stored), 2, n_ranks), np.nan) for scale in scales}
    for place, one in enumerate(stored):
        for scale, sides in one.items():
            for side, values in enumerate(sides):
                arrays[scale][place, side, : len(values)] = np.array(values, dtype=np.float64)  # None becomes NaN
    return arrays


def count_questions(connection: Connection, campaign_id: int) -> tuple[int, int]:
    """How many questions there are, and how many traps."""
    query = select(pair.c.role, func.count().label("n")).where(pair.c.campaign_id == campaign_id)
    counted: dict[str, int] = {row.role: row.n for row in connection.execute(query.group_by(pair.c.role))}
    return counted.get("question", 0), counted.get("trap", 0)


def question_scales(connection: Connection, campaign_id: int) -> list[str] | None:
    """The scales that questions have grades on; None where there are no questions."""
    first = select(pair.c.details).where(pair.c.campaign_id == campaign_id).order_by(pair.c.id).limit(1)
    details = connection.execute(first).scalar_one_or_none()
    return None if details is None else list(details["grades"])  # every question has all of them


def lay_questions(connection: Connection, found: Campaign) -> None:
    """Divide the questions into batches and lay the queue: begun ones first, then by batch, in an order of the seed."""
    size = found.preference.batch_size
    lay_listed(connection, found, lambda place, n: place // (size or max(1, n)))
