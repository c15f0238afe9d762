"""Accounts that an admin has deactivated, and since when."""

import sqlalchemy as sa
from alembic import op

revision = "deactivated_accounts"
down_revision = "course_requisites"


def upgrade() -> None:
    op.add_column("accounts", sa.Column("deactivated_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("accounts", "deactivated_at")
