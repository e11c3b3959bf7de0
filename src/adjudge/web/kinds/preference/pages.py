"""A preference campaign over HTTP: questions and answers, questions as files, and what its pages show.

The set-up page shows the questions: what is heard, what they cover, which answers attention checks expect, and later
how people answer those. The page of answers shows what was chosen, and what people said twice or could not say; the
page of people whether they listen, how their part ended, and whether their answers count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from sqlalchemy import Connection, Row, select
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import Combination, Questions
from adjudge.web.api.body import Alive, AskingApi, Heard, TakenAnswer, heard_from
from adjudge.web.api.files import Received, form_description, naming, received, telling_sender
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Refused
from adjudge.web.http.access import AsOrganiser, AsParticipant, OwnCampaign
from adjudge.web.kinds.base import ORGANISER, Card
from adjudge.web.kinds.lifecycle import Overview
from adjudge.web.kinds.preference.assignment import (
    NewChoice,
    NewPreferenceSkip,
    PreferenceDesk,
    hold_questions,
    make_preference_desk,
    must_pause,
    pause_after_batch,
    settle_outcome,
    store_choice,
    store_unable,
    trust_of,
)
from adjudge.web.kinds.preference.curves import Cost, cost_of, wanted_combinations
from adjudge.web.kinds.preference.dashboard import (
    PAID,
    AttentionCheckRecord,
    PreferenceActivity,
    attention_check_records,
    trust_row,
    watch_preferences,
    work_of,
)
from adjudge.web.kinds.preference.settings import PreferenceSettings, settings_of
from adjudge.web.kinds.preference.store import (
    count_questions,
    missing_way_back,
    put_questions,
    question_files,
    questions_of,
)
from adjudge.web.pages.answers import list_downloads
from adjudge.web.pages.shared import (
    several,
)
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, campaign_by_id
from adjudge.web.store.items import missing_listed_items
from adjudge.web.store.leases import Lease
from adjudge.web.store.participants import (
    Participant,
    invitation_link,
    list_invitations,
)

router = APIRouter(prefix="/preference", tags=["preference"])


class PreferenceTaken(TakenAnswer):
    """An answer that is stored for good, and the next assignment."""

    desk: PreferenceDesk


_Held = tuple[Participant, list[Lease]]


def _hold(
    connection: Connection, context: Context, campaign: Campaign, participant: Participant, done: object
) -> _Held:
    """The participant, whose part may be done, and what is in their hands from now on."""
    now, seconds = context.now(), context.settings.lease_seconds
    leases = hold_questions(connection, campaign, participant.id, now=now, seconds=seconds)
    return settle_outcome(connection, campaign, participant.id, now=now), leases


def _show(context: Context, campaign: Campaign, participant: Participant, held: _Held) -> PreferenceDesk:
    """The assignment after a transaction; a batch that became complete in it is followed by a pause."""
    with context.database.read() as connection:
        pauses = must_pause(connection, campaign)
    if pauses:
        with context.database.write() as connection:
            pause_after_batch(connection, campaign, now=context.now())
    with context.database.read() as connection:
        return make_preference_desk(connection, campaign_by_id(connection, campaign.id), *held)


_PREFERENCE = AskingApi(PreferenceSettings, PreferenceTaken, _hold, _show)


@router.get("", summary="The question in hand, or a new one")
def preference_desk(participant: AsParticipant, context: InContext) -> PreferenceDesk:
    """Lease a question if there is none; the same one comes back after a reload or on another device."""
    return _PREFERENCE.next(context, participant)


@router.post("/answers", summary="Choose between two lists and get the next question")
def choose(sent: NewChoice, participant: AsParticipant, context: InContext) -> PreferenceTaken:
    """Store an answer; when this returns it is on the server's disk. The same key again changes nothing."""
    return _PREFERENCE.store(context, participant, sent, store_choice)


@router.post("/skips", summary="Say why a question cannot be answered and get the next")
def skip_question(sent: NewPreferenceSkip, participant: AsParticipant, context: InContext) -> PreferenceTaken:
    """Store a skip; the question goes to somebody else."""
    return _PREFERENCE.store(context, participant, sent, store_unable)


