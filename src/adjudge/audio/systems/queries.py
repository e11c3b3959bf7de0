"""Which documents are asked about: all, some drawn by chance and balanced over genres, or those named."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from adjudge.arrays import Ints
from adjudge.audio.systems.base import Sounds
from adjudge.audio.systems.chance import keys_of
from adjudge.audio.systems.labels import folded
from adjudge.checks import check_whole
from adjudge.errors import AdjudgeError, shown, warn


def choose_queries(
    sounds: Sounds, number: int | None = None, *, per_genre: int | None = None, documents: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Documents to be queries: all; a ``number`` of them; so many ``per_genre``; or the ``documents`` named.

    What is drawn depends on the seed of ``sounds``. A number is spread over genres as evenly as these allow, where
    documents of unknown genre count as one more; with ``per_genre`` these are left out, and genres with fewer documents
    give all they have. Documents come and go without changing much of what is drawn. In the order of the library, but
    named ones as named.

    >>> import polars as pl
    >>> tracks = pl.DataFrame({"genre": ["a"] * 4 + ["b"] * 2 + ["c"] * 4})
    >>> sounds = Sounds(tuple("0123456789"), {}, tracks)
    >>> len(choose_queries(sounds)), choose_queries(sounds, documents=["3", "1"])
    (10, ('3', '1'))
    >>> [sum(one in part for one in choose_queries(sounds, 8)) for part in ("0123", "45", "6789")]
    [3, 2, 3]
    """
    if sum(one is not None for one in (number, per_genre, documents)) > 1:
        raise AdjudgeError("expected one way to choose queries, got several: a number, per genre, or documents")
    if documents is not None:
        return _named(sounds, documents)
    if per_genre is not None:
        places = _per_genre(sounds, check_whole("per-genre", per_genre, 1))
    elif number is not None:
        check_whole("queries", number, 1)
        if number > len(sounds):
            raise AdjudgeError(f"expected at most {len(sounds):,} queries, as there are documents, got {number:,}")
        groups = _by_genre(sounds)
        rounds = (one for turn in zip_longest(*groups.values()) for one in turn if one is not None)
        places = np.sort(np.fromiter(rounds, dtype=np.int64, count=len(sounds))[:number])
    else:
        return sounds.documents
    return tuple(sounds.documents[place] for place in places)


def _named(sounds: Sounds, documents: Sequence[str]) -> tuple[str, ...]:
    known = set(sounds.documents)
    wanted = tuple(dict.fromkeys(documents))
    missing = [name for name in wanted if name not in known]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise AdjudgeError(f"expected queries that are documents of the library, got {shown(missing[0])}{more}")
    if not wanted:
        raise AdjudgeError("expected queries, got none")
    return wanted


def _by_genre(sounds: Sounds) -> dict[str, list[int]]:
    """Places of documents by genre, genres and documents in an order of chance; the unknown is called ''."""
    column = sounds.tracks["genre"].to_list() if "genre" in sounds.tracks.columns else [None] * len(sounds)
    groups: dict[str, list[int]] = {}
    for place in np.argsort(keys_of(sounds.documents, seed=sounds.seed, about="queries"), kind="stable"):
        groups.setdefault(folded(column[place] or ""), []).append(int(place))
    order = np.argsort(keys_of(groups, seed=sounds.seed, about="genres"), kind="stable")
    names = list(groups)
    return {names[place]: groups[names[place]] for place in order}


def _per_genre(sounds: Sounds, number: int) -> Ints:
    groups = _by_genre(sounds)
    unknown = groups.pop("", [])
    if not groups:
        raise AdjudgeError("expected genres for queries of each, got none; give a number of queries instead")
    if unknown:
        several = "documents of unknown genre are no queries"
        warn(f"{len(unknown):,} {several if len(unknown) > 1 else 'document of unknown genre is no query'}.", 4)
    short = sum(len(group) < number for group in groups.values())
    if short:
        warn(f"{short} of {len(groups)} genres have fewer than {number} documents: all of these are queries.", 4)
    return np.sort(np.array([place for group in groups.values() for place in group[:number]], dtype=np.int64))
