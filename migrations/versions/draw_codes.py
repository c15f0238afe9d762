"""The codes of a draw and its public value, and the value that a recorded waiting room used."""

import sqlalchemy as sa
from alembic import op

revision = "draw_codes"
down_revision = "report_subscriptions"


def upgrade() -> None:
    op.create_table(
        "draw_codes",
        sa.Column("window_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("term_id", sa.Integer(), nullable=False),
        sa.Column("public_source", sa.String(length=300), nullable=False),
        sa.Column("public_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("code_key", sa.String(length=64), nullable=False),
        sa.Column("root", sa.String(length=64)),
        sa.Column("codes", sa.LargeBinary()),
        sa.ForeignKeyConstraint(
            ["term_id"], ["terms.id"], name=op.f("fk_draw_codes_term_id_terms")
        ),
        sa.PrimaryKeyConstraint("window_id", name=op.f("pk_draw_codes")),
    )
    op.create_index(op.f("ix_draw_codes_term_id"), "draw_codes", ["term_id"])
    op.add_column("queue_rooms", sa.Column("public", sa.String(length=300)))


def downgrade() -> None:
    op.drop_column("queue_rooms", "public")
    op.drop_table("draw_codes")
