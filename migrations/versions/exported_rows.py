"""Which rows of an import an export wrote."""

import sqlalchemy as sa
from alembic import op

revision = "exported_rows"
down_revision = "erased_rounds"


def upgrade() -> None:
    exported = sa.Column("exported", sa.Boolean(), server_default="false", nullable=False)
    op.add_column("import_rows", exported)


def downgrade() -> None:
    op.drop_column("import_rows", "exported")
