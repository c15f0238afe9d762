"""Allocation rounds with their ballots, files and trials."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "allocation_rounds"
down_revision = "mail_texts"

JSONB = postgresql.JSONB


def upgrade() -> None:
    op.create_table(
        "rounds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("cohort", JSONB(), nullable=False),
        sa.Column("begins_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("mechanism", sa.String(length=12), nullable=False),
        sa.Column("priorities", JSONB(), nullable=False),
        sa.Column("reserves", sa.String(length=8), nullable=False),
        sa.Column("tickets", sa.Integer(), nullable=False),
        sa.Column("most_courses", sa.Integer(), nullable=False),
        sa.Column("most_credits", sa.Integer(), nullable=False),
        sa.Column("public_source", sa.String(length=300), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("announced", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("root", sa.String(length=64)),
        sa.Column("ballots", sa.Integer()),
        sa.Column("public_value", sa.String(length=300)),
        sa.Column("applied", sa.Integer(), nullable=False),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["term_id"], ["terms.id"], name=op.f("fk_rounds_term_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
        sa.UniqueConstraint("term_id", "name", name=op.f("uq_rounds_term_id_name")),
        sa.UniqueConstraint("key", name=op.f("uq_rounds_key")),
    )
    op.create_table(
        "ballots",
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=120), nullable=False),
        sa.Column("lines", JSONB(), nullable=False),
        sa.Column("most_courses", sa.Integer(), nullable=False),
        sa.Column("most_credits", sa.Integer(), nullable=False),
        sa.Column("changes", sa.Integer(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("refused", JSONB()),
        sa.Column("result", JSONB()),
        sa.Column("given", JSONB()),
        sa.Column("unmet_first", sa.Boolean()),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_ballots_round_id")),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_ballots_student_id")
        ),
        sa.PrimaryKeyConstraint("round_id", "student_id", name=op.f("pk_ballots")),
        sa.UniqueConstraint("code", name=op.f("uq_ballots_code")),
    )
    op.create_index(op.f("ix_ballots_student_id"), "ballots", ["student_id"])
    op.create_table(
        "round_files",
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_round_files_round_id")),
        sa.PrimaryKeyConstraint("round_id", "kind", name=op.f("pk_round_files")),
    )
    op.create_table(
        "round_trials",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column(
            "made_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("ballots", sa.Integer()),
        sa.Column("measures", JSONB()),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_round_trials_round_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round_trials")),
    )
    op.create_index(op.f("ix_round_trials_round_id"), "round_trials", ["round_id"])


def downgrade() -> None:
    for table in ("round_trials", "round_files", "ballots", "rounds"):
        op.drop_table(table)
