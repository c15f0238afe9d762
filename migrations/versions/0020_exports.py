"""Exports of everything, kept until they have been fetched."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "exports",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column(
            "asked_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()
        ),
        sa.Column("size", sa.BigInteger()),
        sa.Column("failed", sa.Boolean(), nullable=False),
    )
    op.create_index("ix_exports_asked_at", "exports", ["asked_at"])
    op.create_table(
        "export_parts",
        sa.Column("export_id", sa.Integer(), sa.ForeignKey("exports.id"), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("export_parts")
    op.drop_table("exports")
