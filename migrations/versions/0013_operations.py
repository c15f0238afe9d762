"""Parts that can be switched off, and comparisons that were asked for."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

NOW = sa.func.now()


def upgrade() -> None:
    op.create_table(
        "flags",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id")),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
    )
    op.create_table(
        "audit_runs",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), nullable=False),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id")),
        sa.Column("began_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("step", sa.String(20), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.Column("differences", JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
    )
    op.create_index("ix_audit_runs_term_id", "audit_runs", ["term_id", "id"])
    op.create_index(
        "uq_audit_runs_running",
        "audit_runs",
        ["term_id"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("audit_runs")
    op.drop_table("flags")