@router.post("/heartbeat", summary="Say that one is still there")
def preference_heartbeat(participant: AsParticipant, context: InContext) -> Alive:
    """Keep the questions in hand."""
    return _PREFERENCE.keep_alive(participant, context)


@router.post("/leave", status_code=204, summary="Hand the questions in hand back")
def preference_leave(
    participant: AsParticipant,
    context: InContext,
    may_return: Annotated[bool, Query(description="Keep them for some seconds: the page may be loaded again.")] = False,
) -> Response:
    """For others to take; at once, unless one may be back in a moment."""
    return _PREFERENCE.hand_back(participant, context, may_return=may_return)


files_router = APIRouter(prefix="/campaigns/{name}", tags=["files"])


class TakenQuestions(BaseModel):
    """Questions and attention checks that are kept now, and how many documents or queries have nothing to show yet."""

    questions: int
    traps: int
    queries: int
    scales: list[str]
    missing: int


@files_router.put(
    "/questions",
    summary="Give a preference campaign its questions",
    openapi_extra=form_description(
        file="questions as CSV: question, query, a1, …, b1, …, expected and grades; those with an expected answer are "
        "traps",
        traps="more questions, of the same form",
    ),
)
async def questions(
    request: Request, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext
) -> TakenQuestions:
    """Replace the questions and attention checks of a draft."""
    async with received(request, context.settings) as form:
        return await run_in_threadpool(_questions, form, campaign, organiser.login, context)


def _questions(form: Received, campaign: Campaign, who: str, context: Context) -> TakenQuestions:
    if form.one("file") is None:
        raise Refused("Expected a file with questions in the field 'file', got none.")
    form.one("traps")  # one at most
    with telling_sender(form), naming(form):
        given, inputs = question_files([*form.readable("file"), *form.readable("traps")])
    plain = [(form.plain(name), digest) for name, digest in inputs]
    with context.database.write() as connection:
        put_questions(connection, campaign, given, inputs=plain, who=who, now=context.now())
        n_questions, n_traps = count_questions(connection, campaign.id)
        missing = len(missing_listed_items(connection, campaign))
    scales, queries = list(given.grades), len(set(given.queries))
    return TakenQuestions(questions=n_questions, traps=n_traps, queries=queries, scales=scales, missing=missing)


OUTCOME_WORDS = {"done": "Finished", "screened_out": "Quiz not passed", "failed": "Stopped later"}
"""How somebody's part ended, for organisers."""


def read_combinations(lines: Sequence[str]) -> list[str]:
    """Measures on scales in the form in which they print themselves; each is checked.

    >>> read_combinations(["CG@5 on Fine; nDCG(ideal=max)@5 on broad"])
    ['CG@5 on fine', 'nDCG(ideal=max)@5 on broad']
    """
    parts = [part.strip() for line in lines for part in line.split(";")]
    try:
        return list(dict.fromkeys(str(Combination.parse(part)) for part in parts if part))
    except AdjudgeError as error:
        raise AdjudgeError(f"combinations: {str(error).removeprefix('Combination: ')}") from None


def preference_goal_in_words(settings: PreferenceSettings) -> str:
    """What a campaign is after, for people.

    >>> preference_goal_in_words(PreferenceSettings(title="Demo", judged_by=3))
    'Compare two lists: 3 answers to every question'
    """
    return f"Compare two lists: {several(settings.judged_by, 'answer')} to every question"


ENOUGH = 30
"""Answers in a bin that tell a share to within 18 percentage points, with 95 % confidence."""
MOST_ROWS = 12
"""Combinations whose coverage is shown."""
_BINS = 10
_SHADES = 4
CHOICE_WORDS = {"a": "list a", "b": "list b", "good": "both good", "bad": "both bad"}
"""What can be answered, for organisers."""


class ListClips(BaseModel):
    """What people hear of a question: the query, and both lists, best first."""

    query: Heard
    a: list[Heard]
    b: list[Heard]


