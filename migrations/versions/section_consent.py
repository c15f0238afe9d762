"""Whether students need the consent of a section's instructor."""

import sqlalchemy as sa
from alembic import op

revision = "section_consent"
down_revision = "schedulers"


def upgrade() -> None:
    column = sa.Column("consent", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    op.add_column("sections", column)


def downgrade() -> None:
    op.drop_column("sections", "consent")
