"""Rehearsing a judging campaign: simulated assessors judge a copy of it through a real server, several times over.

A rehearsal starts ``adjudge serve`` on a copy in a temporary folder, lets simulated assessors (``simulated``)
judge until the goal is reached, and compares the ranking that the server then shows with the truth. The copy has the
same runs, settings and facts, and the names of query and document as texts instead of sound. Assessors live in
simulated time: each answer takes seconds drawn from a lognormal distribution around their pace. Answers within
``TOGETHER`` seconds of one another are sent at the same time, from threads; then the server may compute, as it can
while real people listen.

The truth is what judgments say, or is drawn: the relevance of all candidates together, from the hierarchical model
after the answers that the campaign has so far, a new draw per repetition. That is what the engine itself expects, so a
drawn truth tells what the campaign would cost if the model is right.

A forecast of judgments, hours and the chance of a right ranking gives medians over the repetitions, with the range that
holds nine in ten of them; chances are shares.
"""

from __future__ import annotations

import heapq
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import insert, select

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, reason
from adjudge.formats.reading import read_judgments
from adjudge.model.collection import Collection
from adjudge.model.judgments import Judgments
from adjudge.parallel import count_workers
from adjudge.relevance.base import scoring
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.simulation import true_scores
from adjudge.reporting.document import Paragraph, Section, TableBlock
from adjudge.tables import Heading
from adjudge.text import counted
from adjudge.web import client
from adjudge.web.client import connect
from adjudge.web.kinds.judging.session import pair_grades
from adjudge.web.kinds.judging.settings import JudgingSettings, settings_of
from adjudge.web.kinds.judging.simulated import Account, SimulatedAssessor, account
from adjudge.web.kinds.judging.sound import SoundFeatures, all_heard, hear
from adjudge.web.kinds.judging.store import collection_of, current_grades, put_runs
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.rehearse import NAME, SPREAD, Plan, Rehearsal, ShowProgress
from adjudge.web.serving import ServerProcess
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database, open_database
from adjudge.web.store.items import NewItem, put_items
from adjudge.web.store.participants import make_invitation
from adjudge.web.store.people import add_organiser, make_token


@dataclass(frozen=True)
class StandIn:
    """A campaign of texts and the token of an open invitation to it."""

    campaign: Campaign
    invitation: str


def stand_in(
    database: Database,
    settings: Settings,
    *,
    name: str,
    collection: Collection,
    campaign: JudgingSettings,
    organiser_id: int | None = None,
    state: str = "open",
    heard: SoundFeatures | None = None,
) -> StandIn:
    """Store a campaign with these runs in which everything is read; its metadata are the facts of documents.

    An estimator that listens goes by what was ``heard`` of the sound in whose place the texts are.
    """
    heard = heard or SoundFeatures()
    now, who = settings.clock(), "rehearsal"
    with database.write() as connection:
        made = create_campaign(connection, name=name, settings=campaign, organiser_id=organiser_id, now=now)
        put_runs(connection, made, collection.runs, who=who, now=now)
        put_items(connection, made, _texts(collection, campaign, heard.clips))
        if heard.rows:
            connection.execute(insert(t.sound), [dict(row) for row in heard.rows])
        for step in {"draft": (), "open": ("open",)}.get(state, ("open", state)):
            made = set_state(connection, made, step, who=who, now=now)
        invitation = make_invitation(
            connection, made, label="everybody", cap=None, expires_at=None, secret=settings.secret, now=now
        )
    return StandIn(made, invitation.token)


def _texts(collection: Collection, campaign: JudgingSettings, clips: Mapping[str, str]) -> list[NewItem]:
    """Every query and candidate as a text, its own name, with the digest of the clip that it is there for."""
    pool = candidates(collection, cutoff=campaign.cutoff, scale=campaign.evaluated.scale).retrieved()
    facts = _facts(collection)
    documents = dict.fromkeys([*pool.document, *(query for query in pool.queries if query in clips)])
    named = [("query", query) for query in pool.queries] + [("document", name) for name in documents]
    return [
        NewItem(
            name, role=role, kind="text", text=name, media_type="text/plain", clip_sha256=clips.get(name),
            facts=facts.get(name, {}),
        )
        for role, name in named
    ]  # fmt: skip


