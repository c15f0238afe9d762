"""Reports of a term that accounts get by mail at set times."""

import sqlalchemy as sa
from alembic import op

revision = "report_subscriptions"
down_revision = "round_evidence"


def upgrade() -> None:
    op.create_table(
        "report_subscriptions",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), nullable=False),
        sa.Column("report", sa.String(20), nullable=False),
        sa.Column("days", sa.String(10), nullable=False),
        sa.Column("at", sa.Time(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True)),
        sa.Column("last_at", sa.DateTime(timezone=True)),
        sa.Column("result", sa.String(12), nullable=False),
        sa.Column("mail_id", sa.BigInteger()),
        sa.UniqueConstraint("account_id", "report", "term_id", name="uq_report_subscriptions"),
    )
    op.create_index("ix_report_subscriptions_next_at", "report_subscriptions", ["next_at"])


def downgrade() -> None:
    op.drop_table("report_subscriptions")
