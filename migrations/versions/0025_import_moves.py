"""Changes of section within imports as one."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("import_rows", sa.Column("pair", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("import_rows", "pair")
