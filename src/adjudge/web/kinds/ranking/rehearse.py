"""Rehearsing a ranking campaign: simulated experts rank a copy of it through a real server, several times over.

The documents of a query have a true relevance, from 0 to 1, in groups that are alike. An expert sees it with normal
noise, ranks what they see, ties what they cannot tell apart (where the campaign lets them), and leaves the least
relevant unranked; careless experts rank at random. The lists that the server makes are compared with the truth.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.arrays import Ints
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.groundtruth import PartialLists
from adjudge.groundtruth.simulated import recovered
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import Paragraph, Section, TableBlock
from adjudge.tables import Heading
from adjudge.text import counted
from adjudge.web.client import Campaign, RankingExpert, connect, join_ranking
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.kinds.ranking.settings import RankingSettings, settings_of
from adjudge.web.kinds.ranking.store import candidates_of, put_candidates
from adjudge.web.rehearse import NAME, SPREAD, Behaviour, Plan, Rehearsal, ShowProgress
from adjudge.web.serving import ServerProcess
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import Campaign as StoredCampaign
from adjudge.web.store.database import Database, open_database
from adjudge.web.store.items import NewItem, put_items
from adjudge.web.store.participants import make_invitation
from adjudge.web.store.people import add_organiser, make_token

GROUPS = 5
"""True groups of a query, where it has documents enough."""
_ALIKE = 0.02  # seen nearer than this, documents share a place
_UNLIKE = 0.15  # seen below this, a document is left unranked

Candidates = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class RankingTrial:
    """One repetition.

    ``rankings`` of ``wanted`` came in ``person_hours``. ``consistency`` is ADR-1 of the lists, ``recovered`` the share
    of pairs of documents that stand as they truly do, ``groups`` how many groups a list has, of ``true_groups``. Of
    ``careless`` experts, ``found`` were called like chance, and so were ``wronged`` of the others.
    """

    seed: int
    experts: int
    rankings: int
    wanted: int
    person_hours: float
    consistency: float
    recovered: float
    groups: float
    true_groups: float
    careless: int
    found: int
    wronged: int


def rehearse_rankings(
    candidates: Candidates,
    settings: RankingSettings,
    plan: Plan,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[RankingTrial]:
    """Every repetition of a plan; ``plan.assessors`` experts come, one of them at a time."""
    if not candidates:
        raise AdjudgeError("The campaign has no candidates yet; give it a file with those of each query.")
    trials = []
    for number in range(plan.repeats):
        trials.append(_trial(candidates, settings, plan, number))
        if progress is not None:
            progress(number + 1, plan.repeats)
    return trials


def _trial(candidates: Candidates, settings: RankingSettings, plan: Plan, number: int) -> RankingTrial:
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(number,)))
    truth = {query: _true_groups(len(documents), rng) for query, documents in candidates.items()}
    rehearsed = settings.model_copy(update={"consent": {}, "listen_seconds": 0.0, "seed": plan.seed + number})
    with tempfile.TemporaryDirectory(prefix="adjudge-rehearsal-") as folder:
        served = Settings(data=Path(folder) / "data")
        invitation, token = _prepare(served, candidates, rehearsed)
        with ServerProcess(served.data) as server, connect(server.url, token) as organiser:
            experts = [_Expert(server.url, invitation, rehearsed, plan.behaviour, rng) for _ in range(plan.assessors)]
            hours = sum(expert.work(candidates, truth) for expert in experts)
            trial = _outcome(organiser.campaign(NAME), candidates, truth, experts, seed=plan.seed + number)
    return RankingTrial(**{**trial, "person_hours": hours})


def _true_groups(n: int, rng: np.random.Generator) -> Ints:
    """The true group of each document, 0 being the most similar; every group has one."""
    groups = min(GROUPS, n)
    found: Ints = np.concatenate([np.arange(groups), rng.integers(groups, size=n - groups)])
    return rng.permutation(found)


def _prepare(settings: Settings, candidates: Candidates, campaign: RankingSettings) -> tuple[str, str]:
    """A copy of the campaign in the store, to be read; the tokens of an invitation and of its organiser."""
    database, now = open_database(settings), settings.clock()
    names = dict.fromkeys([*candidates, *(name for documents in candidates.values() for name in documents)])
    with database.write() as connection:
        organiser = add_organiser(connection, login=NAME, password=os.urandom(16).hex(), is_admin=False, now=now)
        token = make_token(connection, organiser, name=NAME, expires_at=None, now=now)[1]
        made = create_campaign(connection, name=NAME, settings=campaign, organiser_id=organiser.id, now=now)
        put_candidates(connection, made, candidates, who=NAME, now=now)
        put_items(connection, made, [NewItem(name, kind="text", text=name) for name in names])
        made = set_state(connection, made, "open", who=NAME, now=now)
        invitation = make_invitation(connection, made, secret=settings.secret, now=now).token
    database.close()
    return invitation, token


class _Expert:
    """Somebody who ranks over HTTP, as a browser does."""

    def __init__(
        self, url: str, invitation: str, settings: RankingSettings, behaviour: Behaviour, rng: np.random.Generator
    ) -> None:
        self.client: RankingExpert = join_ranking(url, invitation)
        self.settings, self.behaviour, self.rng = settings, behaviour, rng
        self.is_careless = bool(rng.random() < behaviour.laziness)
        self.code = str(self.client.desk()["participant"]["code"])

    def work(self, candidates: Candidates, truth: Mapping[str, Ints]) -> float:
        """Rank until there is nothing more, or they leave; the hours that it took."""
        seconds, assignment = 0.0, self.client.desk()
        while (question := assignment["question"]) is not None:
            query = question["query"]["text"]
            groups = dict(zip(candidates[query], truth[query].tolist(), strict=True))
            n_groups = max(groups.values()) + 1
            at = {candidate["id"]: 1 - groups[candidate["text"]] / n_groups for candidate in question["candidates"]}
            took = self.behaviour.pace * len(at) * float(np.exp(SPREAD * self.rng.standard_normal()))
            assignment = self.client.order(question, self._groups(at), took_ms=int(1000 * took)).desk
            seconds += took
            if self.rng.random() < self.behaviour.drop_out:
                break
        self.client.close()
        return seconds / 3600

    def _groups(self, at: Mapping[int, float]) -> list[list[int]]:
        """What they make of what they see."""
        noise = self.behaviour.noise * self.rng.standard_normal(len(at))
        seen = dict(zip(at, np.array([*at.values()]) + noise, strict=True))
        if self.is_careless:
            seen = dict(zip(at, self.rng.random(len(at)), strict=True))
        ordered = sorted(seen, key=lambda number: -seen[number])
        least = len(ordered) if self.settings.rank_all else min(self.settings.least_ranked, len(ordered))
        ranked = [number for place, number in enumerate(ordered) if place < least or seen[number] >= _UNLIKE]
        groups: list[list[int]] = []
        for number in ranked:
            if self.settings.ties and groups and seen[groups[-1][0]] - seen[number] < _ALIKE:
                groups[-1].append(number)
            else:
                groups.append([number])
        return groups


def _outcome(
    campaign: Campaign, candidates: Candidates, truth: Mapping[str, Ints], experts: Sequence[_Expert], *, seed: int
) -> dict[str, Any]:
    """What came of it, held against the truth."""
    from adjudge.groundtruth import build
    from adjudge.web.kinds.ranking.dashboard import agreements

    rankings = campaign.rankings()
    with kept_warnings():  # documents that nobody ranked are last, and alike
        made = build(rankings)
    true = {
        query: [
            [name for name, group in zip(documents, truth[query], strict=True) if group == number]
            for number in range(int(truth[query].max()) + 1)
        ]
        for query, documents in candidates.items()
        if query in made
    }
    strange = {code for code, agreement in agreements(rankings.queries).items() if agreement.like_chance}
    careless = {expert.code for expert in experts if expert.is_careless}
    return {
        "seed": seed,
        "experts": len(experts),
        "rankings": sum(len(query.experts) for query in rankings.queries),
        "wanted": len(candidates) * experts[0].settings.judged_by,
        "consistency": made.consistency(1),
        "recovered": float(recovered(made.lists, PartialLists.from_groups(true)).mean()),
        "groups": float(np.mean([len(partial.groups) for partial in made.lists.values()])),
        "true_groups": float(np.mean([len(groups) for groups in true.values()])),
        "careless": len(careless),
        "found": len(strange & careless),
        "wronged": len(strange - careless),
    }


def ranking_forecast_section(trials: Sequence[RankingTrial]) -> Section:
    """What the repetitions make expect, as a table for people."""

    def middle(name: str, digits: int) -> str:
        values = [getattr(trial, name) for trial in trials]
        low, high = min(values), max(values)
        return f"{np.median(values):.{digits}f}  ({low:.{digits}f} to {high:.{digits}f})"

    careless, found, wronged = (
        sum(getattr(trial, name) for trial in trials) for name in ("careless", "found", "wronged")
    )
    careful = sum(trial.experts for trial in trials) - careless
    rows = (
        ("rankings", f"{middle('rankings', 0)} of {trials[0].wanted:,} wanted"),
        ("person-hours", middle("person_hours", 1)),
        ("consistency of the lists, ADR-1", middle("consistency", 3)),
        ("pairs of documents as they truly are", middle("recovered", 3)),
        ("groups of a list", f"{middle('groups', 1)}, truly {np.median([trial.true_groups for trial in trials]):.1f}"),
        ("experts who do not look, found", f"{found} of {careless}" if careless else "there were none"),
        ("other experts called like chance", f"{wronged} of {careful}"),
    )
    table = TableBlock(
        "forecast",
        "Median over the repetitions, and all of their range.",
        (Heading("", "left"), Heading("forecast", "left")),
        rows,
        [asdict(trial) for trial in trials],
    )
    about = f"{counted(len(trials), 'repetition')}; the true groups of documents are drawn again in each."
    return Section("forecast", "Forecast", (Paragraph(about), table))


def rehearse_campaign(
    database: Database, campaign: StoredCampaign, plan: Plan, options: Mapping[str, Any], *, progress: ShowProgress
) -> Rehearsal:
    """Simulated experts rank a copy of a stored campaign."""
    if options["keep"] is not None:
        raise AdjudgeError("--keep is for campaigns in which documents are judged; experts who rank leave no data")
    if options["judgments"] is not None:
        raise AdjudgeError("Expected no judgments for a ranking campaign: its true lists are drawn.")
    with database.read() as connection:
        candidates = candidates_of(connection, campaign.id)
    with progress("rehearsing") as advance:
        trials = rehearse_rankings(candidates, settings_of(campaign), plan, progress=advance)
    return Rehearsal(
        about=f"{plan.assessors} experts",
        section=ranking_forecast_section(trials),
        records=[asdict(trial) for trial in trials],
        provenance=Provenance(),
    )
