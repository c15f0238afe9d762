"""The state of an import whose enrollments are applied is called `enrolling`."""

from alembic import op

revision = "import_states"
down_revision = "applications"


def upgrade() -> None:
    op.execute("UPDATE imports SET state = 'enrolling' WHERE state = 'seating'")


def downgrade() -> None:
    op.execute("UPDATE imports SET state = 'seating' WHERE state = 'enrolling'")
