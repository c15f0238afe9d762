"""The waiting rooms as recorded: their seeds, and the entries of students."""

import sqlalchemy as sa
from alembic import op

revision = "waiting_room_record"
down_revision = "service_tokens"

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "queue_rooms",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("window_id", sa.Integer(), nullable=False),
        sa.Column("seed", sa.String(length=64), nullable=False),
        sa.Column("called", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        _of_term("queue_rooms"),
        sa.PrimaryKeyConstraint("term_id", "window_id", name=op.f("pk_queue_rooms")),
    )
    op.create_table(
        "queue_entries",
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("window_id", sa.Integer(), nullable=False),
        sa.Column("entry", sa.String(length=32), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer()),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("since", MOMENT, nullable=False),
        sa.Column("admitted_at", MOMENT),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        _of_term("queue_entries"),
        sa.PrimaryKeyConstraint("term_id", "window_id", "entry", name=op.f("pk_queue_entries")),
    )
    op.create_index("ix_queue_entries_student_id", "queue_entries", ["student_id", "term_id"])
    # The version before cannot read these events. A portal that is upgraded node by node switches
    # them on once all nodes have this version.
    op.execute(
        "INSERT INTO flags (name, is_on, version, reason, changed_at)"
        " SELECT 'room_record', false, 0, 'Switch it on once all nodes run this version.',"
        " now() WHERE EXISTS (SELECT FROM terms) ON CONFLICT DO NOTHING"
    )


def downgrade() -> None:
    op.drop_table("queue_entries")
    op.drop_table("queue_rooms")
    op.execute("DELETE FROM flags WHERE name = 'room_record'")


def _of_term(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["term_id"], ["terms.id"], name=op.f(f"fk_{table}_term_id_terms")
    )
