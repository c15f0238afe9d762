"""What the registrar permits past a rule, and which records have changed."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# Whom a change concerns, asked of the rows that a statement changed.
ITS_STUDENT = ("student", "SELECT student_id FROM changed")
ITS_ACCOUNT = ("account", "SELECT account_id FROM changed WHERE account_id IS NOT NULL")
CONCERNS = {
    "accounts": (
        ("account", "SELECT id FROM changed"),
        ("student", "SELECT s.id FROM students s JOIN changed ON changed.id = s.account_id"),
    ),
    "students": (ITS_ACCOUNT, ("student", "SELECT id FROM changed")),
    "teachers": (ITS_ACCOUNT,),
    "student_subjects": (ITS_STUDENT,),
    "completed_courses": (ITS_STUDENT,),
    "holds": (ITS_STUDENT,),
    "overrides": (ITS_STUDENT,),
    "subjects": (
        (
            "student",
            "SELECT s.student_id FROM student_subjects s JOIN changed ON changed.id = s.subject_id",
        ),
    ),
    "departments": (
        ("student", "SELECT s.id FROM students s JOIN changed ON changed.id = s.department_id"),
    ),
}
# A trigger sees the rows of one event alone, of an update as they were or as they are.
SIGHTS = (("INSERT", "NEW"), ("UPDATE", "OLD"), ("UPDATE", "NEW"), ("DELETE", "OLD"))


def upgrade() -> None:
    _overrides()
    _changes()
    op.execute("""
        CREATE FUNCTION note_people_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            EXECUTE 'INSERT INTO people_changes (kind, id) SELECT $1, q.id FROM ('
                || TG_ARGV[1] || ') q (id) ON CONFLICT DO NOTHING' USING TG_ARGV[0];
            RETURN NULL;
        END $$
    """)
    for table, kind, asked, event, rows in _triggers():
        op.execute(f"""
            CREATE TRIGGER note_{kind}_{event.lower()}_{rows.lower()} AFTER {event} ON {table}
            REFERENCING {rows} TABLE AS changed
            FOR EACH STATEMENT EXECUTE FUNCTION note_people_change('{kind}', '{asked}')
        """)


def downgrade() -> None:
    for table, kind, _, event, rows in _triggers():
        op.execute(f"DROP TRIGGER note_{kind}_{event.lower()}_{rows.lower()} ON {table}")
    op.execute("DROP FUNCTION note_people_change")
    op.drop_table("people_changes")
    op.drop_table("overrides")


def _triggers() -> list[tuple[str, str, str, str, str]]:
    return [
        (table, kind, asked, event, rows)
        for table, concerned in CONCERNS.items()
        for kind, asked in concerned
        for event, rows in SIGHTS
    ]


def _overrides() -> None:
    op.create_table(
        "overrides",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "student_id", sa.Integer(), sa.ForeignKey("students.id"), nullable=False, index=True
        ),
        sa.Column(
            "section_id", sa.Integer(), sa.ForeignKey("sections.id"), nullable=False, index=True
        ),
        sa.Column("waives", ARRAY(sa.String(40)), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("granted_by", sa.Integer(), sa.ForeignKey("accounts.id")),
        sa.Column(
            "granted_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
    )


def _changes() -> None:
    op.create_table(
        "people_changes",
        sa.Column(
            "xid",
            sa.BigInteger(),
            primary_key=True,
            autoincrement=False,
            server_default=sa.text("(pg_current_xact_id()::text)::bigint"),
        ),
        sa.Column("kind", sa.String(8), primary_key=True),
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.func.clock_timestamp(),
            index=True,
        ),
        sa.CheckConstraint("kind IN ('account','student')", name="kind"),
    )
