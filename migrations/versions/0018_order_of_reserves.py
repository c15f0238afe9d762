"""The order in which the reserves of a section give their seats."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "reserves", sa.Column("position", sa.SmallInteger(), nullable=False, server_default="0")
    )


def downgrade() -> None:
    op.drop_column("reserves", "position")
