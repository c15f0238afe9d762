"""Mails that belong to no notice: one-time codes."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.alter_column("outbox", "notice_id", nullable=True)
    account = op.f("fk_outbox_account_id_accounts")
    op.add_column("outbox", sa.Column("account_id", sa.Integer()))
    op.create_foreign_key(account, "outbox", "accounts", ["account_id"], ["id"])
    op.add_column("outbox", sa.Column("data", JSONB()))


def downgrade() -> None:
    op.execute("DELETE FROM outbox WHERE notice_id IS NULL")
    for column in ("data", "account_id"):
        op.drop_column("outbox", column)
    op.alter_column("outbox", "notice_id", nullable=False)
