"""The digest of the file of an upload. Unfinished ones are forgotten: browsers begin again."""

import sqlalchemy as sa
from alembic import op

revision = "upload_digests"
down_revision = "charge_attempts"


def upgrade() -> None:
    op.execute("DELETE FROM application_uploads")
    op.add_column("application_uploads", sa.Column("digest", sa.String(length=64), nullable=False))


def downgrade() -> None:
    op.drop_column("application_uploads", "digest")
