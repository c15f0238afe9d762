"""What the last import wrote into sections and courses, to tell later edits from it."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "imported_records"
down_revision = "upload_digests"


def upgrade() -> None:
    op.create_table(
        "imported_records",
        sa.Column("kind", sa.String(12), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("fields", JSONB, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("imported_records")
