"""Changes of section within imports as one, and how often a worker has begun with an import."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("import_rows", sa.Column("pair", sa.BigInteger()))
    op.add_column("imports", sa.Column("tries", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("imports", "tries")
    op.drop_column("import_rows", "pair")
