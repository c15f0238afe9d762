"""Column mappings: what the columns of files with unknown headings mean."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "column_mappings"
down_revision = "decider_entries"


def upgrade() -> None:
    op.create_table(
        "import_tables",
        sa.Column("import_id", sa.Integer, sa.ForeignKey("imports.id"), primary_key=True),
        sa.Column("file", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        *(sa.Column(each, JSONB, nullable=False) for each in ("headings", "samples", "needed")),
    )
    op.create_table(
        "column_mappings",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(60), nullable=False, unique=True),
        sa.Column("meanings", JSONB, nullable=False),
        sa.Column("account_id", sa.Integer, sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column(
            "saved_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()
        ),
    )


def downgrade() -> None:
    op.drop_table("column_mappings")
    op.drop_table("import_tables")