def clips_of_lists(connection: Connection, pair_id: int) -> ListClips:
    """What people hear of a question or attention check."""
    query = select(t.item).join(t.pair, t.pair.c.query_item_id == t.item.c.id).where(t.pair.c.id == pair_id)
    lists = (
        select(t.item, t.listed.c.side)
        .join(t.listed, t.listed.c.item_id == t.item.c.id)
        .where(t.listed.c.pair_id == pair_id)
    )
    sides: dict[str, list[Heard]] = {"a": [], "b": []}
    for row in connection.execute(lists.order_by(t.listed.c.side, t.listed.c.rank)):
        sides[row.side].append(_heard(row))
    return ListClips(query=_heard(connection.execute(query).one()), a=sides["a"], b=sides["b"])


def _heard(row: Row[Any]) -> Heard:
    return heard_from(row.kind, row.address, row.text, row.seconds)


def names_of(connection: Connection, campaign_id: int, role: str, *, most: int) -> Sequence[Any]:
    """Numbers, names and queries of questions or attention checks, as they were given."""
    columns = (t.pair.c.id, t.pair.c.document.label("name"), t.pair.c.query)
    rows = select(*columns).where(t.pair.c.campaign_id == campaign_id, t.pair.c.role == role)
    return connection.execute(rows.order_by(t.pair.c.id).limit(most)).all()


@dataclass(frozen=True)
class Cell:
    """Questions in one bin: how many answers that makes, and how dark it is drawn, 0 (none) to 4 (enough)."""

    questions: int
    answers: int
    shade: int
    words: str


@dataclass(frozen=True)
class CoverageRow:
    """A measure on a scale: its bins, or why there are none."""

    name: str
    cells: tuple[Cell, ...] = ()
    unknown: int = 0
    problem: str = ""

    @property
    def filled(self) -> int:
        """Bins with enough."""
        return sum(cell.shade == _SHADES for cell in self.cells)


def coverage_rows(settings: PreferenceSettings, questions: Questions) -> list[CoverageRow]:
    """How many questions each combination has in each bin of the difference between the two lists."""
    names = wanted_combinations(questions, settings.combinations)[:MOST_ROWS]
    return [_coverage_row(name, questions, settings.judged_by) for name in names]


