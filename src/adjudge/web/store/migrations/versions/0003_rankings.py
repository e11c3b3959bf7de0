"""Candidates of a query put in order, and notation that is drawn and played.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add to what is there."""
    op.add_column("item", sa.Column("drawing_sha256", sa.String(length=64), nullable=True))
    op.create_table(
        "arrangement",
        sa.Column("participant_id", NUMBER, nullable=False),
        sa.Column("pair_id", NUMBER, nullable=False),
        sa.Column("campaign_id", NUMBER, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("groups", sa.JSON(), nullable=False),
        sa.Column("saved_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["participant_id"], ["participant.id"], name=op.f("fk_arrangement_participant_id")),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_arrangement_pair_id")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_arrangement_campaign_id")),
        sa.PrimaryKeyConstraint("participant_id", "pair_id", name=op.f("pk_arrangement")),
    )
    op.create_index(op.f("ix_arrangement_pair_id"), "arrangement", ["pair_id"], unique=False)
    op.create_index(op.f("ix_arrangement_campaign_id"), "arrangement", ["campaign_id"], unique=False)
