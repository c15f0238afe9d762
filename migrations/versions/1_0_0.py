"""The tables of version 1.0.0.

Rows of `events` and `audit_entries` are only ever added. If a statement changes a person's cached
profile, account or inbox, triggers note this in `people_changes`.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "1.0.0"
down_revision = None
branch_labels = None
depends_on = None

ONLY_ADDED = ("audit_entries", "events")

# By table: whom a change concerns, as a query on the changed rows.
ITS_STUDENT = ("student", "SELECT student_id FROM changed")
ITS_ACCOUNT = ("account", "SELECT account_id FROM changed WHERE account_id IS NOT NULL")
CONCERNS = {
    "accounts": (
        ("account", "SELECT id FROM changed"),
        ("student", "SELECT s.id FROM students s JOIN changed ON changed.id = s.account_id"),
    ),
    "students": (ITS_ACCOUNT, ("student", "SELECT id FROM changed")),
    "instructors": (ITS_ACCOUNT,),
    "student_subjects": (ITS_STUDENT,),
    "completed_courses": (ITS_STUDENT,),
    "holds": (ITS_STUDENT,),
    "permissions": (ITS_STUDENT,),
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
ITS_INBOX = ("inbox", "SELECT DISTINCT account_id FROM changed")
# A trigger sees the rows of one event: of an update, the rows before or the rows after.
CHANGES = (("INSERT", "NEW"), ("UPDATE", "OLD"), ("UPDATE", "NEW"), ("DELETE", "OLD"))


def upgrade() -> None:
    op.execute("CREATE SEQUENCE window_ids")
    _create_tables()
    _protect_logs()
    _note_changes()


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
    op.execute("DROP FUNCTION note_people_change")
    op.execute("DROP FUNCTION refuse_change")
    op.execute("DROP SEQUENCE window_ids")


def _protect_logs() -> None:
    op.execute("""
        CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME;
        END $$
    """)
    for table in ONLY_ADDED:
        op.execute(f"""
            CREATE TRIGGER only_added BEFORE UPDATE OR DELETE ON {table}
            FOR EACH ROW EXECUTE FUNCTION refuse_change()
        """)
        op.execute(f"""
            CREATE TRIGGER never_emptied BEFORE TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
        """)


def _note_changes() -> None:
    op.execute("""
        CREATE FUNCTION note_people_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            EXECUTE 'INSERT INTO people_changes (kind, id) SELECT $1, q.id FROM ('
                || TG_ARGV[1] || ') q (id) ON CONFLICT DO NOTHING' USING TG_ARGV[0];
            RETURN NULL;
        END $$
    """)
    for table, concerned in CONCERNS.items():
        for kind, query in concerned:
            for event, rows in CHANGES:
                name = f"note_{kind}_{event.lower()}_{rows.lower()}"
                _note(table, name, (event, rows), kind, query)
    _note("listed_students", "note_student_insert_new", ("INSERT", "NEW"), *ITS_STUDENT)
    for event in ("INSERT", "UPDATE"):
        _note("notifications", f"note_inbox_{event.lower()}", (event, "NEW"), *ITS_INBOX)


def _note(table: str, name: str, change: tuple[str, str], kind: str, query: str) -> None:
    event, rows = change
    op.execute(f"""
        CREATE TRIGGER {name} AFTER {event} ON {table} REFERENCING {rows} TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION note_people_change('{kind}', '{query}')
    """)


TABLES = (
    "accounts",
    "departments",
    "people_changes",
    "rooms",
    "sourced_ids",
    "student_lists",
    "terms",
    "webhooks",
    "api_tokens",
    "audit_entries",
    "audit_runs",
    "checkpoints",
    "continuous_audits",
    "days_off",
    "events",
    "exports",
    "flags",
    "imports",
    "instructors",
    "lag_minutes",
    "notification_settings",
    "pools",
    "stored_answers",
    "students",
    "subjects",
    "webhook_deliveries",
    "windows",
    "calendar_feeds",
    "completed_courses",
    "courses",
    "export_parts",
    "holds",
    "import_changes",
    "import_notes",
    "import_parts",
    "import_rows",
    "listed_students",
    "plans",
    "reminders",
    "student_subjects",
    "window_reports",
    "course_subjects",
    "sections",
    "cross_lists",
    "enrollments",
    "instructor_requests",
    "meetings",
    "notifications",
    "permissions",
    "reserves",
    "restrictions",
    "section_changes",
    "section_instructors",
    "section_seats",
    "waitlist_positions",
    "outbox",
)


def _create_tables() -> None:  # noqa: PLR0915 - a statement for each table
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("username", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=160), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("language", sa.String(length=8), server_default="", nullable=False),
        sa.Column("session_epoch", sa.Integer(), nullable=False),
        sa.Column("ended_sessions", JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("username", name=op.f("uq_accounts_username")),
    )
    op.create_table(
        "departments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=160), nullable=False),
        sa.Column("school", sa.String(length=160), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_departments")),
        sa.UniqueConstraint("code", name=op.f("uq_departments_code")),
    )
    op.create_table(
        "people_changes",
        sa.Column(
            "xid",
            sa.BigInteger(),
            server_default=sa.text("(pg_current_xact_id()::text)::bigint"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "kind IN ('account','student','inbox')", name=op.f("ck_people_changes_kind")
        ),
        sa.PrimaryKeyConstraint("xid", "kind", "id", name=op.f("pk_people_changes")),
    )
    op.create_index(op.f("ix_people_changes_at"), "people_changes", ["at"])
    op.create_table(
        "rooms",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("seats", sa.Integer()),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rooms")),
        sa.UniqueConstraint("name", name=op.f("uq_rooms_name")),
    )
    op.create_table(
        "sourced_ids",
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("sourced_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("modified", sa.Text()),
        sa.PrimaryKeyConstraint("kind", "sourced_id", name=op.f("pk_sourced_ids")),
    )
    op.create_index("ix_sourced_ids_key", "sourced_ids", ["kind", "key"])
    op.create_table(
        "student_lists",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column(
            "made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_student_lists")),
        sa.UniqueConstraint("digest", name=op.f("uq_student_lists_digest")),
    )
    op.create_table(
        "terms",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("starts_on", sa.Date(), nullable=False),
        sa.Column("ends_on", sa.Date(), nullable=False),
        sa.Column("credit_limit", sa.Numeric(precision=5, scale=2), nullable=False),
        sa.Column("drops_per_day", sa.SmallInteger(), nullable=False),
        sa.Column("skip_limit", sa.SmallInteger()),
        sa.Column("skip_reasons", ARRAY(sa.String(length=40)), server_default="{}", nullable=False),
        sa.Column("practice", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("catalog_version", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_terms")),
        sa.UniqueConstraint("name", name=op.f("uq_terms_name")),
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("names", sa.ARRAY(sa.String(length=40)), nullable=False),
        sa.Column("seed", sa.String(length=64), nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column(
            "made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_index(
        "uq_webhooks_url", "webhooks", ["url"], unique=True, postgresql_where="deleted_at IS NULL"
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("scopes", ARRAY(sa.String(length=40)), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("used_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_api_tokens_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_tokens_digest")),
    )
    op.create_index(op.f("ix_api_tokens_account_id"), "api_tokens", ["account_id"])
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("account_id", sa.Integer()),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.Column("subject", sa.String(length=120), nullable=False),
        sa.Column("before", JSONB()),
        sa.Column("after", JSONB()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_audit_entries_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    op.create_index(op.f("ix_audit_entries_account_id"), "audit_entries", ["account_id"])
    op.create_index(op.f("ix_audit_entries_action"), "audit_entries", ["action"])
    op.create_index(op.f("ix_audit_entries_at"), "audit_entries", ["at"])
    op.create_index(op.f("ix_audit_entries_subject"), "audit_entries", ["subject"])
    op.create_table(
        "audit_runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer()),
        sa.Column(
            "began_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column(
            "moved_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("step", sa.String(length=20), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.Column("differences", JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_audit_runs_account_id")
        ),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_audit_runs_term_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_runs")),
    )
    op.create_index("ix_audit_runs_term_id", "audit_runs", ["term_id", "id"])
    op.create_index(
        "uq_audit_runs_running",
        "audit_runs",
        ["term_id"],
        unique=True,
        postgresql_where="ended_at IS NULL",
    )
    op.create_table(
        "checkpoints",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column(
            "moved_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_checkpoints_term_id")),
        sa.PrimaryKeyConstraint("term_id", name=op.f("pk_checkpoints")),
    )
    op.create_table(
        "continuous_audits",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("cursor", sa.Integer(), nullable=False),
        sa.Column("whole_at", sa.DateTime(timezone=True)),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.Column("differences", JSONB(), nullable=False),
        sa.Column("sections", JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["term_id"], ["terms.id"], name=op.f("fk_continuous_audits_term_id")
        ),
        sa.PrimaryKeyConstraint("term_id", name=op.f("pk_continuous_audits")),
    )
    op.create_table(
        "days_off",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_days_off_term_id")),
        sa.PrimaryKeyConstraint("term_id", "day", name=op.f("pk_days_off")),
    )
    op.create_table(
        "events",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("version", sa.SmallInteger(), nullable=False),
        sa.Column("aggregate", sa.String(length=60), nullable=False),
        sa.Column("student_id", sa.Integer()),
        sa.Column("payload", JSONB(), nullable=False),
        sa.Column("context", JSONB(), nullable=False),
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "recorded_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_events_term_id")),
        sa.PrimaryKeyConstraint("term_id", "seq", name=op.f("pk_events")),
    )
    op.create_index("ix_events_aggregate", "events", ["aggregate", "seq"])
    op.create_index(
        "ix_events_shares",
        "events",
        ["term_id"],
        unique=False,
        postgresql_where="name = 'section_set' AND payload ? 'pool'",
    )
    op.create_index("ix_events_student_id", "events", ["student_id", "term_id", "seq"])
    op.create_table(
        "exports",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column(
            "asked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("size", sa.BigInteger()),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_exports_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exports")),
    )
    op.create_index(op.f("ix_exports_asked_at"), "exports", ["asked_at"])
    op.create_table(
        "flags",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Integer()),
        sa.Column(
            "changed_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_flags_account_id")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_flags")),
    )
    op.create_table(
        "imports",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer()),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("options", JSONB(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("busy", sa.Boolean()),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("counts", JSONB(), nullable=False),
        sa.Column("notes", JSONB(), nullable=False),
        sa.Column("digest", sa.String(length=32), nullable=False),
        sa.Column(
            "made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column(
            "moved_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_imports_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
        sa.UniqueConstraint("busy", name=op.f("uq_imports_busy")),
    )
    op.create_table(
        "instructors",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer()),
        sa.Column("name", sa.String(length=160), nullable=False),
        sa.Column("title", sa.String(length=80), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("department_id", sa.Integer()),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_instructors_account_id")
        ),
        sa.ForeignKeyConstraint(
            ["department_id"], ["departments.id"], name=op.f("fk_instructors_department_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instructors")),
    )
    op.create_index(op.f("ix_instructors_account_id"), "instructors", ["account_id"])
    op.create_index(op.f("ix_instructors_name"), "instructors", ["name"])
    op.create_table(
        "lag_minutes",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("minute", sa.DateTime(timezone=True), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("slowest", sa.BigInteger(), nullable=False),
        sa.Column("buckets", sa.ARRAY(sa.Integer()), nullable=False),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_lag_minutes_term_id")),
        sa.PrimaryKeyConstraint("term_id", "minute", name=op.f("pk_lag_minutes")),
    )
    op.create_index("ix_lag_minutes_minute", "lag_minutes", ["minute"])
    op.create_table(
        "notification_settings",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("by_mail", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_notification_settings_account_id")
        ),
        sa.PrimaryKeyConstraint("account_id", "kind", name=op.f("pk_notification_settings")),
    )
    op.create_table(
        "pools",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.CheckConstraint("capacity >= 0", name=op.f("ck_pools_capacity")),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_pools_term_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pools")),
        sa.UniqueConstraint("term_id", "name", name=op.f("uq_pools_term_id_name")),
    )
    op.create_table(
        "stored_answers",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("kept", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_stored_answers_term_id")),
        sa.PrimaryKeyConstraint("term_id", "student_id", "request", name=op.f("pk_stored_answers")),
    )
    op.create_index(op.f("ix_stored_answers_at"), "stored_answers", ["at"])
    op.create_table(
        "students",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.String(length=32), nullable=False),
        sa.Column("department_id", sa.Integer()),
        sa.Column("level", sa.String(length=40), nullable=False),
        sa.Column("year", sa.String(length=40), nullable=False),
        sa.Column("degree", sa.String(length=40), nullable=False),
        sa.Column("campus", sa.String(length=80), nullable=False),
        sa.Column("college", sa.String(length=160), nullable=False),
        sa.Column("credit_limit", sa.Numeric(precision=5, scale=2)),
        sa.Column("private", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_students_account_id")
        ),
        sa.ForeignKeyConstraint(
            ["department_id"], ["departments.id"], name=op.f("fk_students_department_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_students")),
        sa.UniqueConstraint("account_id", name=op.f("uq_students_account_id")),
        sa.UniqueConstraint("number", name=op.f("uq_students_number")),
    )
    op.create_table(
        "subjects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=160), nullable=False),
        sa.Column("department_id", sa.Integer()),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["department_id"], ["departments.id"], name=op.f("fk_subjects_department_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subjects")),
        sa.UniqueConstraint("code", name=op.f("uq_subjects_code")),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("webhook_id", sa.Integer(), nullable=False),
        sa.Column("term_id", sa.Integer()),
        sa.Column("seq", sa.BigInteger()),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tries", sa.SmallInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True)),
        sa.Column("dead_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["term_id"], ["terms.id"], name=op.f("fk_webhook_deliveries_term_id")
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_deliveries_webhook_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
        sa.UniqueConstraint("webhook_id", "term_id", "seq", name="uq_webhook_deliveries_event"),
    )
    op.create_index(
        "ix_webhook_deliveries_dead",
        "webhook_deliveries",
        ["webhook_id", "dead_at"],
        unique=False,
        postgresql_where="dead_at IS NOT NULL",
    )
    op.create_index(
        "ix_webhook_deliveries_due",
        "webhook_deliveries",
        ["webhook_id", "due_at", "id"],
        unique=False,
        postgresql_where="sent_at IS NULL AND dead_at IS NULL",
    )
    op.create_index("ix_webhook_deliveries_webhook_id", "webhook_deliveries", ["webhook_id", "id"])
    op.create_table(
        "windows",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("opens_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closes_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("cohort", JSONB(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_windows_term_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_windows")),
    )
    op.create_index(op.f("ix_windows_term_id"), "windows", ["term_id"])
    op.create_table(
        "calendar_feeds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("nonce", sa.LargeBinary(length=16), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column(
            "changed_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_calendar_feeds_student_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_calendar_feeds")),
    )
    op.create_index(
        "uq_calendar_feeds_live",
        "calendar_feeds",
        ["student_id"],
        unique=True,
        postgresql_where=sa.text("revoked_at IS NULL"),
    )
    op.create_table(
        "completed_courses",
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("course_code", sa.String(length=24), nullable=False),
        sa.Column("term_name", sa.String(length=80), nullable=False),
        sa.Column("grade", sa.String(length=8), nullable=False),
        sa.Column("credits", sa.Numeric(precision=5, scale=2), nullable=False),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_completed_courses_student_id")
        ),
        sa.PrimaryKeyConstraint("student_id", "course_code", name=op.f("pk_completed_courses")),
    )
    op.create_table(
        "courses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("department_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("offered", sa.String(length=200), nullable=False),
        sa.Column("credits_min", sa.Numeric(precision=5, scale=2), nullable=False),
        sa.Column("credits_max", sa.Numeric(precision=5, scale=2), nullable=False),
        sa.Column("categories", ARRAY(sa.String(length=60)), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("levels", ARRAY(sa.String(length=40)), nullable=False),
        sa.Column("years", ARRAY(sa.String(length=40)), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("credits_min <= credits_max", name=op.f("ck_courses_credits")),
        sa.ForeignKeyConstraint(
            ["department_id"], ["departments.id"], name=op.f("fk_courses_department_id")
        ),
        sa.ForeignKeyConstraint(
            ["subject_id"], ["subjects.id"], name=op.f("fk_courses_subject_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_courses")),
        sa.UniqueConstraint("code", name=op.f("uq_courses_code")),
    )
    op.create_index(op.f("ix_courses_department_id"), "courses", ["department_id"])
    op.create_index(op.f("ix_courses_subject_id"), "courses", ["subject_id"])
    op.create_table(
        "export_parts",
        sa.Column("export_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["export_id"], ["exports.id"], name=op.f("fk_export_parts_export_id")
        ),
        sa.PrimaryKeyConstraint("export_id", "position", name=op.f("pk_export_parts")),
    )
    op.create_table(
        "holds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("reason", sa.String(length=300), nullable=False),
        sa.Column("office", sa.String(length=160), nullable=False),
        sa.Column(
            "placed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("lifted_at", sa.DateTime(timezone=True)),
        sa.Column("starts_at", sa.DateTime(timezone=True)),
        sa.Column("ends_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["student_id"], ["students.id"], name=op.f("fk_holds_student_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_holds")),
    )
    op.create_index(op.f("ix_holds_student_id"), "holds", ["student_id"])
    op.create_table(
        "import_changes",
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("change", sa.String(length=8), nullable=False),
        sa.Column("before", JSONB()),
        sa.Column("after", JSONB()),
        sa.ForeignKeyConstraint(
            ["import_id"], ["imports.id"], name=op.f("fk_import_changes_import_id")
        ),
        sa.PrimaryKeyConstraint("import_id", "kind", "key", name=op.f("pk_import_changes")),
    )
    op.create_table(
        "import_notes",
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("column", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["imports.id"], name=op.f("fk_import_notes_import_id")
        ),
        sa.PrimaryKeyConstraint("import_id", "position", name=op.f("pk_import_notes")),
    )
    op.create_table(
        "import_parts",
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["imports.id"], name=op.f("fk_import_parts_import_id")
        ),
        sa.PrimaryKeyConstraint("import_id", "name", "position", name=op.f("pk_import_parts")),
    )
    op.create_table(
        "import_rows",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fields", JSONB(), nullable=False),
        sa.Column("removes", sa.Boolean(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("pair", sa.BigInteger()),
        sa.ForeignKeyConstraint(
            ["import_id"], ["imports.id"], name=op.f("fk_import_rows_import_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_rows")),
    )
    op.create_index("ix_import_rows_key", "import_rows", ["import_id", "kind", "key"])
    op.create_table(
        "listed_students",
        sa.Column("list_id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["list_id"], ["student_lists.id"], name=op.f("fk_listed_students_list_id")
        ),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_listed_students_student_id")
        ),
        sa.PrimaryKeyConstraint("list_id", "student_id", name=op.f("pk_listed_students")),
    )
    op.create_index(op.f("ix_listed_students_student_id"), "listed_students", ["student_id"])
    op.create_table(
        "plans",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("lines", JSONB(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["student_id"], ["students.id"], name=op.f("fk_plans_student_id")),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_plans_term_id")),
        sa.PrimaryKeyConstraint("term_id", "student_id", name=op.f("pk_plans")),
    )
    op.create_table(
        "reminders",
        sa.Column("window_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("lead", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("through", sa.Integer(), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["window_id"], ["windows.id"], name=op.f("fk_reminders_window_id")),
        sa.PrimaryKeyConstraint("window_id", "seq", "lead", name=op.f("pk_reminders")),
    )
    op.create_table(
        "student_subjects",
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.CheckConstraint("kind IN ('major','minor')", name=op.f("ck_student_subjects_kind")),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_student_subjects_student_id")
        ),
        sa.ForeignKeyConstraint(
            ["subject_id"], ["subjects.id"], name=op.f("fk_student_subjects_subject_id")
        ),
        sa.PrimaryKeyConstraint(
            "student_id", "subject_id", "kind", name=op.f("pk_student_subjects")
        ),
    )
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
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_window_reports_term_id")),
        sa.ForeignKeyConstraint(
            ["window_id"], ["windows.id"], name=op.f("fk_window_reports_window_id")
        ),
        sa.PrimaryKeyConstraint("window_id", name=op.f("pk_window_reports")),
    )
    op.create_index(op.f("ix_window_reports_term_id"), "window_reports", ["term_id"])
    op.create_table(
        "course_subjects",
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name=op.f("fk_course_subjects_course_id")
        ),
        sa.ForeignKeyConstraint(
            ["subject_id"], ["subjects.id"], name=op.f("fk_course_subjects_subject_id")
        ),
        sa.PrimaryKeyConstraint("course_id", "subject_id", name=op.f("pk_course_subjects")),
        comment="The subjects to which a course that is not public is restricted",
    )
    op.create_table(
        "sections",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("crn", sa.String(length=24), nullable=False),
        sa.Column("number", sa.String(length=16), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=60), nullable=False),
        sa.Column("credits_min", sa.Numeric(precision=5, scale=2), nullable=False),
        sa.Column("credits_max", sa.Numeric(precision=5, scale=2), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("waitlist_capacity", sa.Integer(), nullable=False),
        sa.Column("prior_enrolled", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer()),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("campus", sa.String(length=80), nullable=False),
        sa.Column("method", sa.String(length=80), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("prerequisites", JSONB()),
        sa.Column("corequisites", JSONB()),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint(
            "status IN ('NEW','OPEN','CONFIRMED','CANCELED')", name=op.f("ck_sections_status")
        ),
        sa.CheckConstraint(
            "capacity >= 0 AND waitlist_capacity >= 0", name=op.f("ck_sections_seats")
        ),
        sa.CheckConstraint("credits_min <= credits_max", name=op.f("ck_sections_credits")),
        sa.CheckConstraint("prior_enrolled >= 0", name=op.f("ck_sections_prior")),
        sa.ForeignKeyConstraint(["course_id"], ["courses.id"], name=op.f("fk_sections_course_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pools.id"], name=op.f("fk_sections_pool_id")),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_sections_term_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sections")),
        sa.UniqueConstraint("term_id", "crn", name=op.f("uq_sections_term_id_crn")),
    )
    op.create_index(op.f("ix_sections_course_id"), "sections", ["course_id"])
    op.create_index(op.f("ix_sections_pool_id"), "sections", ["pool_id"])
    op.create_table(
        "cross_lists",
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("course_code", sa.String(length=24), nullable=False),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_cross_lists_section_id")
        ),
        sa.PrimaryKeyConstraint("section_id", "course_code", name=op.f("pk_cross_lists")),
    )
    op.create_index("ix_cross_lists_course_code", "cross_lists", ["course_code"])
    op.create_table(
        "enrollments",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("credits", sa.Integer(), nullable=False),
        sa.Column("corequisites", JSONB()),
        sa.Column("reserve", sa.Integer()),
        sa.Column("registration", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_enrollments_section_id")
        ),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_enrollments_student_id")
        ),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_enrollments_term_id")),
        sa.PrimaryKeyConstraint("term_id", "section_id", "student_id", name=op.f("pk_enrollments")),
    )
    op.create_index("ix_enrollments_section_id", "enrollments", ["section_id", "state"])
    op.create_index("ix_enrollments_student_id", "enrollments", ["student_id", "term_id"])
    op.create_table(
        "instructor_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("capacity", sa.Integer()),
        sa.Column("wanted", sa.Integer()),
        sa.Column("student_id", sa.Integer()),
        sa.Column("waives", ARRAY(sa.String(length=40)), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column(
            "made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("state", sa.String(length=9), server_default="open", nullable=False),
        sa.Column("decided_by", sa.Integer()),
        sa.Column("decided_at", sa.DateTime(timezone=True)),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint(
            "CASE kind WHEN 'seats' THEN wanted > capacity ELSE student_id IS NOT NULL END",
            name=op.f("ck_instructor_requests_content"),
        ),
        sa.CheckConstraint(
            "kind IN ('seats','override')", name=op.f("ck_instructor_requests_kind")
        ),
        sa.CheckConstraint(
            "state IN ('open','approved','declined','withdrawn')",
            name=op.f("ck_instructor_requests_state"),
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_instructor_requests_account_id")
        ),
        sa.ForeignKeyConstraint(
            ["decided_by"], ["accounts.id"], name=op.f("fk_instructor_requests_decided_by")
        ),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_instructor_requests_section_id")
        ),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_instructor_requests_student_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instructor_requests")),
    )
    op.create_index(
        op.f("ix_instructor_requests_account_id"),
        "instructor_requests",
        ["account_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_instructor_requests_section_id"),
        "instructor_requests",
        ["section_id"],
        unique=False,
    )
    op.create_index(
        "ix_instructor_requests_open",
        "instructor_requests",
        ["kind", "section_id", sa.literal_column("coalesce(student_id, 0)")],
        unique=True,
        postgresql_where="state = 'open'",
    )
    op.create_table(
        "meetings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("days", sa.SmallInteger(), nullable=False),
        sa.Column("starts_at", sa.Time()),
        sa.Column("ends_at", sa.Time()),
        sa.Column("date_start", sa.Date(), nullable=False),
        sa.Column("date_end", sa.Date(), nullable=False),
        sa.Column("room_id", sa.Integer()),
        sa.Column("clashes", sa.Boolean(), nullable=False),
        sa.CheckConstraint("date_start <= date_end", name=op.f("ck_meetings_dates")),
        sa.CheckConstraint("days BETWEEN 0 AND 127", name=op.f("ck_meetings_days")),
        sa.CheckConstraint("starts_at < ends_at", name=op.f("ck_meetings_times")),
        sa.ForeignKeyConstraint(["room_id"], ["rooms.id"], name=op.f("fk_meetings_room_id")),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_meetings_section_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_meetings")),
        sa.UniqueConstraint("section_id", "position", name=op.f("uq_meetings_section_id_position")),
    )
    op.create_table(
        "notifications",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("section_id", sa.Integer()),
        sa.Column("window_id", sa.Integer()),
        sa.Column("data", JSONB(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True)),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("lead", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_notifications_account_id")
        ),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_notifications_section_id")
        ),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_notifications_term_id")),
        sa.ForeignKeyConstraint(
            ["window_id"], ["windows.id"], name=op.f("fk_notifications_window_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notifications")),
        sa.UniqueConstraint(
            "account_id", "term_id", "seq", "kind", "lead", name="uq_notices_cause"
        ),
    )
    op.create_index("ix_notifications_account_id", "notifications", ["account_id", "id"])
    op.create_index(
        "ix_notifications_unread",
        "notifications",
        ["account_id"],
        unique=False,
        postgresql_where="read_at IS NULL",
    )
    op.create_table(
        "permissions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("waives", ARRAY(sa.String(length=40)), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("granted_by", sa.Integer()),
        sa.Column(
            "granted_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["granted_by"], ["accounts.id"], name=op.f("fk_permissions_granted_by")
        ),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_permissions_section_id")
        ),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_permissions_student_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_permissions")),
    )
    op.create_index(op.f("ix_permissions_section_id"), "permissions", ["section_id"])
    op.create_index(op.f("ix_permissions_student_id"), "permissions", ["student_id"])
    op.create_table(
        "reserves",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("cohort", JSONB(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True)),
        sa.CheckConstraint("seats >= 0", name=op.f("ck_reserves_seats")),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_reserves_section_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reserves")),
    )
    op.create_index(op.f("ix_reserves_section_id"), "reserves", ["section_id"])
    op.create_table(
        "restrictions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("rule", sa.String(length=12), nullable=False),
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("value", sa.String(length=120), nullable=False),
        sa.CheckConstraint("rule IN ('must_be','may_not_be')", name=op.f("ck_restrictions_rule")),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_restrictions_section_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_restrictions")),
        sa.UniqueConstraint(
            "section_id",
            "rule",
            "kind",
            "value",
            name=op.f("uq_restrictions_section_id_rule_kind_value"),
        ),
    )
    op.create_table(
        "section_changes",
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("fields", JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_section_changes_section_id")
        ),
        sa.PrimaryKeyConstraint("section_id", "version", name=op.f("pk_section_changes")),
    )
    op.create_table(
        "section_instructors",
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("instructor_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["instructor_id"], ["instructors.id"], name=op.f("fk_section_instructors_instructor_id")
        ),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_section_instructors_section_id")
        ),
        sa.PrimaryKeyConstraint("section_id", "instructor_id", name=op.f("pk_section_instructors")),
    )
    op.create_index(
        op.f("ix_section_instructors_instructor_id"),
        "section_instructors",
        ["instructor_id"],
        unique=False,
    )
    op.create_table(
        "section_seats",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("waitlist_capacity", sa.Integer(), nullable=False),
        sa.Column("prior", sa.Integer(), nullable=False),
        sa.Column("enrolled", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("pool_id", sa.Integer()),
        sa.Column("pool_capacity", sa.Integer()),
        sa.Column("reserves", JSONB(), nullable=False),
        sa.Column("reserved", JSONB(), nullable=False),
        sa.Column("kept", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_section_seats_section_id")
        ),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_section_seats_term_id")),
        sa.PrimaryKeyConstraint("term_id", "section_id", name=op.f("pk_section_seats")),
    )
    op.create_table(
        "waitlist_positions",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("ticket", sa.BigInteger(), nullable=False),
        sa.Column("credits", sa.Integer(), nullable=False),
        sa.Column("instead", sa.Integer()),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reasons", JSONB(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_waitlist_positions_section_id")
        ),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_waitlist_positions_student_id")
        ),
        sa.ForeignKeyConstraint(
            ["term_id"], ["terms.id"], name=op.f("fk_waitlist_positions_term_id")
        ),
        sa.PrimaryKeyConstraint(
            "term_id", "section_id", "student_id", name=op.f("pk_waitlist_positions")
        ),
    )
    op.create_index(
        "ix_waitlist_positions_section_id",
        "waitlist_positions",
        ["section_id", "ticket"],
        unique=False,
    )
    op.create_index(
        "ix_waitlist_positions_student_id",
        "waitlist_positions",
        ["student_id", "term_id"],
        unique=False,
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("notification_id", sa.BigInteger()),
        sa.Column("account_id", sa.Integer()),
        sa.Column("data", JSONB()),
        sa.Column("rank", sa.SmallInteger(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tries", sa.SmallInteger(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True)),
        sa.Column("dead_at", sa.DateTime(timezone=True)),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("correlation", sa.String(length=64), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_outbox_account_id")),
        sa.ForeignKeyConstraint(
            ["notification_id"], ["notifications.id"], name=op.f("fk_outbox_notification_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("notification_id", "kind", name="uq_outbox_notification_id"),
    )
    op.create_index(
        "ix_outbox_dead",
        "outbox",
        ["dead_at"],
        unique=False,
        postgresql_where="dead_at IS NOT NULL",
    )
    op.create_index(
        "ix_outbox_due",
        "outbox",
        ["rank", "due_at"],
        unique=False,
        postgresql_where="sent_at IS NULL AND dead_at IS NULL",
    )
