"""What an approved request gave, which may be less than was asked for."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "partial_approval"
down_revision = "allocation_rounds"


def upgrade() -> None:
    op.add_column("instructor_requests", sa.Column("given_seats", sa.Integer()))
    rules = postgresql.ARRAY(sa.String(40))
    op.add_column("instructor_requests", sa.Column("given_waives", rules))


def downgrade() -> None:
    op.drop_column("instructor_requests", "given_waives")
    op.drop_column("instructor_requests", "given_seats")
