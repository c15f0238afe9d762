"""Bands that order the waitlists of a term."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "waitlist_bands"
down_revision = "deactivated_accounts"


def upgrade() -> None:
    listed = postgresql.JSONB(astext_type=sa.Text())
    bands = sa.Column("bands", listed, server_default=sa.text("'[]'"), nullable=False)
    op.add_column("terms", bands)
    band = sa.Column("band", sa.SmallInteger(), server_default=sa.text("1"), nullable=False)
    op.add_column("waitlist_positions", band)


def downgrade() -> None:
    op.drop_column("waitlist_positions", "band")
    op.drop_column("terms", "bands")
