"""What a preference campaign teaches so far, as a report and as curves for a mapping file.

Only answers that count are learnt from; the participants are all there, with what was set aside and why. Before there
are answers enough for curves the report says so, and is about the people alone.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.reporting.document import Block, Paragraph, Report, Section
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Refused
from adjudge.web.preference_curves import FEWEST_ANSWERS, wanted_combinations
from adjudge.web.preference_exporting import csv_of_answers, study_of
from adjudge.web.schema import answer, event

if TYPE_CHECKING:
    from adjudge.preferences.influence import Influence
    from adjudge.preferences.learning import Learnt
    from adjudge.preferences.study import Study

_RESAMPLES = 400  # an organiser waits for the page
_MOST_LEFT_OUT = 500  # participants whom the report leaves out one by one


def _wanted(campaign: Campaign, study: Study) -> list[str]:
    """The combinations to learn; refused in one line where nothing can be learnt yet."""
    n_counted = len(study.counted())
    if n_counted < FEWEST_ANSWERS:
        raise Refused(f"Curves need {FEWEST_ANSWERS} answers that count; so far there are {n_counted}.")
    wanted = wanted_combinations(study.questions, campaign.preference.combinations)
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
        seen = [evidence(study, one.measure, one.scale) for one in wanted]
        mappings = Mappings(
            tuple(satisfaction_curve(one, source=source, provenance=facts) for one in seen),
            tuple(agreement_curve(one, source=source, provenance=facts) for one in seen),
        )
        path = Path(folder) / "mapping.json"
        write_mappings(mappings, path)
        return path.read_bytes()


def preference_report(connection: Connection, campaign: Campaign) -> Report:
    """Curves, noticeable differences and predictions where there are answers enough; then the participants."""
    study = study_of(connection, campaign)
    if not len(study):
        raise Refused("A report needs answers; so far there are none.")
    sections = [_so_far(campaign, study), *_taught(campaign, study), *_people(connection, campaign, study)]
    subtitle = f"{len(study):,} answers of {len(study.participants):,} participants"
    return Report(campaign.settings.title, subtitle, tuple(sections), _provenance(connection, campaign))


def _so_far(campaign: Campaign, study: Study) -> Section:
    counted, wanted = len(study.counted()), campaign.settings.judged_by
    n_questions = sum(not one.is_trap for one in study.questions.questions)
    n_aside, n_traps = int((study.set_aside & ~study.trap).sum()), int(study.trap.sum())
    words = (
        f"{counted:,} answers count, of {wanted * n_questions:,} that {n_questions:,} questions want. "
        f"{n_aside:,} more are set aside, and {n_traps:,} are to traps."
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


def _people(connection: Connection, campaign: Campaign, study: Study) -> list[Section]:
    from adjudge.preferences.quality import quality
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
        others = [Section("influence", "What hangs on whom", (Paragraph(why),))]
    return [replace(people, blocks=(*people.blocks, *_about_repeats(connection, campaign))), *others]


def _influence(campaign: Campaign, study: Study) -> Influence:
    """How conclusions change without each participant; refused where that cannot be said, with the reason."""
    from adjudge.preferences.influence import influence

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
    again = select(func.count()).where(answer.c.campaign_id == campaign.id, answer.c.kind == "repeat")
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

    last = select(event.c.details).where(event.c.campaign_id == campaign.id, event.c.what == "questions")
    details = connection.execute(last.order_by(event.c.id.desc()).limit(1)).scalar_one_or_none() or {}
    inputs = tuple((str(name), str(digest)) for name, digest in details.get("inputs", ()))
    return Provenance(inputs, {"campaign": campaign.name, "seed": campaign.settings.seed}).to_dict()
