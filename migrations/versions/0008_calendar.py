"""Days without classes, and calendar feeds."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "days_off",
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), primary_key=True),
        sa.Column("day", sa.Date(), primary_key=True),
        sa.Column("name", sa.String(120), nullable=False),
    )
    op.create_table(
        "calendar_feeds",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("student_id", sa.Integer(), sa.ForeignKey("students.id"), nullable=False),
        sa.Column("nonce", sa.LargeBinary(16), nullable=False),
        _moment("created_at"),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("digest", sa.String(64), nullable=False),
        _moment("changed_at"),
    )
    op.create_index(
        "uq_calendar_feeds_live",
        "calendar_feeds",
        ["student_id"],
        unique=True,
        postgresql_where=sa.text("revoked_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("calendar_feeds")
    op.drop_table("days_off")


def _moment(name: str) -> sa.Column[sa.DateTime]:
    now = sa.func.now()
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=now)
