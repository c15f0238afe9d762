"""From when to when a hold stands."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

DATES = ("starts_at", "ends_at")


def upgrade() -> None:
    for name in DATES:
        op.add_column("holds", sa.Column(name, sa.DateTime(timezone=True)))


def downgrade() -> None:
    for name in DATES:
        op.drop_column("holds", name)
