"""Several teacher rows for one account, privacy, requests, and logs that can't be emptied."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

Moment = sa.DateTime(timezone=True)
ONLY_ADDED = ("audit_entries", "events")
LOOKED_UP = ("account_id", "action", "subject")


def upgrade() -> None:
    op.drop_constraint(op.f("uq_teachers_account_id"), "teachers")
    op.create_index(op.f("ix_teachers_account_id"), "teachers", ["account_id"])
    op.add_column(
        "students", sa.Column("private", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    _requests()
    for column in LOOKED_UP:
        op.create_index(op.f(f"ix_audit_entries_{column}"), "audit_entries", [column])
    for table in ONLY_ADDED:
        op.execute(f"""
            CREATE TRIGGER never_emptied BEFORE TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
        """)


def downgrade() -> None:
    for table in ONLY_ADDED:
        op.execute(f"DROP TRIGGER never_emptied ON {table}")
    for column in LOOKED_UP:
        op.drop_index(op.f(f"ix_audit_entries_{column}"), "audit_entries")
    op.drop_table("requests")
    op.drop_column("students", "private")
    op.drop_index(op.f("ix_teachers_account_id"), "teachers")
    # Of several teachers with one account only the first can keep it.
    op.execute("""
        UPDATE teachers SET account_id = NULL WHERE id NOT IN (
            SELECT min(id) FROM teachers WHERE account_id IS NOT NULL GROUP BY account_id)
    """)
    op.create_unique_constraint(op.f("uq_teachers_account_id"), "teachers", ["account_id"])


def _requests() -> None:
    op.create_table(
        "requests",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column(
            "section_id", sa.Integer(), sa.ForeignKey("sections.id"), nullable=False, index=True
        ),
        sa.Column(
            "account_id", sa.Integer(), sa.ForeignKey("accounts.id"), nullable=False, index=True
        ),
        sa.Column("capacity", sa.Integer()),
        sa.Column("wanted", sa.Integer()),
        sa.Column("student_id", sa.Integer(), sa.ForeignKey("students.id")),
        sa.Column("waives", ARRAY(sa.String(40)), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_at", Moment, nullable=False, server_default=sa.func.now()),
        sa.Column("state", sa.String(9), nullable=False, server_default="open"),
        sa.Column("decided_by", sa.Integer(), sa.ForeignKey("accounts.id")),
        sa.Column("decided_at", Moment),
        sa.Column("note", sa.Text(), nullable=False, server_default=""),
        sa.CheckConstraint("kind IN ('seats','override')", name="kind"),
        sa.CheckConstraint("state IN ('open','approved','declined','withdrawn')", name="state"),
        sa.CheckConstraint(
            "CASE kind WHEN 'seats' THEN wanted > capacity ELSE student_id IS NOT NULL END",
            name="content",
        ),
    )
    op.create_index(
        "ix_requests_open",
        "requests",
        ["kind", "section_id", sa.text("coalesce(student_id, 0)")],
        unique=True,
        postgresql_where=sa.text("state = 'open'"),
    )
