"""Roles below admin, which admins give to accounts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "staff_roles"
down_revision = "term_deadlines"


def upgrade() -> None:
    names = postgresql.ARRAY(sa.String(length=40))
    column = sa.Column("staff_roles", names, server_default=sa.text("'{}'"), nullable=False)
    op.add_column("accounts", column)


def downgrade() -> None:
    op.drop_column("accounts", "staff_roles")
