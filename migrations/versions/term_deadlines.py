"""The last days of a term to add, drop and withdraw."""

import sqlalchemy as sa
from alembic import op

revision = "term_deadlines"
down_revision = "term_states"

DEADLINES = ("add_deadline", "drop_deadline", "withdraw_deadline")


def upgrade() -> None:
    for name in DEADLINES:
        op.add_column("terms", sa.Column(name, sa.Date()))


def downgrade() -> None:
    for name in DEADLINES:
        op.drop_column("terms", name)
