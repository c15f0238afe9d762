"""The language of an account."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "accounts", sa.Column("language", sa.String(8), nullable=False, server_default="")
    )


def downgrade() -> None:
    op.drop_column("accounts", "language")