def _facts(collection: Collection) -> dict[str, Mapping[str, str]]:
    if collection.metadata is None:
        return {}
    rows = collection.metadata.table.iter_rows(named=True)
    return {row["document"]: {k: str(v) for k, v in row.items() if k != "document" and v is not None} for row in rows}


TOGETHER = 1.0
"""Simulated seconds within which answers are sent at once: about what the engine takes to follow."""
AWAY, IMPATIENCE = 600.0, 5.0  # simulated seconds: of a break, and until somebody without a question asks again
_MOST_IDLE = 40  # rounds in which nobody got a question
_THINKING = 30.0  # real seconds that the server may take to follow


@dataclass(frozen=True)
class Trial:
    """One repetition.

    ``judgments`` are pairs judged when the goal was reached (or nobody was left), ``answers`` everything that people
    did. ``accuracy`` is the share of pairs of systems in the true order, ``tau`` follows from it, ``best`` says whether
    the best system was named. Of ``claims`` that one system is better, ``wrong`` are not so. ``latencies`` are of
    "answer and get the next", in seconds.
    """

    seed: int
    reached: bool
    judgments: int
    candidates: int
    answers: int
    person_hours: float
    hours: float
    accuracy: float
    tau: float
    best: bool
    claims: int
    wrong: int
    left: int
    account: Account
    latencies: tuple[float, ...]


def rehearse(
    collection: Collection,
    campaign: JudgingSettings,
    plan: Plan,
    *,
    truths: Sequence[Floats],
    heard: SoundFeatures | None = None,
    keep: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    workers: int | None = None,
) -> list[Trial]:
    """Every repetition of a plan, each against its truth (the last one serves for all that follow).

    A truth is the relevance of each candidate, in the order of :func:`candidates_for`; ``heard`` is for estimators that
    listen, see :func:`~adjudge.web.kinds.judging.sound.all_heard`. ``keep`` is a new folder for the data of the first
    repetition,
    with everybody's answers: to be served, looked at and exported like any other.
    """
    if keep is not None:
        _make_folder(keep)
    pool = candidates_for(collection, campaign)
    done = 0
    counting = threading.Lock()

    def run_trial(number: int) -> Trial:
        nonlocal done
        truth = truths[min(number, len(truths) - 1)]
        kept = keep if number == 0 else None
        trial = _trial(collection, campaign, plan, pool=pool, truth=truth, number=number, heard=heard, keep=kept)
        with counting:
            done += 1
            if progress is not None:
                progress(done, plan.repeats)
        return trial

    at_once = workers or min(plan.repeats, max(1, (os.cpu_count() or 2) // 2))
    with ThreadPoolExecutor(max_workers=at_once) as threads:
        return list(threads.map(run_trial, range(plan.repeats)))


def candidates_for(collection: Collection, campaign: JudgingSettings) -> Candidates:
    """What a campaign asks about, whatever is judged already."""
    unjudged = replace(collection, judgments=None)
    return candidates(unjudged, cutoff=campaign.cutoff, scale=campaign.evaluated.scale).retrieved()


def drawn_truths(pool: Candidates, measure: str, *, n: int, seed: int) -> list[Floats]:
    """Relevance of all candidates together, drawn from the hierarchical model, given what ``pool`` knows already."""
    from adjudge.relevance.base import start
    from adjudge.relevance.hierarchical.model import HierarchicalModel

    model = start("hierarchical", pool, scoring(measure, pool.scale))
    if not isinstance(model, HierarchicalModel):  # pragma: no cover - that is what it starts
        raise AdjudgeError("Expected the hierarchical model.")
    return list(model.draw(n, np.random.default_rng(seed)))


def judged_truth(pool: Candidates, judgments: Judgments) -> Floats:
    """Relevance as judgments say; candidates that nobody judged are not relevant, as everywhere else."""
    query = np.repeat(np.arange(judgments.n_queries), np.diff(judgments.pool.offsets))
    names = zip(judgments.queries.decode(query), judgments.documents.decode(judgments.pool.documents), strict=True)
    known = dict(zip(names, (judgments.pool.grades / judgments.scale.maximum).tolist(), strict=True))
    pairs = zip((pool.queries[q] for q in pool.query), pool.document, strict=True)
    found = np.array([known.get(pair, np.nan) for pair in pairs])
    if np.isnan(found).all():
        raise AdjudgeError("The judgments are about none of the campaign's candidates.")
    return np.asarray(np.clip(np.nan_to_num(found), 0.0, 1.0))


def _trial(
    collection: Collection,
    campaign: JudgingSettings,
    plan: Plan,
    *,
    pool: Candidates,
    truth: Floats,
    number: int,
    heard: SoundFeatures | None,
    keep: Path | None,
) -> Trial:
    """One repetition on a server of its own."""
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(number,)))
    rehearsed = campaign.model_copy(update={"consent": {}, "listen_seconds": 0.0, "seed": plan.seed + number})
    with tempfile.TemporaryDirectory(prefix="adjudge-rehearsal-") as folder:
        settings = Settings(data=Path(folder) / "data")
        invitation, token = _prepare(settings, collection, rehearsed, heard)
        with ServerProcess(settings.data) as server, connect(server.url, token) as organiser:
            read = _reader(pool, truth)
            stage = _Stage(organiser.campaign(NAME), plan, url=server.url, rng=rng, invitation=invitation, truth=read)
            stage.play()
            snapshot = stage.snapshot
            server.stop()
        checked = account(stage.people, _stored(settings))
        if keep is not None:
            shutil.copytree(settings.data, keep, dirs_exist_ok=True)
    return _outcome(plan.seed + number, stage, snapshot, true_of(pool, campaign, truth), checked)


