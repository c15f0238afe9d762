"""When the ballots of a round were deleted."""

import sqlalchemy as sa
from alembic import op

revision = "erased_rounds"
down_revision = "altered_rounds"


def upgrade() -> None:
    op.add_column("rounds", sa.Column("erased_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("rounds", "erased_at")
