"""Exports of a preference campaign, at any moment: the study, its questions, the log, a report, curves, who is paid.

The answers file is a whole study: questions with their grades, answers with the codes of people, what is excluded and
why. Attention checks are in it; repeats and skips are in the log only. What a recruiter said about people is in the
people export and nowhere else.

Report and curves rest on the answers that count; all participants are listed, with what is excluded and why. Before
there are enough answers for curves the report says so, and is about the people alone.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, func, select, union_all
from sqlalchemy.engine import RowMapping

from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.preferences.questions import CHOICES, Questions
from adjudge.preferences.study import Study
from adjudge.reporting.document import Block, Paragraph, Report, Section
from adjudge.text import counted
from adjudge.web.errors import Refused
from adjudge.web.kinds.exports import answer_log, harmless, iso, plain_table, report_bytes, written
from adjudge.web.kinds.preference.assignment import rules_of, seconds_taken
from adjudge.web.kinds.preference.curves import FEWEST_ANSWERS, wanted_combinations
from adjudge.web.kinds.preference.settings import settings_of
from adjudge.web.kinds.preference.store import questions_and_ids, questions_of
from adjudge.web.store import schema as t
from adjudge.web.store.answers import least_heard
from adjudge.web.store.campaigns import Campaign

if TYPE_CHECKING:
    from adjudge.preferences.learning import Learnt
    from adjudge.preferences.participants import Influence
    from adjudge.preferences.study import Study

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


def export_preference(
    connection: Connection, campaign: Campaign, what: str, *, form: str, options: Mapping[str, Any]
) -> bytes:
    """One of :data:`PREFERENCE_FORMS` as the content of a file."""
    if what == "answers":
        return csv_of_answers(study_of(connection, campaign))
    if what == "questions":
        return _csv_of_questions(questions_of(connection, campaign.id))
    if what == "log":
        return _log(connection, campaign, form=form)
    if what == "people":
        return _people(connection, campaign)
    if what == "mapping":
        return fitted_mappings(connection, campaign)
    return report_bytes(preference_report(connection, campaign), campaign, form, options)


def study_of(connection: Connection, campaign: Campaign) -> Study:
    """All answers to questions and attention checks in the order in which they came, excluded ones included.

    Participants are called by their codes; those who answered nothing are not among them. Repeats are left out: nobody
    counts twice, and the cue that they give is seen while the campaign runs only.
    """
    questions, ids = questions_and_ids(connection, campaign.id)
    place = {number: at for at, number in enumerate(ids)}
    columns = (t.answer.c.pair_id, t.answer.c.participant_id, t.answer.c.grades, t.answer.c.heard, t.answer.c.took_ms,
               t.answer.c.created_at, t.answer.c.comment, t.lease.c.issued_at)  # fmt: skip
    given = (
        select(*columns)
        .outerjoin_from(t.answer, t.lease, t.lease.c.id == t.answer.c.lease_id)
        .where(t.answer.c.campaign_id == campaign.id, t.answer.c.kind.in_(("judgment", "trap")))
    )
    rows = connection.execute(given.order_by(t.answer.c.id)).all()
    who = {number: at for at, number in enumerate(dict.fromkeys(row[1] for row in rows))}
    known = select(
        t.participant.c.id, t.participant.c.code, t.participant.c.set_aside_at, t.participant.c.set_aside_why
    )
    people = {row.id: row for row in connection.execute(known.where(t.participant.c.campaign_id == campaign.id))}
    excluded = np.array([people[number].set_aside_at is not None for number in who], dtype=np.bool_)
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
        excluded[by_whom] if len(rows) else np.zeros(0, dtype=np.bool_),
        reasons if any(reasons) else (),
        comments if any(comments) else (),
        f"campaign {campaign.name}",
        rules=rules_of(campaign),
        least_seconds=_least_seconds(connection, campaign),
    )


def _least_seconds(connection: Connection, campaign: Campaign) -> dict[str, float]:
    """Seconds of sound that had to be heard for an answer, by the name of the question; only where there is sound."""
    columns = (t.pair.c.document, t.item.c.kind, t.item.c.seconds)
    asked = (
        select(*columns).join(t.item, t.item.c.id == t.pair.c.query_item_id).where(t.pair.c.campaign_id == campaign.id)
    )
    inside = (
        select(*columns)
        .join(t.listed, t.listed.c.pair_id == t.pair.c.id)
        .join(t.item, t.item.c.id == t.listed.c.item_id)
        .where(t.pair.c.campaign_id == campaign.id)
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

    ``answers`` are those to questions without attention checks; ``trust`` is the share of attention checks passed.
    """
    import polars as pl

    study, recruiter = study_of(connection, campaign), settings_of(campaign).recruiter
    places = {code: at for at, code in enumerate(study.participants)}
    n = len(places)
    questions, asked, right = (
        np.bincount(study.participant[which], minlength=n) for which in (~study.trap, study.trap, study.right)
    )
    everybody = select(t.participant).where(t.participant.c.campaign_id == campaign.id).order_by(t.participant.c.id)
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


