"""The adviser of a student, and holds that wait for an adviser's clearance.

If an account's name, address or roles change, triggers note this for its advisees: their cached
profiles name it.
"""

import sqlalchemy as sa
from alembic import op

revision = "advisers"
down_revision = "waitlist_bands"

SHOWN = ("name", "email", "staff_roles", "deleted_at", "deactivated_at")


def upgrade() -> None:
    op.add_column("students", sa.Column("adviser_id", sa.Integer()))
    op.create_foreign_key(
        op.f("fk_students_adviser_id"), "students", "accounts", ["adviser_id"], ["id"]
    )
    op.create_index(op.f("ix_students_adviser_id"), "students", ["adviser_id"])
    waits = sa.Column("adviser_lifts", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("holds", waits)
    op.add_column("holds", sa.Column("cleared_by_id", sa.Integer()))
    op.create_foreign_key(
        op.f("fk_holds_cleared_by_id"), "holds", "accounts", ["cleared_by_id"], ["id"]
    )
    op.execute("""
        CREATE FUNCTION note_advisees() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO people_changes (kind, id)
            SELECT 'student', id FROM students WHERE adviser_id = NEW.id ON CONFLICT DO NOTHING;
            RETURN NULL;
        END $$
    """)
    before, after = (", ".join(f"{row}.{name}" for name in SHOWN) for row in ("OLD", "NEW"))
    op.execute(f"""
        CREATE TRIGGER note_advisees AFTER UPDATE ON accounts FOR EACH ROW
        WHEN (({before}) IS DISTINCT FROM ({after})) EXECUTE FUNCTION note_advisees()
    """)


def downgrade() -> None:
    op.execute("DROP TRIGGER note_advisees ON accounts")
    op.execute("DROP FUNCTION note_advisees()")
    op.drop_column("holds", "cleared_by_id")
    op.drop_column("holds", "adviser_lifts")
    op.drop_column("students", "adviser_id")
