"""Which call to the payment provider a charge is at: each has its own idempotency key."""

import sqlalchemy as sa
from alembic import op

revision = "charge_attempts"
down_revision = "application_changes"


def upgrade() -> None:
    op.add_column(
        "application_charges",
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
    )


def downgrade() -> None:
    op.drop_column("application_charges", "attempt")
