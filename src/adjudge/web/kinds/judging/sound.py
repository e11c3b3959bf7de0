"""Sound features of a campaign's clips, computed once per clip and kept in the store.

Estimators that know how alike documents sound need fewer judgments. Features are computed where a campaign asks for
them (``by_sound``): by the command line when documents are taken in, over processes, otherwise by the thread that
estimates. A clip that cannot be read is remembered as such, and its document is estimated without sound.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, Select, delete, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.parallel import Progress, run_jobs
from adjudge.web.errors import NotFound
from adjudge.web.kinds.judging.settings import settings_of
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, campaign_by_id
from adjudge.web.store.database import Database

if TYPE_CHECKING:
    from adjudge.arrays import Floats
    from adjudge.audio.similarity import SoundSimilarity

_STANDS_IN = "text"  # the kind of what is in a sound's place where programs judge
_AT_ONCE = 50  # clips between two steps into the store: what is heard stays heard
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SoundFeatures:
    """What a campaign heard, for a copy of it that has no sound: the clips of documents, and what the store says."""

    clips: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[Mapping[str, Any], ...] = ()


def hear(
    database: Database,
    settings: Settings,
    campaign_id: int,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> int:
    """Hear the clips of a campaign that were not heard yet, where it asks for that; how many were."""
    with database.read() as connection:
        missing = _missing(connection, campaign_id)
    for first in range(0, len(missing), _AT_ONCE):
        part = missing[first : first + _AT_ONCE]
        rows = sorted(_heard(part, settings.media / "clips", workers=workers), key=lambda row: str(row["clip_sha256"]))
        new = (sqlite if database.is_sqlite else postgresql).insert(t.sound)
        with database.write() as connection:
            connection.execute(delete(t.sound).where(t.sound.c.clip_sha256.in_(part)))
            connection.execute(new.on_conflict_do_nothing(), rows)  # another process may hear the same ones just now
        if progress is not None:
            progress(first + len(part), len(missing))
    return len(missing)


def heard_clips(connection: Connection, campaign: Campaign) -> list[tuple[str, str]]:
    """Documents of a campaign of which it is known what they sound like, with the digests of their clips."""
    rows = connection.execute(
        _known(campaign.id).with_only_columns(t.item.c.identifier, t.item.c.clip_sha256).distinct()
    )
    return sorted((row.identifier, row.clip_sha256) for row in rows)


def all_heard(connection: Connection, campaign: Campaign) -> SoundFeatures:
    """Everything that a campaign heard; nothing where it does not listen."""
    if not settings_of(campaign).by_sound:
        return SoundFeatures()
    known = _known(campaign.id).with_only_columns(t.item.c.clip_sha256)
    rows = connection.execute(select(t.sound).where(t.sound.c.clip_sha256.in_(known))).mappings()
    return SoundFeatures(dict(heard_clips(connection, campaign)), tuple(dict(row) for row in rows))


def similarity_of(connection: Connection, campaign: Campaign, documents: Sequence[str]) -> SoundSimilarity | None:
    """How alike the documents of a campaign sound; None while fewer than two of those that matter were heard."""
    from adjudge.audio.similarity import SoundSimilarity

    numbers: dict[str, dict[str, Floats]] = defaultdict(dict)
    for row in connection.execute(_known(campaign.id)):
        numbers[row.identifier][row.feature] = np.frombuffer(row.numbers, dtype=np.float64)
    whole = sorted(name for name, features in numbers.items() if len(features) == len(_versions()))
    if len(set(whole).intersection(documents)) < 2:
        return None
    return SoundSimilarity(
        whole, {name: np.stack([numbers[document][name] for document in whole]) for name in _versions()}
    )


def _versions() -> dict[str, int]:
    """Versions of the features that sound is compared by."""
    from adjudge.audio.features import AUDIO_FEATURES
    from adjudge.audio.similarity import ASPECTS

    return {name: AUDIO_FEATURES[name].version for name in ASPECTS}


def _known(campaign_id: int) -> Select[Any]:
    """Features of the documents of a campaign that were heard and could be."""
    current = [(t.sound.c.feature == name) & (t.sound.c.version == version) for name, version in _versions().items()]
    return (
        select(t.item.c.identifier, t.item.c.clip_sha256, t.sound.c.feature, t.sound.c.numbers)
        .join(t.sound, t.sound.c.clip_sha256 == t.item.c.clip_sha256)
        .where(_is_heard(campaign_id), t.sound.c.numbers.is_not(None), or_(*current))
    )


def _is_heard(campaign_id: int) -> Any:
    is_sound = t.item.c.kind.in_(("audio", _STANDS_IN))
    return (t.item.c.campaign_id == campaign_id) & (t.item.c.role == "document") & is_sound


def _missing(connection: Connection, campaign_id: int) -> list[str]:
    """Digests of clips that are to be heard, each once; none where the campaign does not ask for it."""
    try:
        campaign = campaign_by_id(connection, campaign_id)
    except NotFound:
        return []
    if campaign.kind != "judging" or not settings_of(campaign).by_sound:
        return []
    versions = _versions()
    current = [(t.sound.c.feature == name) & (t.sound.c.version == version) for name, version in versions.items()]
    done = select(t.sound.c.clip_sha256).where(or_(*current)).group_by(t.sound.c.clip_sha256)
    wanted = select(t.item.c.clip_sha256).where(_is_heard(campaign_id), t.item.c.clip_sha256.is_not(None))
    lacking = wanted.where(t.item.c.clip_sha256.not_in(done.having(func.count() == len(versions)))).distinct()
    return sorted(connection.execute(lacking).scalars().all())


def _heard(clips: list[str], folder: Path, *, workers: int) -> Iterator[dict[str, object]]:
    """Rows of the store for these clips."""
    jobs = {digest: folder / f"{digest}.mp3" for digest in clips}
    for digest, result in run_jobs(_sound_of, jobs, workers=workers):
        found = result if isinstance(result, dict) else {}
        if not found:
            _log.warning("The clip %s cannot be heard, so its document is estimated without: %s", digest, result)
        for name, version in _versions().items():
            numbers = found[name].astype(np.float64).tobytes() if name in found else None
            yield {"clip_sha256": digest, "feature": name, "version": version, "numbers": numbers}


def _sound_of(path: Path) -> dict[str, Floats] | str:
    """Features of a clip, or why it cannot be heard."""
    from adjudge.audio.features.extract import extract

    try:
        return extract(path, tuple(_versions()))
    except AdjudgeError as error:
        return str(error)
