"""Judgments made elsewhere, into a campaign: all of a file or nothing.

Assessors of a file become participants that nobody invited, called as the file calls them. A row has a key made of the
file and of what it is about, so that the same file again adds nothing. Where an assessor's grade of a pair is there
already, another grade, or one on another scale, is stored as a correction of it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Integer, bindparam, insert, select, update

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.formats.columns import naming_columns
from adjudge.web.answering import answer_digest
from adjudge.web.answers import current_grades
from adjudge.web.campaign_rows import Campaign, locked, log_event
from adjudge.web.errors import Refused
from adjudge.web.holdings import count_pairs, make_pairs, missing_items
from adjudge.web.judging_settings import AskedScale
from adjudge.web.schema import answer, pair, participant

if TYPE_CHECKING:
    from adjudge.formats import Format, Source

NOBODY = "import"
"""The assessor of files that name none."""


class Unknown(NamedTuple):
    """A pair that the campaign does not ask about."""

    query: str
    document: str


@dataclass(frozen=True)
class Imported:
    """What came of an import: grades that are new, grades that were there, pairs nobody asked about, assessors."""

    taken: int
    again: int
    unknown: tuple[Unknown, ...]
    assessors: tuple[str, ...]


@dataclass(frozen=True)
class _Row:
    """One judgment of a file, and where it stands."""

    number: int
    query: str
    document: str
    assessor: str
    grade: float


@dataclass
class _File:
    """A file of judgments that says where its rows are."""

    source: Source
    origin: Format
    rows: list[_Row] = field(default_factory=list)

    def error(self, message: str, row: int) -> InputError:
        """What is wrong, with the line where there are lines."""
        return self.source.error(message, self.origin.line(self.source, "judgments", row))


def import_judgments(
    connection: Connection,
    campaign: Campaign,
    source: Source,
    *,
    scale: str | None = None,
    format_name: str | None = None,
    columns: str | None = None,
    skip_unknown: bool = False,
    who: str = "command line",
    now: float,
) -> Imported:
    """Add the judgments of a file, which are on one of the campaign's scales.

    Pairs that are no candidates are refused, or with ``skip_unknown`` left out and listed. A draft gets its pairs.
    ``columns`` says which columns hold what where names do not.
    """
    there = locked(connection, campaign)
    asked = _asked(there, scale)  # refuses a campaign that asks for preferences
    with naming_columns(columns):
        file = _read(source, asked, format_name)
    _need_pairs(connection, there)
    ids = _pair_ids(connection, there.id)
    unknown = [row for row in file.rows if (row.query, row.document) not in ids]
    if unknown and not skip_unknown:
        first = unknown[0]
        raise file.error(
            f"expected candidates of the campaign, got document {shown(first.document)} of query {shown(first.query)}"
            f"{f' and {len(unknown) - 1:,} more that are none' if len(unknown) > 1 else ''}",
            first.number,
        )
    kept = [row for row in file.rows if (row.query, row.document) in ids]
    importing = _Importing.of(connection, there, asked, source.sha256, now=now)
    taken = sum(importing.add(row, ids[row.query, row.document]) for row in kept)
    importing.store()
    codes = tuple(importing.codes.values())
    details = {"file": source.name[:200], "sha256": source.sha256, "scale": asked.name, "taken": taken}
    if taken:
        log_event(connection, there.id, who=who, what="import", details=details, now=now)
    missed = tuple(dict.fromkeys(Unknown(row.query, row.document) for row in unknown))
    return Imported(taken, len(kept) - taken, missed, codes)


def _asked(campaign: Campaign, name: str | None) -> AskedScale:
    """The scale that a file is on; it must be said where there are several."""
    scales = {scale.name: scale for scale in campaign.judging.scales}
    if name is None and len(scales) == 1:
        return next(iter(scales.values()))
    if name not in scales:
        came = "none" if name is None else shown(name)
        raise Refused(f"Expected the scale of the judgments, one of {', '.join(scales)}, got {came}")
    return scales[name]


def _read(source: Source, asked: AskedScale, format_name: str | None) -> _File:
    """All rows of a file, each assessor's grade of a pair once; the first that is wrong is refused with its line."""
    from adjudge.formats import read_table

    frame, origin = read_table(source, "judgments", format_name)
    if "subtopic" in frame.columns and frame["subtopic"].n_unique() > 1:
        raise source.error("expected judgments of queries, got some of sub-topics")
    file, first = _File(source, origin), dict[tuple[str, str, str], float]()
    for number, row in enumerate(frame.to_dicts()):
        one = _Row(number, row["query"], row["document"], row.get("assessor") or NOBODY, row["grade"])
        try:
            asked.check(one.grade)
        except AdjudgeError as error:
            raise file.error(str(error), number) from None
        if len(one.assessor) > 150 or any(ord(sign) < 32 for sign in one.assessor):
            raise file.error(f"expected an assessor in at most 150 characters, got {shown(one.assessor)}", number)
        key = (one.query, one.document, one.assessor)
        if first.setdefault(key, one.grade) != one.grade:
            raise file.error(
                f"expected one grade for document {shown(one.document)} of query {shown(one.query)}, "
                f"got {first[key]:g} and {one.grade:g}",
                number,
            )
        file.rows.append(one)
    file.rows = list({(row.query, row.document, row.assessor): row for row in reversed(file.rows)}.values())[::-1]
    return file


