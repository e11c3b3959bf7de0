"""A preference campaign out of the server, at any moment: the study, its questions, the log, who is to be paid.

The answers file is a whole study: questions with their grades, answers with the codes of people, what is set aside and
why; traps are among them, repeats and skips are in the log only. What a recruiter told of people is in the people
export and nowhere else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, select, union_all
from sqlalchemy.engine import RowMapping

from adjudge.preferences.questions import CHOICES, Questions
from adjudge.preferences.study import Study
from adjudge.web.answering import least_heard
from adjudge.web.campaign_rows import Campaign
from adjudge.web.export_files import answer_log, harmless, iso, plain_table, written
from adjudge.web.preference_holdings import questions_and_ids, questions_of
from adjudge.web.preference_trust import rules_of, seconds_taken
from adjudge.web.schema import answer, item, lease, listed, pair, participant

PREFERENCE_FORMS = {
    "answers": ("csv",),
    "questions": ("csv",),
    "log": ("csv", "parquet", "json"),
    "report": ("html", "markdown", "latex", "json"),
    "mapping": ("json",),
    "people": ("csv",),
}
"""What can be had of a preference campaign, and in which forms; the first is the usual one."""

_LISTENED = ("query_ms", "a_ms", "b_ms")


def export_preference(connection: Connection, campaign: Campaign, what: str, *, form: str) -> bytes:
    """One of :data:`PREFERENCE_FORMS` as the content of a file."""
    if what == "answers":
        return csv_of_answers(study_of(connection, campaign))
    if what == "questions":
        return _csv_of_questions(questions_of(connection, campaign.id))
    if what == "log":
        return _log(connection, campaign, form=form)
    if what == "people":
        return _people(connection, campaign)
    from adjudge.web.preference_reporting import fitted_mappings, preference_report

    if what == "mapping":
        return fitted_mappings(connection, campaign)
    from adjudge.reporting.render import render

    return render(preference_report(connection, campaign), form).encode()


def study_of(connection: Connection, campaign: Campaign) -> Study:
    """All answers to questions and traps in the order in which they came, also those that are set aside.

    Participants are called by their codes; those who answered nothing are not among them. Repeats are left out: nobody
    counts twice, and the cue that they give is seen while the campaign runs only.
    """
    questions, ids = questions_and_ids(connection, campaign.id)
    place = {number: at for at, number in enumerate(ids)}
    columns = (answer.c.pair_id, answer.c.participant_id, answer.c.grades, answer.c.heard, answer.c.took_ms,
               answer.c.created_at, answer.c.comment, lease.c.issued_at)  # fmt: skip
    given = (
        select(*columns)
        .outerjoin_from(answer, lease, lease.c.id == answer.c.lease_id)
        .where(answer.c.campaign_id == campaign.id, answer.c.kind.in_(("judgment", "trap")))
    )
    rows = connection.execute(given.order_by(answer.c.id)).all()
    who = {number: at for at, number in enumerate(dict.fromkeys(row[1] for row in rows))}
    known = select(participant.c.id, participant.c.code, participant.c.set_aside_at, participant.c.set_aside_why)
    people = {row.id: row for row in connection.execute(known.where(participant.c.campaign_id == campaign.id))}
    aside = np.array([people[number].set_aside_at is not None for number in who], dtype=np.bool_)
    reasons = tuple((people[n].set_aside_why or "set aside") if people[n].set_aside_at is not None else "" for n in who)
    choices = {name: number for number, name in enumerate(CHOICES)}
    sides = {"a": 0, "b": 1}
    by_whom = np.array([who[row[1]] for row in rows], dtype=np.int64)
    comments = tuple(row[6] or "" for row in rows)
    return Study(
        questions,
        np.array([place[row[0]] for row in rows], dtype=np.int64),
        np.array([choices[row[2]["choice"]] for row in rows], dtype=np.int64),
        by_whom,
        tuple(people[number].code for number in who),
        np.array([sides.get(row[3].get("first"), -1) for row in rows], dtype=np.int64),
        np.array([seconds_taken(row[4], row[5], row[7]) for row in rows], dtype=np.float64),  # None is NaN
        np.array([_seconds_heard(row[3]) for row in rows], dtype=np.float64),
        np.array([row[5] for row in rows], dtype=np.float64),
        aside[by_whom] if len(rows) else np.zeros(0, dtype=np.bool_),
        reasons if any(reasons) else (),
        comments if any(comments) else (),
        f"campaign {campaign.name}",
        rules=rules_of(campaign),
        least_seconds=_least_seconds(connection, campaign),
    )


def _least_seconds(connection: Connection, campaign: Campaign) -> dict[str, float]:
    """Seconds of sound that had to be heard for an answer, by the name of the question; only where there is sound."""
    columns = (pair.c.document, item.c.kind, item.c.seconds)
    asked = select(*columns).join(item, item.c.id == pair.c.query_item_id).where(pair.c.campaign_id == campaign.id)
    inside = (
        select(*columns)
        .join(listed, listed.c.pair_id == pair.c.id)
        .join(item, item.c.id == listed.c.item_id)
        .where(pair.c.campaign_id == campaign.id)
    )
    needed: dict[str, float] = defaultdict(float)
    for name, kind, seconds in connection.execute(union_all(asked, inside)):
        needed[name] += least_heard(kind, seconds, campaign.settings.listen_seconds)
    return {name: seconds for name, seconds in needed.items() if seconds > 0}


def _seconds_heard(heard: Mapping[str, Any]) -> float:
    """Seconds of sound that were played; NaN where nobody noted them."""
    if "query_ms" not in heard and "a_ms" not in heard:
        return float("nan")
    return float((heard.get("query_ms") or 0) + sum(heard.get("a_ms") or ()) + sum(heard.get("b_ms") or ())) / 1000


def csv_of_answers(study: Study) -> bytes:
    """The answers file of a study."""
    from dataclasses import replace

    import polars as pl

    from adjudge.preferences.files import write_answers

    if study.comments:  # people's own words must not become formulas of a spreadsheet
        said = harmless(pl.DataFrame({"comment": list(study.comments)}), ["comment"])["comment"]
        study = replace(study, comments=tuple(said.to_list()))
    return written(lambda path: write_answers(study, path), "csv")


def _csv_of_questions(questions: Questions) -> bytes:
    from adjudge.preferences.files import write_questions

    return written(lambda path: write_questions(questions, path), "csv")


def _log(connection: Connection, campaign: Campaign, *, form: str) -> bytes:
    """Every answer as it was stored, oldest first: skips and repeats as well, with what was heard of each document."""
    import polars as pl

    schema: dict[str, Any] = {
        "answer": pl.Int64,
        **dict.fromkeys(("at", "participant", "kind", "question", "query", "choice", "first"), pl.String),
        **dict.fromkeys(("reason", "comment", *_LISTENED), pl.String),
        "took_ms": pl.Int64,
        "late": pl.Boolean,
        **dict.fromkeys(("set_aside", "lease", "key", "sha256"), pl.String),
    }
    return answer_log(connection, campaign, schema, _log_row, form=form)


def _log_row(row: RowMapping) -> dict[str, Any]:
    heard = row["heard"] or {}
    return {
        "participant": row["code"],
        "question": row["document"],
        "choice": row["grades"].get("choice"),
        "first": heard.get("first"),
        **{name: _joined(heard.get(name)) for name in _LISTENED},
    }


def _joined(milliseconds: int | Sequence[int] | None) -> str | None:
    """How long something was heard; of a list, one number a document, joined by |."""
    if milliseconds is None:
        return None
    return str(milliseconds) if isinstance(milliseconds, int) else "|".join(map(str, milliseconds))


def _people(connection: Connection, campaign: Campaign) -> bytes:
    """Who took part, how it ended, and what the recruiter told of them: what paying people takes.

    ``answers`` are those to questions, traps aside; ``trust`` is the share of traps answered rightly.
    """
    import polars as pl

    study, recruiter = study_of(connection, campaign), campaign.preference.recruiter
    places = {code: at for at, code in enumerate(study.participants)}
    n = len(places)
    questions, asked, right = (
        np.bincount(study.participant[which], minlength=n) for which in (~study.trap, study.trap, study.right)
    )
    everybody = select(participant).where(participant.c.campaign_id == campaign.id).order_by(participant.c.id)
    rows = []
    for person in connection.execute(everybody).mappings():
        at, told = places.get(person["code"]), person["recruited"] or {}
        code, _ = (None, None) if not person["outcome"] else recruiter.way_back(person["outcome"], told)
        counts = (0, 0, 0) if at is None else (int(questions[at]), int(right[at]), int(asked[at]))
        rows.append(
            {
                "code": person["code"],
                "outcome": person["outcome"],
                "completion_code": code,
                "set_aside": person["set_aside_why"],
                **dict(zip(("answers", "traps_right", "traps_asked"), counts, strict=True)),
                "trust": counts[1] / counts[2] if counts[2] else None,
                "joined": iso(person["created_at"]),
                "ended": None if person["outcome_at"] is None else iso(person["outcome_at"]),
                **{name: told.get(name) for name in recruiter.expected},
            }
        )
    frame = pl.DataFrame(rows, schema=_people_schema(recruiter.expected), orient="row")
    return plain_table(harmless(frame, [name for name in frame.columns if frame[name].dtype == pl.String]), "csv")


def _people_schema(parameters: Sequence[str]) -> dict[str, Any]:
    import polars as pl

    words = dict.fromkeys(("code", "outcome", "completion_code", "set_aside"), pl.String)
    counts = dict.fromkeys(("answers", "traps_right", "traps_asked"), pl.Int64)
    more = dict.fromkeys(("joined", "ended", *parameters), pl.String)
    return {**words, **counts, "trust": pl.Float64, **more}
