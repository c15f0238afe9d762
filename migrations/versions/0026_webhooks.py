"""Receivers of events, and what each is to be told."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
NOW = sa.text("now()")


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("names", sa.ARRAY(sa.String(40)), nullable=False),
        sa.Column("seed", sa.String(64), nullable=False),
        sa.Column("is_on", sa.Boolean, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("made_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("deleted_at", MOMENT),
    )
    op.create_index(
        "uq_webhooks_url",
        "webhooks",
        ["url"],
        unique=True,
        postgresql_where="deleted_at IS NULL",
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("webhook_id", sa.Integer, sa.ForeignKey("webhooks.id"), nullable=False),
        sa.Column("term_id", sa.Integer, sa.ForeignKey("terms.id")),
        sa.Column("seq", sa.BigInteger),
        sa.Column("due_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("tries", sa.SmallInteger, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("sent_at", MOMENT),
        sa.Column("dead_at", MOMENT),
        sa.UniqueConstraint("webhook_id", "term_id", "seq", name="uq_webhook_deliveries_event"),
    )
    op.create_index("ix_webhook_deliveries_webhook_id", "webhook_deliveries", ["webhook_id", "id"])
    op.create_index(
        "ix_webhook_deliveries_due",
        "webhook_deliveries",
        ["webhook_id", "due_at", "id"],
        postgresql_where="sent_at IS NULL AND dead_at IS NULL",
    )
    op.create_index(
        "ix_webhook_deliveries_dead",
        "webhook_deliveries",
        ["webhook_id", "dead_at"],
        postgresql_where="dead_at IS NOT NULL",
    )


def downgrade() -> None:
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
