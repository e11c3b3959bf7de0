"""What a judging campaign stores: runs, the pairs that follow from them, grades, and judgments imported from files.

Runs are kept as Parquet tables, at least the first 100 documents of each. Pairs are what ``adjudge.relevance`` calls
candidates, neither more nor fewer.

A file of judgments is imported as a whole or not at all. Its assessors become participants that nobody invited, under
the names that the file gives them. A row has a key made of the file and of what it is about, so that importing the file
again adds nothing. Where an assessor's grade of a pair is there already, another grade, or one on another scale, is
stored as a correction.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, Integer, and_, bindparam, case, delete, func, insert, select, update
from sqlalchemy.engine import Row

from adjudge.checks import Names
from adjudge.errors import AdjudgeError, InputError, kept_warnings, shown
from adjudge.formats.columns import naming_columns
from adjudge.model.provenance import Provenance
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.web.errors import Refused
from adjudge.web.kinds.judging.settings import AskedScale, settings_of
from adjudge.web.kinds.judging.sound import similarity_of
from adjudge.web.store import schema as t
from adjudge.web.store.answers import answer_digest
from adjudge.web.store.campaigns import Campaign, locked, log_event, refuse_unless_draft
from adjudge.web.store.items import (
    check_text,
    chunks,
    is_complete,
    items_by_identifier,
    query_item,
)
from adjudge.web.store.leases import lay_queue

if TYPE_CHECKING:
    import polars as pl

    from adjudge.formats import Format, Source
    from adjudge.model.collection import Collection, Table
    from adjudge.model.runs import Run, Runs


def read_runs(
    given: Any,
    *,
    metadata: Any = None,
    format_name: str | None = None,
    teams: Any = None,
    names: Names = "tag",
    artist_filter: bool | None = None,
    columns: str | None = None,
    progress: Any = None,
) -> tuple[Collection, list[str]]:
    """Runs in any format, and notes about them; with ``metadata`` rankings can be filtered by artist."""
    from adjudge.formats import read

    with kept_warnings() as notes:
        collection = read(
            given,
            metadata=metadata,
            format=format_name,
            teams=teams,
            names=names,
            artist_filter=artist_filter,
            columns=columns,
            progress=progress,
        )
    return collection, notes


DEEPEST = 100
"""Ranks that are always kept: a report may want more than the campaign asks about."""


def put_runs(
    connection: Connection,
    campaign: Campaign,
    runs: Runs,
    *,
    inputs: Sequence[tuple[str, str]] = (),
    who: str = "command line",
    now: float,
) -> None:
    """Keep these runs instead of those that were there; ``inputs`` are the files they came from, with digests."""
    refuse_unless_draft(connection, locked(connection, campaign), "runs")
    depth = max(DEEPEST, settings_of(campaign).cutoff)
    names = [name for name, _ in inputs]
    rows = []
    for place, run in enumerate(runs):
        check_text("the system", run.system, 200)
        packed = _packed(runs, run.cut(depth))
        source = names[place] if len(names) == len(runs) else ", ".join(names)
        digest = hashlib.sha256(packed).hexdigest()
        team = None if run.team is None else check_text("the team", run.team, 200)
        rows.append({"campaign_id": campaign.id, "system": run.system, "team": team, "source": source[:400],
                     "sha256": digest, "rankings": packed})  # fmt: skip
    for table in (t.lease, t.queue, t.pair, t.run):
        connection.execute(delete(table).where(table.c.campaign_id == campaign.id))
    connection.execute(insert(t.run), rows)
    details = {"systems": list(runs.systems), "inputs": [list(given) for given in inputs]}
    log_event(connection, campaign.id, who=who, what="runs", details=details, now=now)


def _packed(runs: Runs, run: Run) -> bytes:
    """Rankings of one system as a Parquet file: query, document and, where there are any, scores."""
    import polars as pl

    queries, documents = runs.queries.decode(run.query_codes), runs.documents.decode(run.documents)
    frame = pl.DataFrame({"query": queries, "document": documents})
    for name in frame.columns:
        longest = frame.filter(
            (frame[name].str.len_chars() > 400) | frame[name].str.contains(r"[\x00-\x1F]")  # what no column can hold
        )
        if longest.height:
            check_text(f"the {name}", longest[name][0], 400)
    if run.scores is not None:
        frame = frame.with_columns(pl.Series("score", run.scores))
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def run_tables(connection: Connection, campaign_id: int) -> tuple[list[Table], dict[str, str]]:
    """The stored rankings as plain tables, and the team of each system that has one."""
    import polars as pl

    from adjudge.model.collection import Table

    rows = (
        connection.execute(select(t.run).where(t.run.c.campaign_id == campaign_id).order_by(t.run.c.id))
        .mappings()
        .all()
    )
    if not rows:
        raise Refused("The campaign has no runs yet; it needs those of at least one system.")
    tables = []
    for row in rows:
        frame = pl.read_parquet(io.BytesIO(row["rankings"]))
        tables.append(Table(frame.select(pl.lit(row["system"]).alias("system"), pl.all()), row["source"] or "runs"))
    return tables, {row["system"]: row["team"] for row in rows if row["team"] is not None}


def metadata_table(connection: Connection, campaign_id: int) -> Table | None:
    """What is known of documents, and of queries that are none; None where nothing is."""
    import polars as pl

    from adjudge.model.collection import Table

    columns = (t.item.c.role, t.item.c.identifier, t.item.c.facts)
    ordered = select(*columns).where(t.item.c.campaign_id == campaign_id).order_by(t.item.c.role, t.item.c.identifier)
    facts: dict[str, dict[str, str]] = {}
    for row in connection.execute(ordered):
        facts.setdefault(row.identifier, row.facts)  # 'document' comes before 'query'
    names = sorted({name for known in facts.values() for name in known})
    if not names:
        return None
    by_column = {name: [known.get(name) for known in facts.values()] for name in names}
    frame: pl.DataFrame = pl.DataFrame(
        {"document": list(facts), **by_column}, schema=dict.fromkeys(["document", *names], pl.String)
    )
    return Table(frame, "the campaign's documents")


def collection_of(connection: Connection, campaign: Campaign, judgments: Sequence[Table] = ()) -> Collection:
    """Runs, teams and what is known of documents, as everything else in Adjudge takes them.

    ``judgments`` are tables of grades on the scale that is evaluated; without them nothing is judged.
    """
    from adjudge.model.collection import build_collection

    tables, teams = run_tables(connection, campaign.id)
    return build_collection(
        tables,
        judgments,
        metadata_table(connection, campaign.id),
        scale=settings_of(campaign).evaluated.scale,
        teams=teams,
        provenance=_provenance(connection, campaign),
    )


def _provenance(connection: Connection, campaign: Campaign) -> Provenance:
    """The files that the runs came from."""
    last = select(t.event.c.details).where(t.event.c.campaign_id == campaign.id, t.event.c.what == "runs")
    details = connection.execute(last.order_by(t.event.c.id.desc()).limit(1)).scalar_one_or_none() or {}
    inputs = tuple((str(name), str(digest)) for name, digest in details.get("inputs", ()))
    return Provenance(inputs, {"campaign": campaign.name})


def candidates_of(connection: Connection, campaign: Campaign) -> Candidates:
    """What there is to judge, as the engine sees it before anybody judged."""
    whole = collection_of(connection, campaign)
    pool = candidates(whole, cutoff=settings_of(campaign).cutoff, scale=settings_of(campaign).evaluated.scale)
    return (
        replace(pool, similarity=similarity_of(connection, campaign, pool.document))
        if settings_of(campaign).by_sound
        else pool
    )


def _retrieved(connection: Connection, campaign: Campaign) -> list[tuple[str, str]]:
    """Every candidate as query and document, in the order of the engine."""
    from adjudge.model.collection import build_collection

    runs = build_collection(run_tables(connection, campaign.id)[0])
    pool = candidates(runs, cutoff=settings_of(campaign).cutoff, scale=settings_of(campaign).evaluated.scale)
    return [(pool.queries[query], document) for query, document in zip(pool.query, pool.document, strict=True)]


def missing_items(connection: Connection, campaign: Campaign) -> list[str]:
    """What somebody will be asked about and of which there is nothing to hear, read or see yet, by name."""
    rows = items_by_identifier(connection, campaign.id)
    pairs = _retrieved(connection, campaign)
    wanted = {document: rows.get(("document", document)) for _, document in pairs}
    queries = {query: query_item(rows, query) for query, _ in pairs}
    lacking = [name for part in (wanted, queries) for name, row in part.items() if row is None or not is_complete(row)]
    return sorted(set(lacking))


def needed_items(connection: Connection, campaign: Campaign) -> dict[str, set[str]] | None:
    """Documents and queries that somebody will be asked about, by role; None while that is not known."""
    if connection.execute(select(t.run.c.id).where(t.run.c.campaign_id == campaign.id).limit(1)).first() is None:
        return None
    pairs = _retrieved(connection, campaign)
    queries = {query for query, _ in pairs}
    return {"document": {document for _, document in pairs} | queries, "query": queries}


def check_goal(connection: Connection, campaign: Campaign) -> None:
    """Refuse a goal about more first systems than there are others."""
    n_systems = connection.execute(select(func.count()).where(t.run.c.campaign_id == campaign.id)).scalar_one()
    settings_of(campaign).goal.goal.check_systems(n_systems)


def make_pairs(connection: Connection, campaign: Campaign) -> int:
    """Add the candidates that are not there yet, and lay a first queue; the number of new ones.

    Everything must be there to be heard; see ``missing_items``. Until the engine has looked, the queue is in an order
    drawn from the campaign's seed.
    """
    rows = items_by_identifier(connection, campaign.id)
    there = connection.execute(select(t.pair.c.query, t.pair.c.document).where(t.pair.c.campaign_id == campaign.id))
    known = {(row.query, row.document) for row in there}
    pairs = _retrieved(connection, campaign)
    wanted = _wanted(campaign, len(pairs))
    check_goal(connection, campaign)
    new = []
    for (query, document), how_many in zip(pairs, wanted, strict=True):
        if (query, document) in known:
            continue
        heard, asked = query_item(rows, query), rows.get(("document", document))
        if heard is None or asked is None:
            raise Refused(f"There is nothing to hear, read or see for {shown(document if heard else query)}.")
        new.append({"campaign_id": campaign.id, "query": query, "document": document, "query_item_id": heard["id"],
                    "document_item_id": asked["id"], "wanted": how_many, "taken": 0, "answered": 0})  # fmt: skip
    for part in chunks(new):
        connection.execute(insert(t.pair), part)
    if new:
        _lay_first_queue(connection, campaign)
    return len(new)


def _wanted(campaign: Campaign, n_pairs: int) -> list[int]:
    """How many assessors each candidate is for: several for a share of them, drawn from the seed."""
    settings = settings_of(campaign)
    several = settings.judged_by > 1 and not settings.second_opinions
    n_several = round(settings.agreement_share * n_pairs) if several else 0
    if several and n_pairs:
        n_several = max(1, n_several)
    drawn = np.random.default_rng([settings.seed, 1]).permutation(n_pairs)[:n_several]
    wanted = np.ones(n_pairs, dtype=np.int64)
    wanted[drawn] = settings.judged_by
    return [int(number) for number in wanted]


def wish_again(connection: Connection, campaign: Campaign) -> None:
    """Ask for as many assessors a pair as the settings say now; what is answered or on lease stays wanted."""
    query = select(t.pair.c.id, t.pair.c.taken, t.pair.c.wanted).where(t.pair.c.campaign_id == campaign.id)
    there = connection.execute(query.order_by(t.pair.c.id).with_for_update()).all()
    wishes = zip(there, _wanted(campaign, len(there)), strict=True)
    changed = [
        {"pair": row.id, "wish": max(1, wish, row.taken)} for row, wish in wishes if row.wanted != max(wish, row.taken)
    ]
    if changed:
        connection.execute(
            update(t.pair).where(t.pair.c.id == bindparam("pair")).values(wanted=bindparam("wish")), changed
        )


def ask_again(connection: Connection, campaign: Campaign, ids: Sequence[int]) -> None:
    """Ask for one more opinion of pairs in the queue that are judged, and for none of others."""
    wish = case((and_(t.pair.c.id.in_(ids), t.pair.c.answered > 0), t.pair.c.answered + 1), else_=1)
    wanted = case((t.pair.c.taken > wish, t.pair.c.taken), else_=wish)
    changed = and_(t.pair.c.campaign_id == campaign.id, t.pair.c.wanted != wanted)
    connection.execute(update(t.pair).where(changed).values(wanted=wanted))


def _lay_first_queue(connection: Connection, campaign: Campaign) -> None:
    ids = (
        connection.execute(select(t.pair.c.id).where(t.pair.c.campaign_id == campaign.id).order_by(t.pair.c.id))
        .scalars()
        .all()
    )
    order = np.random.default_rng([campaign.settings.seed, 2]).permutation(len(ids))
    lay_queue(connection, campaign.id, [ids[place] for place in order])


def count_pairs(connection: Connection, campaign_id: int) -> int:
    """How many candidates are in the store."""
    query = select(func.count()).select_from(t.pair).where(t.pair.c.campaign_id == campaign_id)
    return int(connection.execute(query).scalar_one())


NOBODY = "import"
"""The assessor of files that name none."""


class UnknownPair(NamedTuple):
    """A pair that the campaign does not ask about."""

    query: str
    document: str


@dataclass(frozen=True)
class ImportSummary:
    """What came of an import: grades that are new, grades that were there, pairs nobody asked about, assessors."""

    taken: int
    again: int
    unknown: tuple[UnknownPair, ...]
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
) -> ImportSummary:
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
    importing = _Import.of(connection, there, asked, source.sha256, now=now)
    taken = sum(importing.add(row, ids[row.query, row.document]) for row in kept)
    importing.store()
    codes = tuple(importing.codes.values())
    details = {"file": source.name[:200], "sha256": source.sha256, "scale": asked.name, "taken": taken}
    if taken:
        log_event(connection, there.id, who=who, what="import", details=details, now=now)
    missed = tuple(dict.fromkeys(UnknownPair(row.query, row.document) for row in unknown))
    return ImportSummary(taken, len(kept) - taken, missed, codes)


def _asked(campaign: Campaign, name: str | None) -> AskedScale:
    """The scale that a file is on; it must be said where there are several."""
    scales = {scale.name: scale for scale in settings_of(campaign).scales}
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
        judgment = _Row(number, row["query"], row["document"], row.get("assessor") or NOBODY, row["grade"])
        try:
            asked.check(judgment.grade)
        except AdjudgeError as error:
            raise file.error(str(error), number) from None
        if len(judgment.assessor) > 150 or any(ord(character) < 32 for character in judgment.assessor):
            raise file.error(f"expected an assessor in at most 150 characters, got {shown(judgment.assessor)}", number)
        key = (judgment.query, judgment.document, judgment.assessor)
        if first.setdefault(key, judgment.grade) != judgment.grade:
            raise file.error(
                f"expected one grade for document {shown(judgment.document)} of query {shown(judgment.query)}, "
                f"got {first[key]:g} and {judgment.grade:g}",
                number,
            )
        file.rows.append(judgment)
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
    rows = connection.execute(
        select(t.pair.c.id, t.pair.c.query, t.pair.c.document).where(t.pair.c.campaign_id == campaign_id)
    )
    return {(row.query, row.document): row.id for row in rows}


@dataclass
class _Import:
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
    def of(cls, connection: Connection, campaign: Campaign, asked: AskedScale, digest: str, *, now: float) -> _Import:
        """What is there before the first row."""
        people = connection.execute(select(t.participant).where(t.participant.c.campaign_id == campaign.id))
        known = {row.code: (row.id, row.invitation_id is not None or row.erased_at is not None) for row in people}
        current = {
            (grade.pair_id, grade.assessor): (grade.answer_id, dict(grade.grades))
            for grade in current_grades(connection, campaign.id)
        }
        keys = connection.execute(
            select(t.answer.c.participant_id, t.answer.c.key).where(
                t.answer.c.campaign_id == campaign.id, t.answer.c.lease_id.is_(None)
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
            self.connection.execute(insert(t.answer), signed)
        if firsts:
            more = bindparam("more", type_=Integer)
            counted = update(t.pair).where(t.pair.c.id == bindparam("this"))
            counted = counted.values(taken=t.pair.c.taken + more, answered=t.pair.c.answered + more)
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
            made = self.connection.execute(insert(t.participant).values(**values).returning(t.participant.c.id))
            self.participants[code] = (int(made.scalar_one()), False)
        return self.participants[code][0], code


def _free_code(name: str, participants: Mapping[str, tuple[int, bool]]) -> str:
    """The name itself, unless somebody who was invited has it."""
    code = name
    while code in participants and participants[code][1]:
        code = f"import-{code}"
    return code


@dataclass(frozen=True)
class CurrentGrade:
    """What a participant says of a pair now: the grades of the answer or of its last correction."""

    answer_id: int
    pair_id: int
    query: str
    document: str
    assessor: str
    grades: dict[str, float]
    at: float
    took_ms: int | None


@dataclass(frozen=True)
class RepeatedAnswer:
    """Two answers of one participant about one pair: the grades of the first and of the planned repeat."""

    assessor: str
    query: str
    document: str
    first: dict[str, float]
    again: dict[str, float]
    at: float


def _rows(connection: Connection, campaign_id: int, kinds: tuple[str, ...]) -> Sequence[Row[Any]]:
    names = ("id", "pair_id", "kind", "corrects", "grades", "took_ms", "created_at")
    columns = (*(t.answer.c[name] for name in names), t.pair.c.query, t.pair.c.document, t.participant.c.code)
    return connection.execute(
        select(*columns)
        .join(t.pair, t.pair.c.id == t.answer.c.pair_id)
        .join(t.participant, t.participant.c.id == t.answer.c.participant_id)
        .where(t.answer.c.campaign_id == campaign_id, t.answer.c.kind.in_(kinds))
        .order_by(t.answer.c.id)
    ).all()


def current_grades(connection: Connection, campaign_id: int) -> list[CurrentGrade]:
    """What everybody says of every pair now, in the order of the first answers; skips and repeats are left out."""
    found: dict[int, CurrentGrade] = {}
    for row in _rows(connection, campaign_id, ("judgment", "import", "correction")):
        first = row.id if row.corrects is None else row.corrects
        if row.corrects is not None and first not in found:
            continue  # a correction of a repeat
        before = found.get(first)
        found[first] = CurrentGrade(
            first,
            row.pair_id,
            row.query,
            row.document,
            row.code,
            {**(before.grades if before else {}), **row.grades},
            row.created_at if before is None else before.at,
            row.took_ms if before is None else before.took_ms,
        )
    return list(found.values())


def repeats(connection: Connection, campaign_id: int, current: Iterable[CurrentGrade]) -> list[RepeatedAnswer]:
    """Planned repeats beside the ``current`` first answers of the same people, as both stand now."""
    first = {(grade.assessor, grade.pair_id): grade for grade in current}
    again: dict[int, Row[Any]] = {}
    grades: dict[int, dict[str, float]] = {}
    for row in _rows(connection, campaign_id, ("repeat", "correction")):
        if row.kind == "repeat":
            again[row.id] = row
            grades[row.id] = row.grades
        elif row.corrects in again:
            grades[row.corrects] = row.grades
    return [
        RepeatedAnswer(
            row.code, row.query, row.document, first[row.code, row.pair_id].grades, grades[number], row.created_at
        )
        for number, row in again.items()
        if (row.code, row.pair_id) in first
    ]


@dataclass(frozen=True)
class OwnAnswer:
    """An answer as its giver sees it again: the grades and the comment that stand now."""

    answer_id: int
    pair_id: int
    at: float
    grades: dict[str, float]
    comment: str | None


def own_answers(connection: Connection, participant_id: int, *, last: int) -> list[OwnAnswer]:
    """The last answers of a participant, newest first; skips are left out."""
    mine = t.answer.c.participant_id == participant_id
    firsts = (
        select(t.answer)
        .where(mine, t.answer.c.kind.in_(("judgment", "repeat")))
        .order_by(t.answer.c.id.desc())
        .limit(last)
    )
    found = {
        row.id: OwnAnswer(row.id, row.pair_id, row.created_at, row.grades, row.comment)
        for row in connection.execute(firsts)
    }
    corrections = select(t.answer).where(mine, t.answer.c.corrects.in_(list(found))).order_by(t.answer.c.id)
    for row in connection.execute(corrections):
        before = found[row.corrects]
        comment = row.comment if row.comment is not None else before.comment
        found[row.corrects] = OwnAnswer(before.answer_id, before.pair_id, before.at, row.grades, comment)
    return list(found.values())
