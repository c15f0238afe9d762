"""What is remembered of the ledger."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _windows()
    _events()
    _read_models()
    op.execute("""
        CREATE TRIGGER only_added BEFORE UPDATE OR DELETE ON events
        FOR EACH ROW EXECUTE FUNCTION refuse_change()
    """)


def downgrade() -> None:
    for table in (
        "section_seats",
        "waitlist_places",
        "enrollments",
        "checkpoints",
        "events",
        "windows",
    ):
        op.drop_table(table)
    op.execute("DROP SEQUENCE window_ids")


def _windows() -> None:
    op.execute("CREATE SEQUENCE window_ids")
    op.create_table(
        "windows",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), nullable=False, index=True),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("opens_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closes_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("cohort", JSONB(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), primary_key=True),
        sa.Column("seq", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("version", sa.SmallInteger(), nullable=False),
        sa.Column("aggregate", sa.String(60), nullable=False),
        sa.Column("student_id", sa.Integer()),
        sa.Column("payload", JSONB(), nullable=False),
        sa.Column("context", JSONB(), nullable=False),
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "recorded_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()
        ),
    )
    op.create_index("ix_events_aggregate", "events", ["aggregate", "seq"])
    op.create_index("ix_events_student_id", "events", ["student_id", "term_id", "seq"])
    op.create_table(
        "checkpoints",
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), primary_key=True),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column(
            "moved_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()
        ),
    )


def _read_models() -> None:
    op.create_table(
        "enrollments",
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), primary_key=True),
        sa.Column("section_id", sa.Integer(), sa.ForeignKey("sections.id"), primary_key=True),
        sa.Column("student_id", sa.Integer(), sa.ForeignKey("students.id"), primary_key=True),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("credits", sa.Integer(), nullable=False),
        sa.Column("registration", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_enrollments_section_id", "enrollments", ["section_id", "state"])
    op.create_index("ix_enrollments_student_id", "enrollments", ["student_id", "term_id"])
    op.create_table(
        "waitlist_places",
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), primary_key=True),
        sa.Column("section_id", sa.Integer(), sa.ForeignKey("sections.id"), primary_key=True),
        sa.Column("student_id", sa.Integer(), sa.ForeignKey("students.id"), primary_key=True),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("ticket", sa.BigInteger(), nullable=False),
        sa.Column("credits", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reasons", JSONB(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_waitlist_places_section_id", "waitlist_places", ["section_id", "ticket"])
    op.create_index("ix_waitlist_places_student_id", "waitlist_places", ["student_id", "term_id"])
    op.create_table(
        "section_seats",
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), primary_key=True),
        sa.Column("section_id", sa.Integer(), sa.ForeignKey("sections.id"), primary_key=True),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("waitlist_capacity", sa.Integer(), nullable=False),
        sa.Column("prior", sa.Integer(), nullable=False),
        sa.Column("enrolled", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
    )
