"""What each import changed in each section, for the section's history."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "section_imports"
down_revision = "application_courses"


def upgrade() -> None:
    op.create_table(
        "section_imports",
        sa.Column("section_id", sa.Integer, sa.ForeignKey("sections.id"), primary_key=True),
        sa.Column("import_id", sa.Integer, sa.ForeignKey("imports.id"), primary_key=True),
        sa.Column("change", sa.String(8), nullable=False),
        sa.Column("fields", JSONB, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    )


def downgrade() -> None:
    op.drop_table("section_imports")
