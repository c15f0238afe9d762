"""Terms are drafts, published or archived; those that exist are published."""

import sqlalchemy as sa
from alembic import op

revision = "term_states"
down_revision = "column_mappings"


def upgrade() -> None:
    column = sa.Column("state", sa.String(12), nullable=False, server_default="published")
    op.add_column("terms", column)
    op.alter_column("terms", "state", server_default="draft")
    op.create_check_constraint(
        op.f("ck_terms_state"), "terms", "state IN ('draft','published','archived')"
    )


def downgrade() -> None:
    op.drop_column("terms", "state")
