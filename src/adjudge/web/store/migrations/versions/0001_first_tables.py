"""The first tables.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "login_failure",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_failure")),
    )
    op.create_index("ix_login_failure_who_at", "login_failure", ["who", "at"], unique=False)
    op.create_table(
        "organiser",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("login", sa.String(length=200), nullable=False),
        sa.Column("password", sa.String(length=300), nullable=False),
        sa.Column("is_admin", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("disabled_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organiser")),
        sa.UniqueConstraint("login", name=op.f("uq_organiser_login")),
    )
    op.create_table(
        "api_token",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("organiser_id", NUMBER, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=True),
        sa.Column("revoked_at", sa.Float(), nullable=True),
        sa.Column("used_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["organiser_id"], ["organiser.id"], name=op.f("fk_api_token_organiser_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_token_digest")),
    )
    op.create_index(op.f("ix_api_token_organiser_id"), "api_token", ["organiser_id"], unique=False)
    op.create_table(
        "campaign",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("organiser_id", NUMBER, nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("opened_at", sa.Float(), nullable=True),
        sa.Column("reached_at", sa.Float(), nullable=True),
        sa.Column("closed_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["organiser_id"], ["organiser.id"], name=op.f("fk_campaign_organiser_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("name", name=op.f("uq_campaign_name")),
    )
    op.create_table(
        "login",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("organiser_id", NUMBER, nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["organiser_id"], ["organiser.id"], name=op.f("fk_login_organiser_id")),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_login")),
    )
    op.create_index(op.f("ix_login_organiser_id"), "login", ["organiser_id"], unique=False)
    op.create_table(
        "event",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("campaign_id", NUMBER, nullable=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("what", sa.String(length=40), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_event_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    op.create_index(op.f("ix_event_campaign_id"), "event", ["campaign_id"], unique=False)
    op.create_table(
        "invitation",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("nonce", sa.String(length=40), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("cap", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=True),
        sa.Column("revoked_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_invitation_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
    )
    op.create_index(op.f("ix_invitation_campaign_id"), "invitation", ["campaign_id"], unique=False)
    op.create_table(
        "item",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("identifier", sa.String(length=400), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("address", sa.String(length=40), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("original_sha256", sa.String(length=64), nullable=True),
        sa.Column("original_name", sa.String(length=400), nullable=True),
        sa.Column("clip_sha256", sa.String(length=64), nullable=True),
        sa.Column("media_type", sa.String(length=100), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("loudness", sa.Float(), nullable=True),
        sa.Column("gain_db", sa.Float(), nullable=True),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_item_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
        sa.UniqueConstraint("address", name=op.f("uq_item_address")),
        sa.UniqueConstraint("campaign_id", "role", "identifier", name=op.f("uq_item_campaign_id_role_identifier")),
    )
    op.create_table(
        "picture",
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("last_answer", NUMBER, nullable=False),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_picture_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_picture")),
    )
    op.create_table(
        "progress",
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("last_answer", NUMBER, nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_progress_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "last_answer", name=op.f("pk_progress")),
    )
    op.create_table(
        "run",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("system", sa.String(length=200), nullable=False),
        sa.Column("team", sa.String(length=200), nullable=True),
        sa.Column("source", sa.String(length=400), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("rankings", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_run_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("campaign_id", "system", name=op.f("uq_run_campaign_id_system")),
    )
    op.create_table(
        "pair",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("query", sa.String(length=400), nullable=False),
        sa.Column("document", sa.String(length=400), nullable=False),
        sa.Column("query_item_id", NUMBER, nullable=False),
        sa.Column("document_item_id", NUMBER, nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.Column("answered", sa.Integer(), nullable=False),
        sa.Column("held", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_pair_campaign_id")),
        sa.ForeignKeyConstraint(["document_item_id"], ["item.id"], name=op.f("fk_pair_document_item_id")),
        sa.ForeignKeyConstraint(["query_item_id"], ["item.id"], name=op.f("fk_pair_query_item_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pair")),
        sa.UniqueConstraint("campaign_id", "query", "document", name=op.f("uq_pair_campaign_id_query_document")),
    )
    op.create_index(op.f("ix_pair_document_item_id"), "pair", ["document_item_id"], unique=False)
    op.create_table(
        "participant",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("invitation_id", NUMBER, nullable=True),
        sa.Column("code", sa.String(length=200), nullable=False),
        sa.Column("nonce", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=True),
        sa.Column("language", sa.String(length=20), nullable=False),
        sa.Column("consented_at", sa.Float(), nullable=True),
        sa.Column("consent_sha256", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("seen_at", sa.Float(), nullable=False),
        sa.Column("blocked_at", sa.Float(), nullable=True),
        sa.Column("erased_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_participant_campaign_id")),
        sa.ForeignKeyConstraint(["invitation_id"], ["invitation.id"], name=op.f("fk_participant_invitation_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_participant")),
        sa.UniqueConstraint("campaign_id", "code", name=op.f("uq_participant_campaign_id_code")),
    )
    op.create_index(op.f("ix_participant_invitation_id"), "participant", ["invitation_id"], unique=False)
    op.create_table(
        "lease",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("pair_id", NUMBER, nullable=False),
        sa.Column("participant_id", NUMBER, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("issued_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("ended_how", sa.String(length=10), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_lease_campaign_id")),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_lease_pair_id")),
        sa.ForeignKeyConstraint(["participant_id"], ["participant.id"], name=op.f("fk_lease_participant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lease")),
    )
    op.create_index(
        "ix_lease_expiring",
        "lease",
        ["campaign_id", "expires_at"],
        unique=False,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_index("ix_lease_participant_id_pair_id", "lease", ["participant_id", "pair_id"], unique=False)
    op.create_index(
        "uq_lease_in_force",
        "lease",
        ["pair_id", "slot"],
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "queue",
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("pair_id", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_queue_campaign_id")),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_queue_pair_id")),
        sa.PrimaryKeyConstraint("campaign_id", "place", name=op.f("pk_queue")),
    )
    op.create_table(
        "answer",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("pair_id", NUMBER, nullable=False),
        sa.Column("participant_id", NUMBER, nullable=False),
        sa.Column("lease_id", sa.String(length=40), nullable=True),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("corrects", NUMBER, nullable=True),
        sa.Column("grades", sa.JSON(), nullable=False),
        sa.Column("reason", sa.String(length=40), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("heard", sa.JSON(), nullable=False),
        sa.Column("took_ms", sa.Integer(), nullable=True),
        sa.Column("late", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_answer_campaign_id")),
        sa.ForeignKeyConstraint(["corrects"], ["answer.id"], name=op.f("fk_answer_corrects")),
        sa.ForeignKeyConstraint(["lease_id"], ["lease.id"], name=op.f("fk_answer_lease_id")),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_answer_pair_id")),
        sa.ForeignKeyConstraint(["participant_id"], ["participant.id"], name=op.f("fk_answer_participant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answer")),
        sa.UniqueConstraint("participant_id", "key", name=op.f("uq_answer_participant_id_key")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_answer_campaign_id_id", "answer", ["campaign_id", "id"], unique=False)
    op.create_index(op.f("ix_answer_pair_id"), "answer", ["pair_id"], unique=False)


def downgrade() -> None:
    """There is nothing before the first version."""
    raise NotImplementedError("This is the first version; restore a backup instead.")
