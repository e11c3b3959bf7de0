"""From one file format to another, through the same checks as any other reading."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.choices import Combine, Names
from adjudge.errors import AdjudgeError
from adjudge.formats.base import Kind
from adjudge.formats.paths import files_of, settled
from adjudge.formats.reading import read, read_judgments, read_metadata
from adjudge.formats.writing import format_for, write
from adjudge.model.judgments import Judgments


def convert(
    given: Any,
    target: str | Path,
    *,
    kind: Kind,
    format: str | None = None,  # noqa: A002 - the word users know
    to: str | None = None,
    names: Names | None = None,
    combine: Combine | None = None,
    columns: Mapping[str, str] | str | None = None,
) -> None:
    """Read files of one ``kind`` and write them as one file; ``to`` names its format where the suffix does not.

    ``names`` is for runs: whether systems are called after their ``tag`` or their ``file``. ``combine`` is for
    judgments: it writes one grade a pair, combined over assessors (and the highest over sub-topics). ``columns`` is as
    for :func:`~adjudge.read`.
    """
    for option, value, meant in (("names", names, "runs"), ("combine", combine, "judgments")):
        if value is not None and kind != meant:
            raise AdjudgeError(f"'{option}' is for {meant}, not for {kind}.")
    given = settled(given)
    format_for(target, kind, to)  # refused before any work is done
    _refuse_input(given, target, kind)
    if kind == "runs":
        collection = read(given, format=format, names=names or "tag", artist_filter=False, columns=columns)
        write(collection.runs, target, format=to)
    elif kind == "judgments":
        judgments = read_judgments(given, format=format, columns=columns)
        write(judgments if combine is None else combined(judgments, combine), target, format=to)
    else:
        write(read_metadata(given, format=format, columns=columns), target, format=to)


def combined(judgments: Judgments, how: Combine) -> Judgments:
    """Judgments with one grade a pair, as measures see them."""
    pool = judgments.combined(how).pool
    query = np.repeat(np.arange(len(pool.offsets) - 1, dtype=np.int32), np.diff(pool.offsets))
    return replace(
        judgments,
        query=query,
        document=pool.documents,
        grade=pool.grades,
        assessor=None,
        assessors=(),
        subtopic=None,
        subtopics=(),
    )


def _refuse_input(given: Any, target: str | Path, kind: Kind) -> None:
    """Raise where the target is one of the files to read."""
    if str(target) == "-" or not os.path.exists(target):
        return
    for path in files_of(given, kind) or ():
        if os.path.exists(path) and os.path.samefile(path, target):
            raise AdjudgeError(f"{target}: is an input, and would be overwritten")
