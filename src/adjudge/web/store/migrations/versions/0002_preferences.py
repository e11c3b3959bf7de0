"""Questions about two lists, and people who come from a recruiter.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add to what is there."""
    with op.batch_alter_table("pair") as pair:
        pair.alter_column("document_item_id", existing_type=NUMBER, nullable=True)
        pair.add_column(sa.Column("role", sa.String(length=10), server_default="candidate", nullable=False))
        pair.add_column(sa.Column("batch", sa.Integer(), nullable=True))
        pair.add_column(sa.Column("details", sa.JSON(), nullable=True))
    op.create_table(
        "listed",
        sa.Column("pair_id", NUMBER, nullable=False),
        sa.Column("side", sa.String(length=1), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("item_id", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_listed_pair_id")),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_listed_item_id")),
        sa.PrimaryKeyConstraint("pair_id", "side", "rank", name=op.f("pk_listed")),
    )
    op.create_index(op.f("ix_listed_item_id"), "listed", ["item_id"], unique=False)
    with op.batch_alter_table("participant") as participant:
        participant.add_column(sa.Column("recruited_as", sa.String(length=64), nullable=True))
        participant.add_column(sa.Column("recruited", sa.JSON(), nullable=True))
        participant.add_column(sa.Column("outcome", sa.String(length=20), nullable=True))
        participant.add_column(sa.Column("outcome_at", sa.Float(), nullable=True))
        participant.add_column(sa.Column("set_aside_at", sa.Float(), nullable=True))
        participant.add_column(sa.Column("set_aside_why", sa.String(length=40), nullable=True))
        participant.create_unique_constraint(
            op.f("uq_participant_campaign_id_recruited_as"), ["campaign_id", "recruited_as"]
        )
    op.add_column("lease", sa.Column("swapped", sa.Boolean(), nullable=True))
