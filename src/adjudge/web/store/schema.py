"""The tables of a server. Times are seconds since 1970 in UTC; JSON columns hold plain values.

What people answered (``answer``) is only ever added to: a correction is a row that names the row it corrects. Counters
(``pair.taken``, ``pair.answered``) are kept in the same transaction as what they count, and ``adjudge campaign verify``
counts again.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)

_ROWID = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only what is called INTEGER


def _id() -> Column[int]:
    return Column("id", _ROWID, primary_key=True, autoincrement=True)


def _of(table: str, *, nullable: bool = False, index: bool = False) -> Column[int]:
    """A reference to a row of another table."""
    return Column(f"{table}_id", _ROWID, ForeignKey(f"{table}.id"), nullable=nullable, index=index)


# Who runs campaigns.
organiser = Table(
    "organiser",
    metadata,
    _id(),
    Column("login", String(200), nullable=False, unique=True),
    Column("password", String(300), nullable=False),  # argon2
    Column("is_admin", Boolean, nullable=False, server_default=false()),
    Column("created_at", Float, nullable=False),
    Column("disabled_at", Float),
)
# A browser in which an organiser is logged in; only the digest of the cookie is kept.
login = Table(
    "login",
    metadata,
    Column("digest", String(64), primary_key=True),
    _of("organiser", index=True),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
)
login_failure = Table(
    "login_failure",
    metadata,
    _id(),
    Column("who", String(200), nullable=False),
    Column("at", Float, nullable=False),
    Index("ix_login_failure_who_at", "who", "at"),
)
# A program that acts for an organiser; only the digest of the token is kept.
api_token = Table(
    "api_token",
    metadata,
    _id(),
    _of("organiser", index=True),
    Column("name", String(200), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked_at", Float),
    Column("used_at", Float),
)
campaign = Table(
    "campaign",
    metadata,
    _id(),
    Column("name", String(100), nullable=False, unique=True),
    Column("kind", String(20), nullable=False),  # judging, preference, ranking
    _of("organiser", nullable=True),
    Column("state", String(10), nullable=False),  # draft, open, paused, closed
    Column("settings", JSON, nullable=False),  # of the settings of its kind
    Column("created_at", Float, nullable=False),
    Column("opened_at", Float),
    Column("reached_at", Float),  # since when the goal is reached
    Column("closed_at", Float),
)
# The rankings of one system, as a Parquet table query, document, score.
run = Table(
    "run",
    metadata,
    _id(),
    _of("campaign"),
    Column("system", String(200), nullable=False),
    Column("team", String(200)),
    Column("source", String(400), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("rankings", LargeBinary, nullable=False),
    UniqueConstraint("campaign_id", "system"),
)
# Something that is heard, read or seen: a document, or a query that is no document.
item = Table(
    "item",
    metadata,
    _id(),
    _of("campaign"),
    Column("role", String(10), nullable=False),  # document, query
    Column("identifier", String(400), nullable=False),
    Column("kind", String(10), nullable=False),  # audio, notation, text, image, url
    Column("address", String(40), nullable=False, unique=True),  # opaque, as browsers ask for it
    Column("text", Text),  # of a text; the address of a url
    Column("original_sha256", String(64)),
    Column("original_name", String(400)),
    Column("clip_sha256", String(64)),
    Column("drawing_sha256", String(64)),  # of notation: how it is drawn, and when each note sounds in the clip
    Column("media_type", String(100)),
    Column("seconds", Float),
    Column("loudness", Float),  # LUFS of the original
    Column("gain_db", Float),
    Column("facts", JSON, nullable=False),  # artist, genre, title, any column of the metadata
    UniqueConstraint("campaign_id", "role", "identifier"),
)
# What a clip sounds like, as numbers, for estimators that hear; it can be computed again at any time.
sound = Table(
    "sound",
    metadata,
    Column("clip_sha256", String(64), primary_key=True),
    Column("feature", String(40), primary_key=True),  # timbre, rhythm, tonal
    Column("version", Integer, nullable=False),  # of the feature
    Column("numbers", LargeBinary),  # none where the clip cannot be heard
)
# What is asked about a query: a candidate (something a system retrieved), two lists of documents, an attention check
# (two lists about which the answer is known), or a ranking of all its candidates. A question has its name as
# ``document`` and a ranking the name of its query; what they are about is in ``listed``.
pair = Table(
    "pair",
    metadata,
    _id(),
    _of("campaign"),
    Column("query", String(400), nullable=False),
    Column("document", String(400), nullable=False),
    Column("query_item_id", _ROWID, ForeignKey("item.id"), nullable=False),
    Column("document_item_id", _ROWID, ForeignKey("item.id"), index=True),  # none where lists are compared
    Column("role", String(10), nullable=False, server_default="candidate"),  # candidate, question, trap, ranking
    Column("batch", Integer),  # of a question, from 0
    Column("details", JSON(none_as_null=True)),  # of a question: expected answers, grades of its lists, systems
    Column("wanted", Integer, nullable=False),  # by how many assessors
    Column("taken", Integer, nullable=False),  # leases in force, and assessors who answered
    Column("answered", Integer, nullable=False),  # assessors who answered
    Column("held", Boolean, nullable=False, server_default=false()),  # kept back: somebody could not judge it
    UniqueConstraint("campaign_id", "query", "document"),
)
# What stands in the two lists of a question; what is to be put in order.
listed = Table(
    "listed",
    metadata,
    Column("pair_id", _ROWID, ForeignKey("pair.id"), primary_key=True),
    Column("side", String(1), primary_key=True),  # a, b; c of candidates to be put in order
    Column("rank", Integer, primary_key=True),  # from 1; of candidates the order in which they came
    Column("item_id", _ROWID, ForeignKey("item.id"), nullable=False, index=True),
)
# What to ask next, most telling first; replaced whenever beliefs change.
queue = Table(
    "queue",
    metadata,
    Column("campaign_id", _ROWID, ForeignKey("campaign.id"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("pair_id", _ROWID, ForeignKey("pair.id"), nullable=False),
)
invitation = Table(
    "invitation",
    metadata,
    _id(),
    _of("campaign", index=True),
    Column("nonce", String(40), nullable=False),
    Column("label", String(200), nullable=False),
    Column("cap", Integer),  # most participants; none where it is open to all
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked_at", Float),
)
participant = Table(
    "participant",
    metadata,
    _id(),
    _of("campaign"),
    _of("invitation", nullable=True, index=True),  # none for assessors of imported judgments
    Column("code", String(200), nullable=False),  # what exports call them
    Column("nonce", String(40), nullable=False),
    Column("name", String(200)),
    Column("language", String(20), nullable=False),
    Column("consented_at", Float),
    Column("consent_sha256", String(64)),
    Column("created_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("blocked_at", Float),
    Column("erased_at", Float),
    Column("recruited_as", String(64)),  # digest of who the recruiter says they are
    Column("recruited", JSON(none_as_null=True)),  # what came in the recruiter's link, by name of the parameter
    Column("outcome", String(20)),  # done, screened_out, failed: how their part ended
    Column("outcome_at", Float),
    Column("set_aside_at", Float),  # since when their answers do not count
    Column("set_aside_why", String(40)),
    UniqueConstraint("campaign_id", "code"),
    UniqueConstraint("campaign_id", "recruited_as"),
)
lease = Table(
    "lease",
    metadata,
    Column("id", String(40), primary_key=True),
    _of("campaign"),
    _of("pair"),
    _of("participant"),
    Column("kind", String(10), nullable=False),  # judgment, repeat, trap
    Column("slot", Integer),  # which of the wanted answers; none for repeats and attention checks
    Column("number", Integer, nullable=False),  # questions that the participant was given before
    Column("swapped", Boolean),  # whether list b stands first; none where no lists are compared
    Column("issued_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("ended_how", String(10)),  # answered, skipped, released, expired
    Index("ix_lease_participant_id_pair_id", "participant_id", "pair_id"),
)
_IN_FORCE = text("ended_at IS NULL")
# What makes it impossible that two people hold the same question.
Index(
    "uq_lease_in_force", lease.c.pair_id, lease.c.slot, unique=True, sqlite_where=_IN_FORCE, postgresql_where=_IN_FORCE
)
Index("ix_lease_expiring", lease.c.campaign_id, lease.c.expires_at, sqlite_where=_IN_FORCE, postgresql_where=_IN_FORCE)

answer = Table(
    "answer",
    metadata,
    _id(),
    _of("campaign"),
    _of("pair", index=True),
    _of("participant"),
    Column("lease_id", String(40), ForeignKey("lease.id")),  # none for imported judgments
    Column("key", String(100), nullable=False),  # of idempotency
    Column("kind", String(10), nullable=False),  # judgment, repeat, trap, correction, skip, import
    Column("corrects", _ROWID, ForeignKey("answer.id")),  # the first answer, also where it is corrected again
    Column("grades", JSON, nullable=False),  # by scale; {"choice": a, b, good, bad} of lists; groups, unranked
    Column("reason", String(40)),  # of a skip
    Column("comment", Text),
    Column("heard", JSON, nullable=False),  # query_ms, candidate_ms; of lists also a_ms, b_ms (by rank), first
    Column("took_ms", Integer),
    Column("late", Boolean, nullable=False, server_default=false()),  # after its lease had ended
    Column("created_at", Float, nullable=False),
    Column("sha256", String(64), nullable=False),  # of everything above but the id
    UniqueConstraint("participant_id", "key"),
    Index("ix_answer_campaign_id_id", "campaign_id", "id"),
    sqlite_autoincrement=True,  # a removed number never comes again
)
# A ranking as far as somebody got with it: groups of numbers of items, the most similar first.
arrangement = Table(
    "arrangement",
    metadata,
    Column("participant_id", _ROWID, ForeignKey("participant.id"), primary_key=True),
    Column("pair_id", _ROWID, ForeignKey("pair.id"), primary_key=True, index=True),
    _of("campaign", index=True),
    Column("version", Integer, nullable=False),  # counts up with every change
    Column("groups", JSON, nullable=False),
    Column("saved_at", Float, nullable=False),
)
# What organisers did, and what happened to a campaign.
event = Table(
    "event",
    metadata,
    _id(),
    _of("campaign", nullable=True, index=True),
    Column("at", Float, nullable=False),
    Column("who", String(200), nullable=False),
    Column("what", String(40), nullable=False),
    Column("details", JSON, nullable=False),
)
# The dashboard snapshot: what is believed after the answers up to a number.
picture = Table(
    "picture",
    metadata,
    Column("campaign_id", _ROWID, ForeignKey("campaign.id"), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("last_answer", _ROWID, nullable=False),
    Column("made_at", Float, nullable=False),
    Column("content", JSON, nullable=False),
)
# How the goal came nearer.
progress = Table(
    "progress",
    metadata,
    Column("campaign_id", _ROWID, ForeignKey("campaign.id"), primary_key=True),
    Column("last_answer", _ROWID, primary_key=True),
    Column("judged", Integer, nullable=False),
    Column("value", Float, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("at", Float, nullable=False),
)
