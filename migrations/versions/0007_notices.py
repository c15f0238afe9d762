"""What people are told, in an inbox and by mail."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

Moment = sa.DateTime(timezone=True)
CONCERNED = "SELECT DISTINCT account_id FROM changed"


def upgrade() -> None:
    _notices()
    _outbox()
    _tell_of_changes("'account','student','inbox'")
    for event in ("INSERT", "UPDATE"):
        op.execute(
            f"CREATE TRIGGER note_inbox_{event.lower()} AFTER {event} ON notices"
            " REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION"
            f" note_people_change('inbox', '{CONCERNED}')"
        )


def downgrade() -> None:
    op.execute("DELETE FROM people_changes WHERE kind = 'inbox'")
    _tell_of_changes("'account','student'")
    for table in ("reminders", "outbox", "notice_settings", "notices"):
        op.drop_table(table)


def _tell_of_changes(kinds: str) -> None:
    name = op.f("ck_people_changes_kind")
    op.drop_constraint(name, "people_changes")
    op.create_check_constraint(name, "people_changes", f"kind IN ({kinds})")


def _notices() -> None:
    op.create_table(
        "notices",
        sa.Column("id", sa.BigInteger(), primary_key=True),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("section_id", sa.Integer(), sa.ForeignKey("sections.id")),
        sa.Column("window_id", sa.Integer(), sa.ForeignKey("windows.id")),
        sa.Column("data", JSONB(), nullable=False),
        sa.Column("made_at", Moment, nullable=False),
        sa.Column("read_at", Moment),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("lead", sa.Integer(), nullable=False),
        sa.UniqueConstraint(
            "account_id", "term_id", "seq", "kind", "lead", name="uq_notices_cause"
        ),
    )
    op.create_index("ix_notices_account_id", "notices", ["account_id", "id"])
    op.create_index(
        "ix_notices_unread", "notices", ["account_id"], postgresql_where="read_at IS NULL"
    )
    op.create_table(
        "notice_settings",
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id"), primary_key=True),
        sa.Column("kind", sa.String(20), primary_key=True),
        sa.Column("by_mail", sa.Boolean(), nullable=False),
    )
    op.create_table(
        "reminders",
        sa.Column("window_id", sa.Integer(), sa.ForeignKey("windows.id"), primary_key=True),
        sa.Column("seq", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("lead", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("through", sa.Integer(), nullable=False),
        sa.Column("done_at", Moment),
    )


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger(), primary_key=True),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("notice_id", sa.BigInteger(), sa.ForeignKey("notices.id"), nullable=False),
        sa.Column("rank", sa.SmallInteger(), nullable=False),
        sa.Column("due_at", Moment, nullable=False),
        sa.Column("until", Moment, nullable=False),
        sa.Column("tries", sa.SmallInteger(), nullable=False),
        sa.Column("sent_at", Moment),
        sa.Column("dead_at", Moment),
        sa.Column("error", sa.Text(), nullable=False),
        sa.UniqueConstraint("notice_id", "kind", name="uq_outbox_notice_id"),
    )
    op.create_index(
        "ix_outbox_due",
        "outbox",
        ["rank", "due_at"],
        postgresql_where="sent_at IS NULL AND dead_at IS NULL",
    )
    op.create_index("ix_outbox_dead", "outbox", ["dead_at"], postgresql_where="dead_at IS NOT NULL")
