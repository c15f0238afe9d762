"""When the public value of a round is known, the key of its ballot codes, and whether it holds."""

import sqlalchemy as sa
from alembic import op

revision = "round_evidence"
down_revision = "joint_choices"


def upgrade() -> None:
    op.add_column("rounds", sa.Column("public_at", sa.DateTime(timezone=True)))
    op.add_column("rounds", sa.Column("code_key", sa.String(length=64)))
    op.add_column(
        "rounds",
        sa.Column("hold_stored", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    # Rounds that were made before: no moment was named, so a day after the end.
    op.execute("""
        UPDATE rounds SET public_at = ends_at + interval '1 day',
            code_key = replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
    """)
    op.alter_column("rounds", "public_at", nullable=False)
    op.alter_column("rounds", "code_key", nullable=False)
    op.alter_column("rounds", "hold_stored", server_default=None)


def downgrade() -> None:
    for column in ("public_at", "code_key", "hold_stored"):
        op.drop_column("rounds", column)
