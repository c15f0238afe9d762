"""Rehearsals keep no rows: the command writes its report to a file."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("rehearsals")


def downgrade() -> None:
    op.create_table("rehearsals", sa.Column("id", sa.Integer(), primary_key=True))
