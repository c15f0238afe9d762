"""Terms for practice, and the rehearsals that are played in them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

NOW = sa.func.now()


def upgrade() -> None:
    op.add_column(
        "terms", sa.Column("practice", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.create_table(
        "rehearsals",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id")),
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id")),
        sa.Column("students", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.Column("busy", sa.Boolean(), unique=True),
        sa.Column("step", sa.String(12), nullable=False),
        sa.Column("stopping", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("now", JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("report", JSONB()),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
    )


def downgrade() -> None:
    op.drop_table("rehearsals")
    op.drop_column("terms", "practice")
