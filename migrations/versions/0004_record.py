"""What is remembered of wishes: corequisites that a seat needs, and swaps that wait."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("enrollments", sa.Column("corequisites", JSONB()))
    op.add_column("waitlist_places", sa.Column("instead", sa.Integer()))


def downgrade() -> None:
    op.drop_column("waitlist_places", "instead")
    op.drop_column("enrollments", "corequisites")
