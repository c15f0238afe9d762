"""Add an index for the recent decisions of a person."""

from alembic import op

revision = "decider_entries"
down_revision = "section_imports"


def upgrade() -> None:
    op.create_index("ix_application_entries_account", "application_entries", ["account_id", "at"])


def downgrade() -> None:
    op.drop_index("ix_application_entries_account", "application_entries")