_RESAMPLES = 400  # an organiser waits for the page
_MOST_LEFT_OUT = 500  # participants whom the report leaves out one by one


def _wanted(campaign: Campaign, study: Study) -> list[str]:
    """The combinations to learn; refused in one line where nothing can be learnt yet."""
    n_counted = len(study.counted())
    if n_counted < FEWEST_ANSWERS:
        raise Refused(f"Curves need {FEWEST_ANSWERS} answers that count; so far there are {n_counted}.")
    wanted = wanted_combinations(study.questions, settings_of(campaign).combinations)
    if not wanted:
        raise Refused("Curves need grades of the documents; the questions have none.")
    return wanted


@contextmanager
def _said_in_one_line() -> Iterator[None]:
    """What is wrong with the answers is no fault of anybody: there are too few, or they are all alike."""
    try:
        with kept_warnings():
            yield
    except AdjudgeError as error:
        raise Refused(f"The answers so far allow no curves: {error}") from None


def learnt_from(campaign: Campaign, study: Study) -> Learnt:
    """All that the answers teach; refused in one line where there are too few."""
    from adjudge.preferences.learning import learn

    wanted = _wanted(campaign, study)
    with _said_in_one_line():
        return learn(study, wanted, resamples=_RESAMPLES, seed=campaign.settings.seed)


def fitted_mappings(connection: Connection, campaign: Campaign) -> bytes:
    """The curves of satisfaction and agreement as a mapping file, in JSON.

    It says the same of where it comes from as ``adjudge fit`` would on the answers as they are exported now.
    """
    from adjudge.preferences.curves import agreement_curve, satisfaction_curve
    from adjudge.preferences.learning import facts_of
    from adjudge.preferences.questions import Combination
    from adjudge.preferences.study import evidence
    from adjudge.users.files import Mappings, write_mappings

    study = study_of(connection, campaign)
    wanted = [Combination.parse(text) for text in _wanted(campaign, study)]
    digest = hashlib.sha256(csv_of_answers(study)).hexdigest()
    source, facts = f"fitted with Adjudge on campaign {campaign.name}", facts_of(replace(study, sha256=digest))
    with _said_in_one_line(), tempfile.TemporaryDirectory() as folder:
        seen = [evidence(study, combination.measure, combination.scale) for combination in wanted]
        mappings = Mappings(
            tuple(satisfaction_curve(known, source=source, provenance=facts) for known in seen),
            tuple(agreement_curve(known, source=source, provenance=facts) for known in seen),
        )
        path = Path(folder) / "mapping.json"
        write_mappings(mappings, path)
        return path.read_bytes()


def preference_report(connection: Connection, campaign: Campaign) -> Report:
    """Curves, noticeable differences and predictions where there are answers enough; then the participants."""
    study = study_of(connection, campaign)
    if not len(study):
        raise Refused("A report needs answers; so far there are none.")
    answer, *others = _taught(campaign, study)
    sections = [answer, _so_far(campaign, study), *others, *_people_block(connection, campaign, study)]
    subtitle = f"{counted(int((~study.trap).sum()), 'answer')} of {counted(len(study.participants), 'participant')}"
    return Report(campaign.settings.title, subtitle, tuple(sections), _provenance(connection, campaign))