def true_of(pool: Candidates, campaign: JudgingSettings, truth: Floats) -> dict[str, float]:
    """What each system is worth in truth."""
    known = replace(pool, relevance=truth)
    return dict(zip(pool.systems, true_scores(known, scoring(campaign.measure, pool.scale)).tolist(), strict=True))


def _reader(pool: Candidates, truth: Floats) -> Callable[[str, str], float]:
    return lambda query, document: float(truth[pool.find(query, document)])


def _make_folder(keep: Path) -> None:
    """Make the folder that a rehearsal is kept in now: after it, it would be late to find that this cannot be."""
    try:
        keep.mkdir(parents=True, exist_ok=True)
        is_used = any(keep.iterdir())
    except OSError as error:
        raise AdjudgeError(f"{keep}: cannot be made: {reason(error)}") from None
    if is_used:
        raise AdjudgeError(f"{keep}: expected a new folder to keep the rehearsal in, got one with something in it")


def _prepare(
    settings: Settings, collection: Collection, campaign: JudgingSettings, heard: SoundFeatures | None
) -> tuple[str, str]:
    """A copy of the campaign in the store; the tokens of an invitation and of its organiser."""
    database = open_database(settings)
    now = settings.clock()
    with database.write() as connection:
        organiser = add_organiser(connection, login=NAME, password=os.urandom(16).hex(), is_admin=False, now=now)
        token = make_token(connection, organiser, name=NAME, expires_at=None, now=now)[1]
    made = stand_in(
        database, settings, name=NAME, collection=collection, campaign=campaign, organiser_id=organiser.id, heard=heard
    )
    database.close()
    return made.invitation, token


def _stored(settings: Settings) -> list[dict[str, Any]]:
    """Every answer in the store."""
    database = open_database(settings)
    with database.read() as connection:
        rows = connection.execute(select(t.answer.c.key, t.answer.c.lease_id, t.answer.c.grades)).mappings().all()
    database.close()
    return [dict(row) for row in rows]


