"""What a preference campaign teaches so far, as a report and as curves for a mapping file.

Only answers that count are learnt from; the participants are all there, with what was set aside and why. Before there
are answers enough for curves the report says so, and is about the people alone.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, union_all

from adjudge._version import __version__
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.reports.document import Block, Paragraph, Report, Section
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Refused
from adjudge.web.preference_exporting import study_of
from adjudge.web.preference_trust import least_heard, rules_of
from adjudge.web.schema import event, item, listed, pair

if TYPE_CHECKING:
    from adjudge.preferences.learning import Learnt
    from adjudge.preferences.study import Study

LEAST_ANSWERS = 20
"""So many answers must count before a curve is drawn through them."""
_BOOTSTRAP = 400  # resamples: an organiser waits for the page
_MOST_LEFT_OUT = 500  # participants whom the report leaves out one by one


def combinations_of(campaign: Campaign, study: Study) -> list[str]:
    """The measures and scales that the campaign is about: those decided, else CG of whole lists on each scale."""
    wanted = campaign.preference.combinations
    return list(wanted) or [f"CG@{study.questions.n_ranks} on {scale}" for scale in study.questions.grades]


def _wanted(campaign: Campaign, study: Study) -> list[str]:
    """The combinations to learn; refused in one line where nothing can be learnt yet."""
    n_counted = len(study.counted())
    if n_counted < LEAST_ANSWERS:
        raise Refused(f"Curves need {LEAST_ANSWERS} answers that count; so far there are {n_counted}.")
    wanted = combinations_of(campaign, study)
    if not wanted:
        raise Refused("Curves need grades of the documents; the questions have none.")
    return wanted


@contextmanager
def _said_in_one_line() -> Iterator[None]:
    """What is wrong with the answers is no fault of anybody: there are too few, or they are all alike."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdjudgeWarning)
            yield
    except AdjudgeError as error:
        raise Refused(f"The answers so far allow no curves: {error}") from None


def learnt_from(campaign: Campaign, study: Study) -> Learnt:
    """All that the answers teach; refused in one line where there are too few."""
    from adjudge.preferences.learning import learn

    wanted = _wanted(campaign, study)
    with _said_in_one_line():
        return learn(study, wanted, bootstrap=_BOOTSTRAP, seed=campaign.settings.seed)


def fitted_mappings(connection: Connection, campaign: Campaign) -> bytes:
    """The curves of satisfaction and agreement as a mapping file, in JSON."""
    from adjudge.preferences.combinations import Combination
    from adjudge.preferences.curves import agreement_curve, satisfaction_curve
    from adjudge.preferences.evidence import evidence
    from adjudge.users.mapping_files import Mappings, write_mappings

    study = study_of(connection, campaign)
    wanted = [Combination.parse(text) for text in _wanted(campaign, study)]
    source, facts = f"fitted with Adjudge on campaign {campaign.name}", _facts(study.counted())
    with _said_in_one_line(), tempfile.TemporaryDirectory() as folder:
        seen = [evidence(study, one.measure, one.scale) for one in wanted]
        mappings = Mappings(
            tuple(satisfaction_curve(one, source=source, provenance=facts) for one in seen),
            tuple(agreement_curve(one, source=source, provenance=facts) for one in seen),
        )
        path = Path(folder) / "mapping.json"
        write_mappings(mappings, path)
        return path.read_bytes()


def _facts(counted: Study) -> tuple[tuple[str, str], ...]:
    """What a mapping says of where it comes from."""
    queries = {counted.questions.questions[place].query for place in set(counted.question.tolist())}
    counts = {"answers": len(counted), "participants": len(set(counted.participant.tolist())), "queries": len(queries)}
    return (*((name, str(number)) for name, number in counts.items()), ("adjudge", __version__))


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
    from adjudge.reports.preference_sections import preference_sections, preference_sentences

    try:
        learnt = learnt_from(campaign, study)
    except Refused as refused:
        return [Section("learnt", "What it teaches", (Paragraph(str(refused)),))]
    said: tuple[Block, ...] = (Paragraph(" ".join(preference_sentences(learnt))),)
    return [Section("learnt", "What it teaches", said), *preference_sections(learnt, study)]


def _people(connection: Connection, campaign: Campaign, study: Study) -> list[Section]:
    from adjudge.preferences.influence import Influence, influence
    from adjudge.preferences.quality import quality
    from adjudge.reports.participant_section import participant_sections

    sound = _least_seconds(connection, campaign)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdjudgeWarning)
        try:
            found = quality(study, rules=rules_of(campaign), least_seconds=sound, seed=campaign.settings.seed)
        except AdjudgeError as error:
            return [Section("participants", "The participants", (Paragraph(f"Nothing is known of them yet: {error}"),))]
        changes: Influence | None = None
        wanted = combinations_of(campaign, study)
        if wanted and len(study.counted()) >= LEAST_ANSWERS and len(study.participants) <= _MOST_LEFT_OUT:
            try:
                changes = influence(study, combinations=wanted)
            except AdjudgeError:  # too few without somebody; what is known of the others stands
                changes = None
    return list(participant_sections(found, changes))


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


def _provenance(connection: Connection, campaign: Campaign) -> dict[str, object]:
    """The files that the questions came from, and the decisions that answers rest on."""
    from adjudge.model.provenance import Provenance

    last = select(event.c.details).where(event.c.campaign_id == campaign.id, event.c.what == "questions")
    details = connection.execute(last.order_by(event.c.id.desc()).limit(1)).scalar_one_or_none() or {}
    inputs = tuple((str(name), str(digest)) for name, digest in details.get("inputs", ()))
    return Provenance(inputs, {"campaign": campaign.name, "seed": campaign.settings.seed}).to_dict()
