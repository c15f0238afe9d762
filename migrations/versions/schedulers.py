"""The departments whose sections an account schedules."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "schedulers"
down_revision = "staff_roles"


def upgrade() -> None:
    ids = postgresql.ARRAY(sa.Integer())
    column = sa.Column("schedules_for", ids, server_default=sa.text("'{}'"), nullable=False)
    op.add_column("accounts", column)


def downgrade() -> None:
    op.drop_column("accounts", "schedules_for")
