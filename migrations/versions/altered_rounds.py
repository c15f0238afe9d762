"""Whether the stored ballots of a round differ from those that were fixed at its end."""

import sqlalchemy as sa
from alembic import op

revision = "altered_rounds"
down_revision = "draw_codes"


def upgrade() -> None:
    op.add_column(
        "rounds", sa.Column("altered", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.alter_column("rounds", "altered", server_default=None)


def downgrade() -> None:
    op.drop_column("rounds", "altered")
