"""When an application was changed last: what its age counts from."""

import sqlalchemy as sa
from alembic import op

revision = "application_changes"
down_revision = "waiting_room_record"


def upgrade() -> None:
    op.add_column(
        "applications",
        sa.Column(
            "changed_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
    )
    # When a draft was saved last is not known, so its time begins now.
    op.execute(
        "UPDATE applications SET changed_at = last.at"
        " FROM (SELECT application_id, max(at) AS at FROM application_entries"
        " GROUP BY application_id) AS last"
        " WHERE last.application_id = applications.id"
        " AND state IN ('approved', 'declined', 'withdrawn')"
    )


def downgrade() -> None:
    op.drop_column("applications", "changed_at")
