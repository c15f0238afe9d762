"""Answers under their request keys, and how far what is told of a term has been compared."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0023"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "answered",
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), primary_key=True),
        sa.Column("student_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("request", sa.Text(), primary_key=True),
        sa.Column("kept", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_answered_at", "answered", ["at"])
    op.create_table(
        "reconciled",
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("cursor", sa.Integer(), nullable=False),
        sa.Column("whole_at", sa.DateTime(timezone=True)),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.Column("differences", JSONB(), nullable=False),
        sa.Column("sections", JSONB(), nullable=False),
    )
    op.create_table(
        "lags",
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), primary_key=True),
        sa.Column("minute", sa.DateTime(timezone=True), primary_key=True),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("slowest", sa.BigInteger(), nullable=False),
        sa.Column("buckets", sa.ARRAY(sa.Integer()), nullable=False),
    )
    op.create_index("ix_lags_minute", "lags", ["minute"])
    op.create_index(
        "ix_events_shares",
        "events",
        ["term_id"],
        postgresql_where=sa.text("name = 'section_set' AND payload ? 'pool'"),
    )


def downgrade() -> None:
    op.drop_index("ix_events_shares", "events")
    op.drop_table("lags")
    op.drop_table("reconciled")
    op.drop_table("answered")