def _coverage_row(name: str, questions: Questions, judged_by: int) -> CoverageRow:
    from adjudge.preferences.questions import coverage_of

    try:
        found = coverage_of(questions, [name], bins=_BINS, per_bin=-(-ENOUGH // judged_by))
    except AdjudgeError as error:
        return CoverageRow(name, problem=str(error))
    cells = []
    for place, count in enumerate(found.counts[0].tolist()):
        answers = count * judged_by
        shade = _SHADES if answers >= ENOUGH else -(-answers * (_SHADES - 1) // ENOUGH)
        verdict = "enough" if shade == _SHADES else "short" if count else "none"
        noun = "question" if count == 1 else "questions"
        cells.append(Cell(count, answers, shade, f"{found.interval(place)}: {count} {noun}, {verdict}"))
    return CoverageRow(name, tuple(cells), int(found.unknown[0]))


def attention_check_rows(records: Sequence[AttentionCheckRecord]) -> list[dict[str, Any]]:
    """Attention checks with the answers that are right, and how people answered."""
    return [
        {
            "id": record.question.id,
            "name": record.question.name,
            "query": record.question.query,
            "expected": " or ".join(
                CHOICE_WORDS[choice] for choice in CHOICE_WORDS if choice in record.question.expected
            ),
            "asked": record.asked,
            "right": record.right,
            "share": record.share,
            "bad": record.is_bad,
            "listened": record.listened,
            "listened_right": record.listened_right,
            "answers": ", ".join(
                f"{record.choices[choice]} {CHOICE_WORDS[choice]}"
                for choice in CHOICE_WORDS
                if record.choices.get(choice)
            ),
        }
        for record in records
    ]


_PREVIEWS = 200  # questions among which one is chosen to listen to


def set_up_values(
    connection: Connection, context: Context, campaign: Campaign, asked_for: Mapping[str, str]
) -> dict[str, Any]:
    """What the set-up page shows of a preference campaign; nothing is computed while there are no questions."""
    seen, settings = watch_preferences(connection, campaign.id), settings_of(campaign)
    n_questions = len(seen.questions)
    wanted = n_questions * settings.judged_by
    left = sum(question.left for question in seen.questions) if campaign.state != "draft" else wanted
    batches = -(-n_questions // settings.batch_size) if settings.batch_size else 1
    in_all = {"Answers in all": f"{wanted:,}{f', in {batches:,} batches' if batches > 1 else ''}"} if wanted else {}
    values: dict[str, Any] = {
        "has_material": n_questions > 0,
        "hindrance": missing_way_back(settings),
        "settings": settings,
        "enough": ENOUGH,
        "n_questions": n_questions,
        "n_traps": len(seen.traps),
        "coverage": [],
        "traps": attention_check_rows(attention_check_records(seen)),
        "preview": None,
        "facts": {**in_all, "Cost": _cost_in_words(campaign, _cost(settings, seen, remaining=left), left=left)},
        "recruited": settings.recruited_by() is not None,
        "link": _recruiters_link(connection, context, campaign),
    }
    if not n_questions:
        return values
    asked = questions_of(connection, campaign.id)
    return values | {
        "n_queries": several(len({one.query for one in asked.questions if not one.is_trap}), "query", "queries"),
        "scales": list(asked.grades),
        "coverage": coverage_rows(settings, asked),
        "preview": _preview(connection, campaign, asked_for.get("question", "")),
    }


def _preview(connection: Connection, campaign: Campaign, chosen: str) -> dict[str, Any] | None:
    """One question as people get it, without grades and names, and the others to choose among."""
    rows = [one for role in ("question", "trap") for one in names_of(connection, campaign.id, role, most=_PREVIEWS)]
    if not rows:
        return None
    this = next((row for row in rows if row.name == chosen), rows[0])
    clips = clips_of_lists(connection, this.id)
    names = [row.name for row in rows]
    return {"name": this.name, "clips": clips, "names": names, "chosen": bool(chosen)}


def _cost(settings: PreferenceSettings, seen: PreferenceActivity, *, remaining: int) -> Cost | None:
    """What it costs to the goal, as the dashboard has it; None before there are questions."""
    n_questions, people = len(seen.questions), list(work_of(seen).values())
    if not n_questions:
        return None
    return cost_of(settings, people, remaining=remaining, n_questions=n_questions, n_traps=len(seen.traps))


def _cost_in_words(campaign: Campaign, cost: Cost | None, *, left: int) -> str:
    """The cost to the goal, and whether it is what settings make expect rather than what people cost."""
    if cost is None:
        return "known once there are questions" if settings_of(campaign).pay.is_paid else "nothing is paid"
    if not left:
        return "nothing more: every question is answered"
    each = cost.per_counted_answer
    until = "to the end" if campaign.state == "draft" else "for what is left"
    return (
        f"about {cost.to_goal:,.2f} {cost.currency} {until} ({cost.low:,.2f} to {cost.high:,.2f}), "
        f"{each:{',.2f' if each >= 1 else '.3g'}} {cost.currency} per counted answer"
        f"{', if one person in five is screened out' if cost.expected else ''}"
    )


def _recruiters_link(connection: Connection, context: Context, campaign: Campaign) -> str | None:
    """The link for many people, with what a recruiter fills in."""
    for invitation in list_invitations(connection, campaign, secret=context.settings.secret):
        if invitation.revoked_at is None and not invitation.is_personal:
            return invitation_link(context.settings.address, invitation.token, campaign)
    return None


_MOST_REPEATS = 50


def answers_values(connection: Connection, campaign: Campaign) -> dict[str, Any]:
    """What the page of answers shows of a preference campaign."""
    files = {
        "answers": ("Answers", "with questions and grades: a whole study for adjudge fit"),
        "questions": ("Questions", "and attention checks, as they were asked"),
        "log": ("Log", "everything that was sent, in order"),
        "mapping": ("Mapping", "the curves, once there are enough answers for them"),
        "people": ("People", "outcomes and the recruiter’s identities, to pay people; personal"),
        "report": ("Report", "curves, people, what it rests on"),
    }
    return {
        "choices": CHOICE_WORDS,
        "repeats": _repeats(connection, campaign),
        "files": list_downloads(campaign, files),
    }


def _repeats(connection: Connection, campaign: Campaign) -> dict[str, Any]:
    """Questions that somebody was asked again: how often they said the same, and those where they did not."""
    first = t.answer.alias("first")
    both = t.answer.join(
        first,
        (first.c.participant_id == t.answer.c.participant_id)
        & (first.c.pair_id == t.answer.c.pair_id)
        & (first.c.kind == "judgment"),
    )
    query = (
        select(
            t.answer.c.grades, first.c.grades.label("before"), t.participant.c.code, t.pair.c.document, t.pair.c.query
        )
        .select_from(
            both.join(t.participant, t.participant.c.id == t.answer.c.participant_id).join(
                t.pair, t.pair.c.id == t.answer.c.pair_id
            )
        )
        .where(t.answer.c.campaign_id == campaign.id, t.answer.c.kind == "repeat")
        .order_by(t.answer.c.id.desc())
    )
    rows = [(row, row.before.get("choice"), row.grades.get("choice")) for row in connection.execute(query)]
    other = [
        {"code": row.code, "question": row.document, "query": row.query, "first": before, "again": again}
        for row, before, again in rows
        if before != again
    ]
    return {"n": len(rows), "same": len(rows) - len(other), "other": other[:_MOST_REPEATS]}


WHY_WORDS = {
    "quiz": "the quiz was not passed",
    "traps": "too many attention checks missed",
    "attention": "probably not listening",
    "organiser": "by an organiser",
}
"""Why answers are excluded."""


def people_values(
    connection: Connection, campaign: Campaign, people: Sequence[Participant]
) -> tuple[dict[int, dict[str, Any]], dict[str, Any]]:
    """What is known of people's attention, and how their parts ended."""
    done = _done(connection, [person.id for person in people])
    known = {person.id: _row(connection, campaign, person, done[person.id]) for person in people}
    return known, {"parameters": settings_of(campaign).recruiter.expected}


def _done(connection: Connection, ids: list[int]) -> dict[int, list[tuple[str, int | None]]]:
    """Kind and time of the answers of some people."""
    found: dict[int, list[tuple[str, int | None]]] = defaultdict(list)
    query = select(t.answer.c.participant_id, t.answer.c.kind, t.answer.c.took_ms).where(
        t.answer.c.participant_id.in_(ids)
    )
    for participant_id, kind, took in connection.execute(query):
        found[participant_id].append((kind, took))
    return found


def _row(
    connection: Connection, campaign: Campaign, person: Participant, done: list[tuple[str, int | None]]
) -> dict[str, Any]:
    """What is known of somebody."""
    took = [ms for kind, ms in done if ms is not None and kind in PAID]
    why = person.set_aside_why or ORGANISER
    return {
        "answers": sum(kind == "judgment" for kind, _ in done),
        "skips": sum(kind == "skip" for kind, _ in done),
        "seconds": median(took) / 1000 if took else None,
        "outcome_words": OUTCOME_WORDS.get(person.outcome or ""),
        "aside": None if person.set_aside_at is None else WHY_WORDS.get(why, why),
        **trust_row(trust_of(connection, campaign, person.id) if done else None),
    }


def card(campaign: Campaign, seen: Overview, status: Mapping[str, Any], live: int) -> Card:
    """Progress in answers that count, once the campaign was open; before, how many questions there are."""
    settings = settings_of(campaign)
    wanted = status.get("wanted_answers", seen.pairs * settings.judged_by)
    answers = status.get("answers", seen.answers)
    people = "person" if live == 1 else "people"
    there = f"{live:,} {people} answering now" if live else several(seen.participants, "person", "people")
    return Card(
        name=campaign.name,
        title=settings.title,
        state=campaign.state,
        goal=preference_goal_in_words(settings),
        candidates=wanted,
        share=1.0 if status.get("done") else round(status.get("complete") or 0.0, 4),
        progress=f"{answers:,} of {wanted:,} answers",
        value="Every question is answered" if status.get("done") else "",
        live=live,
        people=there,
    )
