"""Texts of mails that an admin wrote."""

import sqlalchemy as sa
from alembic import op

revision = "mail_texts"
down_revision = "advisers"


def upgrade() -> None:
    op.create_table(
        "mail_texts",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("language", sa.String(12), nullable=False),
        sa.Column("subject", sa.Text()),
        sa.Column("body", sa.Text()),
        sa.Column("after", sa.BigInteger(), nullable=False),
        sa.Column(
            "made_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False
        ),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id"), nullable=False),
    )
    op.create_index("ix_mail_texts_kind", "mail_texts", ["kind", "language", "id"])


def downgrade() -> None:
    op.drop_table("mail_texts")
