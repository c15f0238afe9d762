"""Applications of people without a student record, fees, uploads in pieces, retention."""

import sqlalchemy as sa
from alembic import op

revision = "visiting_students"
down_revision = "import_states"

MOMENT = sa.DateTime(timezone=True)
NOW = sa.text("now()")
STATES = "'new','open','paid','failed','expired','refunding','refunded'"


def upgrade() -> None:
    _widen_applications()
    _charges()
    op.create_table(
        "payment_events",
        sa.Column("provider", sa.String(length=8), nullable=False),
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("at", MOMENT, server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("provider", "id", name=op.f("pk_payment_events")),
    )
    _uploads()
    op.create_table(
        "application_retention",
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("kind", name=op.f("pk_application_retention")),
    )


def _widen_applications() -> None:
    for name, target in (("account_id", "accounts"), ("term_id", "terms")):
        op.add_column("applications", sa.Column(name, sa.Integer()))
        op.create_foreign_key(
            op.f(f"fk_applications_{name}"), "applications", target, [name], ["id"]
        )
        op.create_index(op.f(f"ix_applications_{name}"), "applications", [name])
    op.execute(
        "UPDATE applications SET account_id = students.account_id, term_id = sections.term_id"
        " FROM students, sections WHERE students.id = student_id AND sections.id = section_id"
    )
    for name, nullable in (
        ("account_id", False),
        ("term_id", False),
        ("student_id", True),
        ("section_id", True),
    ):
        op.alter_column("applications", name, nullable=nullable)
    op.add_column(
        "applications", sa.Column("fee", sa.Integer(), server_default="0", nullable=False)
    )
    for name in ("erased_at", "reminded_at"):
        op.add_column("applications", sa.Column(name, MOMENT))
    op.add_column(
        "application_documents",
        sa.Column("pages", sa.SmallInteger(), server_default="1", nullable=False),
    )
    op.drop_index("ix_applications_undecided", "applications")
    op.create_index(
        "ix_applications_undecided",
        "applications",
        ["account_id", "kind", "term_id", "section_id"],
        unique=True,
        postgresql_nulls_not_distinct=True,
        postgresql_where="state IN ('draft','review','more','acting')",
    )


def _charges() -> None:
    op.create_table(
        "application_charges",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("application_id", sa.Integer(), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("provider", sa.String(length=8), nullable=False),
        sa.Column("state", sa.String(length=9), server_default="new", nullable=False),
        sa.Column("reference", sa.String(length=255), server_default="", nullable=False),
        sa.Column("url", sa.Text(), server_default="", nullable=False),
        sa.Column("payment", sa.String(length=255), server_default="", nullable=False),
        sa.Column("made_at", MOMENT, server_default=NOW, nullable=False),
        sa.Column("paid_at", MOMENT),
        sa.Column("refunded_at", MOMENT),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("tries", sa.SmallInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("sent_at", MOMENT),
        sa.Column("dead_at", MOMENT),
        sa.CheckConstraint(f"state IN ({STATES})", name=op.f("ck_application_charges_state")),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["applications.id"],
            name=op.f("fk_application_charges_application_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_application_charges")),
    )
    op.create_index(
        op.f("ix_application_charges_application_id"), "application_charges", ["application_id"]
    )
    op.create_index("ix_application_charges_reference", "application_charges", ["reference"])
    op.create_index(
        "ix_application_charges_live",
        "application_charges",
        ["application_id"],
        unique=True,
        postgresql_where="state IN ('new','open','paid')",
    )
    op.create_index(
        "ix_application_charges_due",
        "application_charges",
        ["due_at"],
        postgresql_where="sent_at IS NULL AND dead_at IS NULL",
    )
    op.create_index(
        "ix_application_charges_dead",
        "application_charges",
        ["dead_at"],
        postgresql_where="dead_at IS NOT NULL",
    )


def _uploads() -> None:
    op.create_table(
        "application_uploads",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("application_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("received", sa.Integer(), server_default="0", nullable=False),
        sa.Column("made_at", MOMENT, server_default=NOW, nullable=False),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["applications.id"],
            name=op.f("fk_application_uploads_application_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_application_uploads")),
    )
    op.create_index(
        op.f("ix_application_uploads_application_id"), "application_uploads", ["application_id"]
    )
    op.create_table(
        "application_upload_pieces",
        sa.Column("upload_id", sa.BigInteger(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["upload_id"],
            ["application_uploads.id"],
            name=op.f("fk_application_upload_pieces_upload_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("upload_id", "start", name=op.f("pk_application_upload_pieces")),
    )


def downgrade() -> None:
    for table in (
        "application_retention",
        "application_upload_pieces",
        "application_uploads",
        "payment_events",
        "application_charges",
    ):
        op.drop_table(table)
    op.drop_column("application_documents", "pages")
    op.execute("DELETE FROM applications WHERE student_id IS NULL OR section_id IS NULL")
    op.drop_index("ix_applications_undecided", "applications")
    for name in ("account_id", "term_id", "fee", "erased_at", "reminded_at"):
        op.drop_column("applications", name)
    for name in ("student_id", "section_id"):
        op.alter_column("applications", name, nullable=False)
    op.create_index(
        "ix_applications_undecided",
        "applications",
        ["student_id", "kind", "section_id"],
        unique=True,
        postgresql_where="state IN ('draft','review','more','acting')",
    )