class _Stage:
    """Assessors in simulated time, before a running server."""

    def __init__(
        self,
        campaign: client.Campaign,
        plan: Plan,
        *,
        url: str,
        rng: np.random.Generator,
        invitation: str,
        truth: Callable[[str, str], float],
    ) -> None:
        self.campaign, self.plan, self.rng = campaign, plan, rng
        self.people = [
            SimulatedAssessor(url, invitation, truth, plan.behaviour, np.random.default_rng(rng.integers(2**63)))
            for _ in range(plan.assessors)
        ]
        self.snapshot: dict[str, Any] = {}
        self.judged_when_reached: int | None = None
        self.worked, self.clock, self.left = 0.0, 0.0, 0

    def play(self) -> None:
        """Until the goal is reached, everything is judged or nobody is left."""
        waiting = [(self._seconds(), place) for place in range(len(self.people))]
        heapq.heapify(waiting)
        idle = 0
        with ThreadPoolExecutor(max_workers=len(self.people)) as threads:
            while waiting and idle < _MOST_IDLE:
                turn = [heapq.heappop(waiting)]
                while waiting and waiting[0][0] <= turn[0][0] + TOGETHER:
                    turn.append(heapq.heappop(waiting))
                asked = list(threads.map(lambda event: self.people[event[1]].step(), turn))
                idle = 0 if any(asked) else idle + 1
                for (at, place), got in zip(turn, asked, strict=True):
                    following = self._following(place, at, got)
                    if following is not None:
                        heapq.heappush(waiting, (following, place))
                self._look()
        for person in self.people:
            person.close()

    def _following(self, place: int, at: float, got: bool) -> float | None:
        """When somebody is back for their next question; None where they are done."""
        person, behaviour = self.people[place], self.plan.behaviour
        if not got:
            return at + IMPATIENCE if person.why == "wait" else None
        took = self._seconds()
        self.worked += took
        self.clock = max(self.clock, at)
        if self.plan.most_answers is not None and len(person.answers) >= self.plan.most_answers:
            person.leave()
            return None
        if self.rng.random() >= behaviour.drop_out:
            return at + took
        person.leave()
        if self.rng.random() >= behaviour.comes_back:
            self.left += 1
            return None
        person.move()
        return at + took + AWAY * float(self.rng.exponential())

    def _seconds(self) -> float:
        return self.plan.behaviour.pace * float(np.exp(SPREAD * self.rng.standard_normal()))

    def _look(self) -> None:
        """Wait until the server has learned from everything, and see what it believes."""
        n = sum(len(person.answers) for person in self.people)
        end, pause = time.monotonic() + _THINKING, 0.02
        while time.monotonic() < end:
            self.snapshot = self.campaign.picture()
            if self.snapshot.get("made_from", {}).get("answers", -1) >= n:
                break
            time.sleep(pause)
            pause = min(1.5 * pause, 0.2)  # asking takes time from the server that thinks
        else:
            raise AdjudgeError(f"The server did not learn from {n} answers within {_THINKING:g} seconds.")
        if self.judged_when_reached is None and self.snapshot["status"]["done"]:
            self.judged_when_reached = int(self.snapshot["status"]["judged"])


def _outcome(seed: int, stage: _Stage, snapshot: dict[str, Any], truth: dict[str, float], checked: Account) -> Trial:
    """What came of it, held against the truth."""
    scores = {row["system"]: float(row["score"]) for row in snapshot["ranking"]}
    accuracy = agreement(scores, truth)
    best = max(truth.values())
    first = [row["system"] for row in snapshot["ranking"] if row["rank"] == 1]
    claims = [pair for pair in snapshot["pairs"] if pair["verdict"] == "better"]
    judged = int(snapshot["status"]["judged"])
    return Trial(
        seed=seed,
        reached=stage.judged_when_reached is not None,
        judgments=judged if stage.judged_when_reached is None else stage.judged_when_reached,
        candidates=int(snapshot["status"]["candidates"]),
        answers=sum(len(person.answers) for person in stage.people),
        person_hours=stage.worked / 3600,
        hours=stage.clock / 3600,
        accuracy=accuracy,
        tau=2 * accuracy - 1,
        best=any(truth[system] >= best - 1e-12 for system in first),
        claims=len(claims),
        wrong=sum(truth[pair["system"]] < truth[pair["other"]] - 1e-12 for pair in claims),
        left=stage.left,
        account=checked,
        latencies=tuple(answer.seconds for person in stage.people for answer in person.answers),
    )


