"""The prerequisites and corequisites with which new sections of a course begin."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "course_requisites"
down_revision = "section_consent"

TREES = ("prerequisites", "corequisites")


def upgrade() -> None:
    for name in TREES:
        op.add_column("courses", sa.Column(name, postgresql.JSONB()))


def downgrade() -> None:
    for name in TREES:
        op.drop_column("courses", name)