def _need_pairs(connection: Connection, campaign: Campaign) -> None:
    """A draft has no pairs yet; it gets them where everything is there."""
    if count_pairs(connection, campaign.id):
        return
    missing = missing_items(connection, campaign)
    if missing:
        raise Refused(
            f"Judgments can be imported once every candidate can be heard, read or seen; {len(missing):,} cannot, "
            f"first {shown(missing[0])}."
        )
    make_pairs(connection, campaign)


def _pair_ids(connection: Connection, campaign_id: int) -> dict[tuple[str, str], int]:
    rows = connection.execute(select(pair.c.id, pair.c.query, pair.c.document).where(pair.c.campaign_id == campaign_id))
    return {(row.query, row.document): row.id for row in rows}


@dataclass
class _Importing:
    """What is there already, kept while rows are added."""

    connection: Connection
    campaign: Campaign
    asked: AskedScale
    digest: str
    now: float
    codes: dict[str, str]  # what the campaign calls the file's assessors
    participants: dict[str, tuple[int, bool]]  # number by code, and whether they were invited
    current: dict[tuple[int, str], tuple[int, dict[str, float]]]  # first answer and grades by pair and code
    keys: set[tuple[int, str]]
    rows: list[dict[str, Any]] = field(default_factory=list)  # to be added

    @classmethod
    def of(
        cls, connection: Connection, campaign: Campaign, asked: AskedScale, digest: str, *, now: float
    ) -> _Importing:
        """What is there before the first row."""
        people = connection.execute(select(participant).where(participant.c.campaign_id == campaign.id))
        known = {row.code: (row.id, row.invitation_id is not None or row.erased_at is not None) for row in people}
        current = {
            (grade.pair_id, grade.assessor): (grade.answer_id, dict(grade.grades))
            for grade in current_grades(connection, campaign.id)
        }
        keys = connection.execute(
            select(answer.c.participant_id, answer.c.key).where(
                answer.c.campaign_id == campaign.id, answer.c.lease_id.is_(None)
            )
        )
        return cls(connection, campaign, asked, digest, now, {}, known, current, {(who, key) for who, key in keys})

    def add(self, row: _Row, pair_id: int) -> bool:
        """Take one judgment to be stored; False where it is there already. A file has one a pair and assessor."""
        who, code = self._participant(row.assessor)
        said = f"{row.query}\0{row.document}\0{row.assessor}\0{self.asked.name}"
        key = f"{self.digest[:40]}:{hashlib.sha256(said.encode()).hexdigest()[:40]}"
        first, grades = self.current.get((pair_id, code), (None, {}))
        if (who, key) in self.keys or grades.get(self.asked.name) == row.grade:
            return False
        kind = "import" if first is None else "correction"
        merged = {**grades, self.asked.name: row.grade}
        self.rows.append(self._values(pair_id, who, key) | {"grades": merged, "kind": kind, "corrects": first})
        return True

    def store(self) -> None:
        """Put everything into the store at once: somebody may be waiting to answer."""
        signed = [{**row, "sha256": answer_digest(row)} for row in self.rows]
        firsts = Counter(row["pair_id"] for row in self.rows if row["corrects"] is None)
        if signed:
            self.connection.execute(insert(answer), signed)
        if firsts:
            more = bindparam("more", type_=Integer)
            counted = update(pair).where(pair.c.id == bindparam("this"))
            counted = counted.values(taken=pair.c.taken + more, answered=pair.c.answered + more)
            self.connection.execute(
                counted, [{"this": this, "more": number} for this, number in sorted(firsts.items())]
            )

    def _values(self, pair_id: int, who: int, key: str) -> dict[str, Any]:
        return {
            "campaign_id": self.campaign.id,
            "pair_id": pair_id,
            "participant_id": who,
            "lease_id": None,
            "key": key,
            "reason": None,
            "comment": None,
            "heard": {},
            "took_ms": None,
            "late": False,
            "created_at": self.now,
        }

    def _participant(self, name: str) -> tuple[int, str]:
        """The participant that stands for an assessor of the file; nobody who was invited is taken for one."""
        code = self.codes.get(name) or _free_code(name, self.participants)
        self.codes[name] = code
        if code not in self.participants:
            values = {
                "campaign_id": self.campaign.id,
                "invitation_id": None,
                "code": code,
                "nonce": secrets.token_urlsafe(16),
                "language": self.campaign.settings.languages[0],
                "created_at": self.now,
                "seen_at": self.now,
            }
            made = self.connection.execute(insert(participant).values(**values).returning(participant.c.id))
            self.participants[code] = (int(made.scalar_one()), False)
        return self.participants[code][0], code


def _free_code(name: str, participants: Mapping[str, tuple[int, bool]]) -> str:
    """The name itself, unless somebody who was invited has it."""
    code = name
    while code in participants and participants[code][1]:
        code = f"import-{code}"
    return code
