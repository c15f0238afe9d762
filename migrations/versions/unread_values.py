"""What an import could not read of a draft."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "unread_values"
down_revision = "copied_records"


def upgrade() -> None:
    op.add_column("sections", sa.Column("unread", JSONB))


def downgrade() -> None:
    op.drop_column("sections", "unread")