def _so_far(campaign: Campaign, study: Study) -> Section:
    counted, wanted = len(study.counted()), campaign.settings.judged_by
    n_questions = sum(not question.is_trap for question in study.questions.questions)
    n_excluded, n_traps = int((study.set_aside & ~study.trap).sum()), int(study.trap.sum())
    words = (
        f"{counted:,} answers count, of {wanted * n_questions:,} that {n_questions:,} questions want. "
        f"{n_excluded:,} more are excluded, and {n_traps:,} are to attention checks."
    )
    return Section("so-far", "Where the campaign stands", (Paragraph(words),))


def _taught(campaign: Campaign, study: Study) -> list[Section]:
    from adjudge.preferences.report import preference_sections, preference_sentences

    try:
        learnt = learnt_from(campaign, study)
    except Refused as refused:
        return [Section("learnt", "What it teaches", (Paragraph(str(refused)),))]
    said: tuple[Block, ...] = (Paragraph(" ".join(preference_sentences(learnt))),)
    return [Section("learnt", "What it teaches", said), *preference_sections(learnt, study)]


def _people_block(connection: Connection, campaign: Campaign, study: Study) -> list[Section]:
    from adjudge.preferences.participants import quality
    from adjudge.preferences.report import participant_sections

    with kept_warnings():
        try:
            found = quality(study, seed=campaign.settings.seed)
        except AdjudgeError as error:
            return [Section("participants", "The participants", (Paragraph(f"Nothing is known of them yet: {error}"),))]
        try:
            changes, why = _influence(campaign, study), ""
        except AdjudgeError as error:
            changes, why = None, str(error)
    people, *others = participant_sections(found, changes)
    if why:
        others = [Section("influence", "How much depends on each participant", (Paragraph(why),))]
    return [replace(people, blocks=(*people.blocks, *_about_repeats(connection, campaign))), *others]


def _influence(campaign: Campaign, study: Study) -> Influence:
    """How conclusions change without each participant; refused where that cannot be said, with the reason."""
    from adjudge.preferences.participants import influence

    n_people, wanted = len(study.participants), _wanted(campaign, study)
    if n_people > _MOST_LEFT_OUT:
        raise Refused(
            f"Everything is fitted again without each participant for up to {_MOST_LEFT_OUT:,} of them, and there are "
            f"{n_people:,}; adjudge participants does it on the exported answers."
        )
    with _said_in_one_line():
        return influence(study, combinations=wanted)


def _about_repeats(connection: Connection, campaign: Campaign) -> list[Block]:
    """That trust was decided from more than the study has, where questions were asked again."""
    again = select(func.count()).where(t.answer.c.campaign_id == campaign.id, t.answer.c.kind == "repeat")
    n = int(connection.execute(again).scalar_one())
    if not n:
        return []
    words = (
        f"{n:,} {'answer' if n == 1 else 'answers'} to questions asked again {'is' if n == 1 else 'are'} not looked at "
        "here: nobody counts twice. The campaign does look at them, so that the probabilities of listening on its "
        "pages may differ from these; the log has them."
    )
    return [Paragraph(words)]


def _provenance(connection: Connection, campaign: Campaign) -> dict[str, object]:
    """The files that the questions came from, and the decisions that answers rest on."""
    from adjudge.model.provenance import Provenance

    last = select(t.event.c.details).where(t.event.c.campaign_id == campaign.id, t.event.c.what == "questions")
    details = connection.execute(last.order_by(t.event.c.id.desc()).limit(1)).scalar_one_or_none() or {}
    inputs = tuple((str(name), str(digest)) for name, digest in details.get("inputs", ()))
    return Provenance(inputs, {"campaign": campaign.name, "seed": campaign.settings.seed}).to_dict()
