"""How late events reach each stage of recording, by name and hour."""

import sqlalchemy as sa
from alembic import op

revision = "lag_hours"
down_revision = "visiting_students"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "lag_hours",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("hour", moment, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("stage", sa.String(length=10), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("slowest", sa.BigInteger(), nullable=False),
        sa.Column("buckets", sa.ARRAY(sa.Integer()), nullable=False),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_lag_hours_term_id_terms")),
        sa.PrimaryKeyConstraint("term_id", "hour", "name", "stage", name=op.f("pk_lag_hours")),
    )
    op.create_index("ix_lag_hours_hour", "lag_hours", ["hour"])


def downgrade() -> None:
    op.drop_table("lag_hours")
