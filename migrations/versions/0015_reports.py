"""Reports of windows that have ended, and the rule for places on waitlists."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "window_reports",
        sa.Column("window_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column(
            "made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("students", sa.Integer(), nullable=False),
        sa.Column("result", JSONB(), nullable=False),
        sa.Column("fairness", JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("window_id", name=op.f("pk_window_reports")),
        sa.ForeignKeyConstraint(
            ["window_id"], ["windows.id"], name=op.f("fk_window_reports_window_id_windows")
        ),
        sa.ForeignKeyConstraint(
            ["term_id"], ["terms.id"], name=op.f("fk_window_reports_term_id_terms")
        ),
    )
    op.create_index(op.f("ix_window_reports_term_id"), "window_reports", ["term_id"])
    op.add_column("terms", sa.Column("pass_limit", sa.SmallInteger()))
    codes = sa.Column("pass_codes", ARRAY(sa.String(40)), server_default="{}", nullable=False)
    op.add_column("terms", codes)


def downgrade() -> None:
    for column in ("pass_codes", "pass_limit"):
        op.drop_column("terms", column)
    op.drop_table("window_reports")
