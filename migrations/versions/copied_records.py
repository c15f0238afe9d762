"""Which imported records a copied term has from no file yet."""

import sqlalchemy as sa
from alembic import op

revision = "copied_records"
down_revision = "exported_rows"


def upgrade() -> None:
    copied = sa.Column("copied", sa.Boolean(), server_default="false", nullable=False)
    op.add_column("imported_records", copied)


def downgrade() -> None:
    op.drop_column("imported_records", "copied")
