"""What access tokens may do, and when they were last used."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("access_keys", sa.Column("used_at", sa.DateTime(timezone=True)))
    # Before there were scopes a token could do whatever its account could.
    op.execute("UPDATE access_keys SET scopes = '{read,register}' WHERE scopes = '{}'")


def downgrade() -> None:
    op.drop_column("access_keys", "used_at")
