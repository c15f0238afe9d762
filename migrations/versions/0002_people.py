"""Who uses the portal."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _accounts()
    _records()
    _teachers()
    _keys_and_audit()
    # What happened is only ever added to.
    op.execute("""
        CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME;
        END $$
    """)
    op.execute("""
        CREATE TRIGGER only_added BEFORE UPDATE OR DELETE ON audit_entries
        FOR EACH ROW EXECUTE FUNCTION refuse_change()
    """)


def downgrade() -> None:
    for table in (
        "audit_entries",
        "access_keys",
        "section_teachers",
        "teachers",
        "holds",
        "completed_courses",
        "student_subjects",
        "students",
        "accounts",
    ):
        op.drop_table(table)
    op.execute("DROP FUNCTION refuse_change")


def _accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("username", sa.String(64), nullable=False, unique=True),
        sa.Column("name", sa.String(160), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("password_hash", sa.String(200), nullable=False),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("session_epoch", sa.Integer(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "students",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "account_id", sa.Integer(), sa.ForeignKey("accounts.id"), nullable=False, unique=True
        ),
        sa.Column("number", sa.String(32), nullable=False, unique=True),
        sa.Column("department_id", sa.Integer(), sa.ForeignKey("departments.id")),
        sa.Column("level", sa.String(40), nullable=False),
        sa.Column("year", sa.String(40), nullable=False),
        sa.Column("degree", sa.String(40), nullable=False),
        sa.Column("campus", sa.String(80), nullable=False),
        sa.Column("college", sa.String(160), nullable=False),
        sa.Column("credit_limit", sa.Numeric(5, 2)),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    )


def _records() -> None:
    op.create_table(
        "student_subjects",
        sa.Column("student_id", sa.Integer(), sa.ForeignKey("students.id"), primary_key=True),
        sa.Column("subject_id", sa.Integer(), sa.ForeignKey("subjects.id"), primary_key=True),
        sa.Column("kind", sa.String(8), primary_key=True),
        sa.CheckConstraint("kind IN ('major','minor')", name="kind"),
    )
    op.create_table(
        "completed_courses",
        sa.Column("student_id", sa.Integer(), sa.ForeignKey("students.id"), primary_key=True),
        sa.Column("course_code", sa.String(24), primary_key=True),
        sa.Column("term_name", sa.String(80), nullable=False),
        sa.Column("grade", sa.String(8), nullable=False),
        sa.Column("credits", sa.Numeric(5, 2), nullable=False),
    )
    op.create_table(
        "holds",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "student_id", sa.Integer(), sa.ForeignKey("students.id"), nullable=False, index=True
        ),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("reason", sa.String(300), nullable=False),
        sa.Column("office", sa.String(160), nullable=False),
        sa.Column(
            "placed_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()
        ),
        sa.Column("lifted_at", sa.DateTime(timezone=True)),
    )


def _teachers() -> None:
    op.create_table(
        "teachers",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id"), unique=True),
        sa.Column("name", sa.String(160), nullable=False, index=True),
        sa.Column("title", sa.String(80), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("department_id", sa.Integer(), sa.ForeignKey("departments.id")),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "section_teachers",
        sa.Column("section_id", sa.Integer(), sa.ForeignKey("sections.id"), primary_key=True),
        sa.Column(
            "teacher_id", sa.Integer(), sa.ForeignKey("teachers.id"), primary_key=True, index=True
        ),
    )


def _keys_and_audit() -> None:
    op.create_table(
        "access_keys",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "account_id", sa.Integer(), sa.ForeignKey("accounts.id"), nullable=False, index=True
        ),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False, unique=True),
        sa.Column("scopes", ARRAY(sa.String(40)), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.BigInteger(), primary_key=True),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.func.now(),
            index=True,
        ),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id")),
        sa.Column("action", sa.String(60), nullable=False),
        sa.Column("subject", sa.String(120), nullable=False),
        sa.Column("before", JSONB()),
        sa.Column("after", JSONB()),
        sa.Column("reason", sa.Text(), nullable=False),
    )