def agreement(scores: Mapping[str, float], truth: Mapping[str, float]) -> float:
    """Share of pairs of systems in the true order; any order of true ties is right, no order is half right.

    >>> agreement({"a": 3, "b": 2, "c": 1}, {"a": 3, "b": 1, "c": 2})
    0.6666666666666666
    """
    names = sorted(truth)
    right = []
    for place, name in enumerate(names):
        for other in names[place + 1 :]:
            true, found = truth[name] - truth[other], scores[name] - scores[other]
            right.append(1.0 if abs(true) < 1e-12 else 0.5 if abs(found) < 1e-12 else float(true * found > 0))
    return float(np.mean(right)) if right else 1.0


@dataclass(frozen=True)
class Range:
    """A median, and where nine in ten repetitions lie."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Range:
        """Of these values."""
        low, median, high = np.quantile(np.asarray(values, dtype=np.float64), [0.05, 0.5, 0.95]).tolist()
        return cls(median, low, high)

    def shown(self, digits: int = 0) -> str:
        """As text: the median and the range."""
        return f"{self.median:,.{digits}f}  ({self.low:,.{digits}f} to {self.high:,.{digits}f})"


@dataclass(frozen=True)
class Forecast:
    """What to expect of a campaign.

    ``reached`` is the share of repetitions that reached the goal; ``best`` the chance that the best system is named;
    ``wrong`` the share of claims "a is better than b" that were not so. Latencies are in seconds, here and now.
    """

    repeats: int
    assessors: int
    candidates: int
    reached: float
    judgments: Range
    answers: Range
    person_hours: Range
    hours: Range
    accuracy: Range
    tau: Range
    best: float
    claims: int
    wrong: float | None
    left: Range
    lost: int
    doubled: int
    invented: int
    latency_p50: float | None
    latency_p95: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def forecast(trials: Sequence[Trial], *, assessors: int) -> Forecast:
    """Sum repetitions up."""
    claims, wrong = sum(t.claims for t in trials), sum(t.wrong for t in trials)
    latencies = np.array([seconds for trial in trials for seconds in trial.latencies])
    p50, p95 = np.quantile(latencies, [0.5, 0.95]).tolist() if latencies.size else (None, None)
    return Forecast(
        repeats=len(trials),
        assessors=assessors,
        candidates=trials[0].candidates,
        reached=float(np.mean([t.reached for t in trials])),
        judgments=Range.of([t.judgments for t in trials]),
        answers=Range.of([t.answers for t in trials]),
        person_hours=Range.of([t.person_hours for t in trials]),
        hours=Range.of([t.hours for t in trials]),
        accuracy=Range.of([t.accuracy for t in trials]),
        tau=Range.of([t.tau for t in trials]),
        best=float(np.mean([t.best for t in trials])),
        claims=claims,
        wrong=wrong / claims if claims else None,
        left=Range.of([t.left for t in trials]),
        lost=sum(len(t.account.lost) + len(t.account.changed) for t in trials),
        doubled=sum(len(t.account.doubled) for t in trials),
        invented=sum(len(t.account.invented) for t in trials),
        latency_p50=p50,
        latency_p95=p95,
    )


def forecast_section(found: Forecast, *, about: str) -> Section:
    """The forecast as a table for people."""
    people = counted(found.assessors, "assessor")
    wrong = "no claims" if found.wrong is None else f"{100 * found.wrong:.1f} % of {found.claims:,}"
    rows = [
        ("goal reached", f"{100 * found.reached:.0f} % of {counted(found.repeats, 'repetition')}"),
        ("judgments to the goal", f"{found.judgments.shown()} of {found.candidates:,} candidates"),
        ("answers in all", found.answers.shown()),
        ("person-hours", found.person_hours.shown(1)),
        (f"hours with {people}", found.hours.shown(1)),
        ("pairs of systems in the true order", f"{_percent(found.accuracy)}"),
        ("Kendall's tau with the truth", found.tau.shown(2)),
        ("best system named", f"{100 * found.best:.0f} %"),
        ("claims 'is better' that were wrong", wrong),
        ("answers lost, doubled, invented", f"{found.lost}, {found.doubled}, {found.invented}"),
    ]
    if found.latency_p50 is not None and found.latency_p95 is not None:
        rows.append(("answer and next question, p50 and p95", _milliseconds(found.latency_p50, found.latency_p95)))
    table = TableBlock(
        "forecast",
        "Median over the repetitions, and the range of nine in ten of them.",
        (Heading("", "left"), Heading("forecast", "left")),
        tuple(rows),
        [found.to_dict()],
    )
    return Section("forecast", "Forecast", (Paragraph(about), table))


def _percent(found: Range) -> str:
    return f"{100 * found.median:.0f} %  ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _milliseconds(p50: float, p95: float) -> str:
    return f"{1000 * p50:.0f} ms, {1000 * p95:.0f} ms"


def trial_records(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """One row a repetition, for CSV."""
    rows = []
    for trial in trials:
        row = {name: value for name, value in vars(trial).items() if name not in ("account", "latencies")}
        counts = {"lost": len(trial.account.lost) + len(trial.account.changed)}
        counts |= {"doubled": len(trial.account.doubled), "invented": len(trial.account.invented)}
        rows.append(row | counts)
    return rows


def rehearse_campaign(
    database: Database,
    settings: Settings,
    campaign: Campaign,
    plan: Plan,
    options: Mapping[str, Any],
    *,
    progress: ShowProgress,
) -> Rehearsal:
    """Rehearse a stored campaign as its runs, judgments and clips are now; judgments of ``options`` are the truth."""
    with progress("hearing clips") as advance:
        hear(database, settings, campaign.id, workers=count_workers(None), progress=advance)
    with database.read() as connection:
        known = pair_grades(current_grades(connection, campaign.id), settings_of(campaign).evaluated.name, binary=False)
        collection, heard = collection_of(connection, campaign), all_heard(connection, campaign)
    return _rehearsal(collection, settings_of(campaign), plan, options, known=known, heard=heard, progress=progress)


def rehearse_demo(plan: Plan, options: Mapping[str, Any], *, progress: ShowProgress) -> Rehearsal:
    """Rehearse the embedded demo against its own judgments."""
    from adjudge.embedded import demo

    collection = demo(queries=10, depth=5)
    settings = JudgingSettings.parse({"title": "The demo", "measure": "CG@5"})
    judgments = collection.need_judgments()
    return _rehearsal(collection, settings, plan, options, judgments=judgments, progress=progress)


def _rehearsal(
    collection: Collection,
    settings: JudgingSettings,
    plan: Plan,
    options: Mapping[str, Any],
    *,
    known: Mapping[tuple[str, str], float] | None = None,
    heard: SoundFeatures | None = None,
    judgments: Judgments | None = None,
    progress: ShowProgress,
) -> Rehearsal:
    if options["judgments"] is not None:
        scale = options["scale"] or settings.evaluated.scale
        judgments = read_judgments(options["judgments"], scale=scale, columns=options["columns"])
    pool = candidates_for(collection, settings)
    if judgments is not None:
        truths = [judged_truth(pool, judgments)]
        unjudged = int((truths[0] == 0).sum())
        about = f"The truth is what the judgments say of {len(pool):,} candidates ({unjudged:,} of them at 0)."
    else:
        truths = drawn_truths(pool.judged_as(dict(known or {})), settings.measure, n=plan.repeats, seed=plan.seed)
        after = f"after {len(known):,} judgments" if known else "before any judgment"
        about = f"The truth is drawn from what the engine believes {after}, again in each repetition."
    keep = None if options["keep"] is None else Path(options["keep"])
    with progress("rehearsing") as advance:
        trials = rehearse(
            collection,
            settings,
            plan,
            truths=truths,
            heard=heard,
            keep=keep,
            progress=advance,
            workers=options["workers"],
        )
    outcome = forecast(trials, assessors=plan.assessors)
    notes = []
    if settings.by_sound and not (heard and heard.clips):
        notes.append("the campaign has no clips to hear yet, so that it is rehearsed without sound")
    if keep is not None:
        notes.append(f"kept the first repetition: adjudge serve --data {keep}")
    return Rehearsal(
        about=f"{settings.measure}, {settings.goal.goal}",
        section=forecast_section(outcome, about=about),
        records=trial_records(trials),
        values={"forecast": outcome.to_dict()},
        provenance=collection.provenance,
        notes=tuple(notes),
    )
