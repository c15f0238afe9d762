"""Mails under the code of what they follow from."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "outbox",
        sa.Column("correlation", sa.String(64), nullable=False, server_default=""),
    )


def downgrade() -> None:
    op.drop_column("outbox", "correlation")
