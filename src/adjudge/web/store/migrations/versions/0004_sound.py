"""What clips sound like, as numbers, for estimators that hear.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add to what is there."""
    op.create_table(
        "sound",
        sa.Column("clip_sha256", sa.String(length=64), nullable=False),
        sa.Column("feature", sa.String(length=40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("clip_sha256", "feature", name=op.f("pk_sound")),
    )
