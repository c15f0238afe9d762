"""Accounts of programs, requests to the admin API, and keys that sign tokens."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "service_tokens"
down_revision = "lag_hours"

MOMENT = sa.DateTime(timezone=True)
NOW = sa.text("now()")


def upgrade() -> None:
    op.add_column(
        "accounts",
        sa.Column("is_service", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    op.create_table(
        "api_requests",
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="1", nullable=False),
        sa.Column("data", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("answer", postgresql.JSONB()),
        sa.Column("at", MOMENT, server_default=NOW, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_api_requests_account_id")
        ),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("pk_api_requests")),
    )
    op.create_index(op.f("ix_api_requests_at"), "api_requests", ["at"])
    op.create_table(
        "signing_keys",
        sa.Column("kid", sa.String(length=43), nullable=False),
        sa.Column("public", postgresql.JSONB(), nullable=False),
        sa.Column("private", sa.Text(), nullable=False),
        sa.Column("made_at", MOMENT, server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("retired_at", MOMENT),
        sa.PrimaryKeyConstraint("kid", name=op.f("pk_signing_keys")),
    )


def downgrade() -> None:
    op.drop_table("signing_keys")
    op.drop_table("api_requests")
    op.execute(
        "UPDATE api_tokens SET revoked_at = coalesce(revoked_at, now()) FROM accounts"
        " WHERE accounts.id = account_id AND is_service"
    )
    op.drop_column("accounts", "is_service")
