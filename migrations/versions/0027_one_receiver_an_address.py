"""One receiver an address, of those that are not deleted."""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The oldest stays: what the others were told, it was told as well.
    op.execute(
        "UPDATE webhooks AS late SET is_on = false, deleted_at = now(), version = version + 1"
        " WHERE deleted_at IS NULL AND EXISTS (SELECT FROM webhooks AS early"
        " WHERE early.url = late.url AND early.id < late.id AND early.deleted_at IS NULL)"
    )
    op.create_index(
        "uq_webhooks_url",
        "webhooks",
        ["url"],
        unique=True,
        postgresql_where="deleted_at IS NULL",
    )


def downgrade() -> None:
    op.drop_index("uq_webhooks_url", "webhooks")
