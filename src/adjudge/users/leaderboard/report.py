"""A leaderboard as sections of a report: its answer, the table, possible ranks as a figure, and further boards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from adjudge.errors import kept_warnings
from adjudge.reporting.document import Paragraph, Section, TableBlock, section
from adjudge.results import Result
from adjudge.tables import Heading
from adjudge.users.leaderboard.board import Leaderboard, leaderboard
from adjudge.users.leaderboard.slices import Slices
from adjudge.users.report import Evidence, capitalized


def board_sections(board: Leaderboard, name: str = "leaderboard", *, aside: str = "") -> list[Section]:
    """A board, the one about other data sets, variance components and slices; ``aside`` ends captions of boards."""
    made = [_section(board, name, f"Leaderboard by {board.measure}", 1, aside)]
    if board.elsewhere is not None:
        made.append(_section(board.elsewhere, f"{name}-datasets", "On other data sets like these", 2, aside))
    if board.study is not None:
        made.append(
            Section(
                f"{name}-components", "Where differences come from", tuple(_table(f"{name}-variances", board.study)), 2
            )
        )
    return [*made, *(_slice_section(part, f"{name}-slices-{i + 1}") for i, part in enumerate(board.slices))]


def _section(board: Leaderboard, name: str, title: str, level: int, aside: str) -> Section:
    about = f"{board.sentence()} The claim is about {board.claim}."
    drawn = replace(board.figure("ranks"), name=f"{name}-ranks")
    return Section(name, title, (Paragraph(about), *_table(f"{name}-table", board, aside), drawn), level)


def _slice_section(part: Slices, name: str) -> Section:
    return Section(name, f"By {part.attribute}", tuple(_table(f"{name}-table", part)), 2)


def _table(name: str, result: Result, aside: str = "") -> Iterable[TableBlock | Paragraph]:
    """The table of a result, and its notes."""
    table = result.table()
    own = {heading.name for heading in table.headings if isinstance(result, Slices)}
    headings: tuple[Heading, ...] = capitalized(table.headings, except_for=own)
    rows = tuple(map(tuple, table.rows))
    yield TableBlock(name, f"{result.title}.{aside}", headings, rows, result.to_dicts(), n_key=table.n_key)
    yield from (Paragraph(note) for note in table.notes)


@section("leaderboard")
def ranks(evidence: Evidence) -> list[Section] | None:
    """Possible ranks, tiers and who is probably the best; nothing with lists left out or a single system.

    With slices it is made of complete cases.
    """
    main = evidence.eff[evidence.main.measure]
    is_rankable = len(main.systems) > 1 and main.n_queries > 1 and np.isfinite(main.values).all()
    if not is_rankable and evidence.slices is None:
        return None
    aside = " Every data set counts alike; in other sections, every query does." if evidence.is_uneven else ""
    confidence, seed = evidence.summary.confidence, evidence.main.seed or 0
    with kept_warnings():
        board = leaderboard(main, slices=evidence.slices, by=evidence.by, confidence=confidence, seed=seed)
    return board_sections(board, aside=aside)
