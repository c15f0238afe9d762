"""Applications of students and their history."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "applications"
down_revision = "1.0.0"

EMPTY = sa.text("'{}'")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "applications",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("section_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=9), server_default="draft", nullable=False),
        sa.Column("stage", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("answers", JSONB(), server_default=EMPTY, nullable=False),
        sa.Column("approval", JSONB(none_as_null=True)),
        sa.Column("event", sa.BigInteger()),
        sa.Column("made_at", MOMENT, server_default=sa.text("now()"), nullable=False),
        sa.Column("submitted_at", MOMENT),
        sa.Column("decided_at", MOMENT),
        sa.CheckConstraint(
            "state IN ('draft','review','more','acting','approved','declined','withdrawn')",
            name=op.f("ck_applications_state"),
        ),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_applications_section_id")
        ),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_applications_student_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_applications")),
    )
    op.create_index(op.f("ix_applications_student_id"), "applications", ["student_id"])
    op.create_index(op.f("ix_applications_section_id"), "applications", ["section_id"])
    op.create_index("ix_applications_state", "applications", ["state", "submitted_at"])
    op.create_index(
        "ix_applications_acting", "applications", ["id"], postgresql_where="state = 'acting'"
    )
    op.create_index(
        "ix_applications_undecided",
        "applications",
        ["student_id", "kind", "section_id"],
        unique=True,
        postgresql_where="state IN ('draft','review','more','acting')",
    )
    op.create_table(
        "application_entries",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("application_id", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, server_default=sa.text("now()"), nullable=False),
        sa.Column("account_id", sa.Integer()),
        sa.Column("action", sa.String(length=12), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("data", JSONB(), server_default=EMPTY, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_application_entries_account_id")
        ),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["applications.id"],
            name=op.f("fk_application_entries_application_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_application_entries")),
    )
    op.create_index(
        op.f("ix_application_entries_application_id"), "application_entries", ["application_id"]
    )
    op.create_table(
        "application_documents",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("application_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("part", sa.String(length=20), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("type", sa.String(length=4), nullable=False),
        sa.Column("refused", sa.String(length=12), server_default="", nullable=False),
        sa.Column("made_at", MOMENT, server_default=sa.text("now()"), nullable=False),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("tries", sa.SmallInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("sent_at", MOMENT),
        sa.Column("dead_at", MOMENT),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["applications.id"],
            name=op.f("fk_application_documents_application_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_application_documents")),
    )
    op.create_index(
        op.f("ix_application_documents_application_id"),
        "application_documents",
        ["application_id"],
    )
    op.create_index(
        "ix_application_documents_due",
        "application_documents",
        ["due_at"],
        postgresql_where="sent_at IS NULL AND dead_at IS NULL",
    )
    op.create_index(
        "ix_application_documents_dead",
        "application_documents",
        ["dead_at"],
        postgresql_where="dead_at IS NOT NULL",
    )


def downgrade() -> None:
    op.drop_table("application_documents")
    op.drop_table("application_entries")
    op.drop_table("applications")
