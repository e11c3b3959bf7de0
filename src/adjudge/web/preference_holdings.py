"""What a preference campaign holds: questions about two lists, traps among them, and the order in which they are asked.

A question is a row of ``pair`` under its own name, its lists are rows of ``listed``; what is known about it (the right
answers of a trap, grades, systems) is kept in ``pair.details``. Documents of lists are rows from the moment a question
names them, and can be asked about once there is something to hear, read or see. Batches and the queue are drawn from
the campaign's seed when it opens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.engine import RowMapping

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, shown
from adjudge.preferences.combinations import Combination
from adjudge.preferences.questions import Question, Questions
from adjudge.users.combinations import RelevanceScale
from adjudge.web.campaign_rows import Campaign, locked, log_event, refuse_unless_draft
from adjudge.web.errors import Refused
from adjudge.web.items import NewItem, check_text, chunks, is_complete, items_by_identifier, put_items, query_item
from adjudge.web.leasing import lay_queue
from adjudge.web.schema import item, lease, listed, pair, queue

LONGEST_LIST = 12
"""So many documents a list has at most: nobody listens to more of them twice."""
MOST_QUESTIONS = 100_000
"""So many questions and traps a campaign has at most: storing them takes seconds, in which nobody else can write."""
_NONE = "The campaign has no questions yet; give it a questions file."


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
    _forget_questions(connection, found, needed=_named(questions))
    put_items(connection, found, [NewItem(name) for name in _without_item(connection, found, questions)])
    rows = items_by_identifier(connection, found.id)
    for part in chunks([_pair_row(found, questions, place, rows) for place in range(len(questions))]):
        connection.execute(insert(pair), part)
    ids = _ids(connection, found.id)
    lists = [
        {"pair_id": ids[one.name], "side": side, "rank": rank, "item_id": rows["document", document]["id"]}
        for one in questions.questions
        for side, documents in zip("ab", one.lists, strict=True)
        for rank, document in enumerate(documents, start=1)
    ]
    for part in chunks(lists):
        connection.execute(insert(listed), part)
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


def _named(questions: Questions) -> set[str]:
    """Every document and query that the questions name."""
    return {one.query for one in questions.questions}.union(*(one.a + one.b for one in questions.questions))


def _forget_questions(connection: Connection, found: Campaign, *, needed: set[str]) -> None:
    """Take out the questions of a draft, and the documents that only they named and of which nothing else is known."""
    own = select(pair.c.id).where(pair.c.campaign_id == found.id)
    connection.execute(delete(listed).where(listed.c.pair_id.in_(own)))
    for table in (lease, queue, pair):
        connection.execute(delete(table).where(table.c.campaign_id == found.id))
    empty = [
        row["id"]
        for row in items_by_identifier(connection, found.id).values()
        if row["identifier"] not in needed and not row["facts"] and not is_complete(row)
    ]
    if empty:
        connection.execute(delete(item).where(item.c.id == bindparam("this")), [{"this": one} for one in empty])


def _without_item(connection: Connection, found: Campaign, questions: Questions) -> list[str]:
    """Documents of lists, and queries that nothing stands for yet, which are no rows so far."""
    rows = items_by_identifier(connection, found.id)
    documents = dict.fromkeys(name for one in questions.questions for name in one.a + one.b)
    lacking = [name for name in documents if ("document", name) not in rows]
    queries = dict.fromkeys(questions.queries)
    return lacking + [name for name in queries if name not in documents and query_item(rows, name) is None]


def _pair_row(
    found: Campaign, questions: Questions, place: int, rows: Mapping[tuple[str, str], RowMapping]
) -> dict[str, Any]:
    one = questions.questions[place]
    stands = query_item(rows, one.query)
    if stands is None:
        raise Refused(f"There is nothing to hear, read or see for {shown(one.query)}.")
    grades = {
        scale: [_plain(array[place, side, : len(documents)]) for side, documents in enumerate(one.lists)]
        for scale, array in questions.grades.items()
    }
    details = {
        "expected": sorted(one.expected),
        "grades": grades,
        "systems": None if one.systems is None else list(one.systems),
    }
    return {
        "campaign_id": found.id,
        "query": one.query,
        "document": one.name,
        "query_item_id": stands["id"],
        "document_item_id": None,
        "role": "trap" if one.is_trap else "question",
        "batch": None,
        "details": details,
        "wanted": 0 if one.is_trap else found.settings.judged_by,
        "taken": 0,
        "answered": 0,
    }


def _plain(grades: Floats) -> list[float | None]:
    """Grades as JSON has them: what is unjudged is null."""
    return [None if np.isnan(grade) else float(grade) for grade in grades]


def _ids(connection: Connection, campaign_id: int) -> dict[str, int]:
    """The rows of all questions and traps by name."""
    query = select(pair.c.document, pair.c.id).where(pair.c.campaign_id == campaign_id)
    return {row.document: row.id for row in connection.execute(query)}


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


def missing_question_items(connection: Connection, found: Campaign) -> list[str]:
    """Documents and queries of which there is nothing to hear, read or see yet, by name."""
    needed = needed_question_items(connection, found)
    if needed is None:
        raise Refused(_NONE)
    rows = items_by_identifier(connection, found.id)
    stands = {name: rows.get(("document", name)) for name in needed["document"] - needed["query"]}
    stands |= {name: query_item(rows, name) for name in needed["query"]}
    asked = {name: rows.get(("document", name)) for name in _listed_documents(connection, found.id)}
    lacking = {name for part in (stands, asked) for name, row in part.items() if row is None or not is_complete(row)}
    return sorted(lacking)


def needed_question_items(connection: Connection, found: Campaign) -> dict[str, set[str]] | None:
    """Documents and queries that somebody will be asked about, by role; None while there are no questions."""
    asked = select(pair.c.query).where(pair.c.campaign_id == found.id).distinct()
    queries = set(connection.execute(asked).scalars())
    if not queries:
        return None
    return {"document": _listed_documents(connection, found.id) | queries, "query": queries}


def _listed_documents(connection: Connection, campaign_id: int) -> set[str]:
    """Documents that stand in some list."""
    query = (
        select(item.c.identifier)
        .join(listed, listed.c.item_id == item.c.id)
        .where(item.c.campaign_id == campaign_id)
        .distinct()
    )
    return set(connection.execute(query).scalars())


def lay_questions(connection: Connection, found: Campaign) -> None:
    """Divide the questions into batches and lay the queue: begun ones first, then by batch, in an order of the seed.

    Done whenever the campaign opens, or is changed before anybody answered. What is answered or on lease stays wanted.
    """
    settings = found.preference
    items = items_by_identifier(connection, found.id)
    columns = (pair.c.id, pair.c.query, pair.c.query_item_id, pair.c.role, pair.c.batch, pair.c.wanted, pair.c.taken)
    query = select(*columns).where(pair.c.campaign_id == found.id).order_by(pair.c.id).with_for_update()
    rows = connection.execute(query).all()
    asked = [row for row in rows if row.role == "question"]
    drawn = np.random.default_rng([settings.seed, 3]).permutation(len(asked))
    place = {asked[int(number)].id: at for at, number in enumerate(drawn)}
    size = settings.batch_size or max(1, len(asked))
    changed = []
    for row in rows:
        stands = query_item(items, row.query)
        query_item_id = row.query_item_id if stands is None else stands["id"]
        batch, wanted = None, 0
        if row.role == "question":
            batch, wanted = place[row.id] // size, max(settings.judged_by, row.taken)
        if (query_item_id, batch, wanted) != (row.query_item_id, row.batch, row.wanted):
            changed.append({"this": row.id, "stands": query_item_id, "of": batch, "wish": wanted})
    if changed:
        values: dict[str, Any] = {
            "query_item_id": bindparam("stands"),
            "batch": bindparam("of"),
            "wanted": bindparam("wish"),
        }
        connection.execute(update(pair).where(pair.c.id == bindparam("this")).values(values), changed)
    ordered = sorted(asked, key=lambda row: (row.taken == 0, place[row.id]))
    lay_queue(connection, found.id, [row.id for row in ordered])
