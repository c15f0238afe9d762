"""Pools, sections that share seats; reserves, seats that are kept for a cohort."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pools",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.UniqueConstraint("term_id", "name"),
        sa.CheckConstraint("capacity >= 0", name="capacity"),
    )
    op.add_column(
        "sections", sa.Column("pool_id", sa.Integer(), sa.ForeignKey("pools.id"), index=True)
    )
    op.add_column("section_seats", sa.Column("pool_id", sa.Integer()))
    op.add_column("section_seats", sa.Column("pool_capacity", sa.Integer()))
    op.create_table(
        "reserves",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "section_id", sa.Integer(), sa.ForeignKey("sections.id"), nullable=False, index=True
        ),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("cohort", JSONB(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True)),
        sa.CheckConstraint("seats >= 0", name="seats"),
    )
    op.add_column("enrollments", sa.Column("reserve", sa.Integer()))
    _add("reserves", JSONB(), "[]")
    _add("reserved", JSONB(), "{}")
    _add("kept", sa.Integer(), "0")


def _add(name: str, kind: sa.types.TypeEngine[Any], default: str) -> None:
    """A column of the counts; those that are there keep no seats."""
    column = sa.Column(name, kind, nullable=False, server_default=default)
    op.add_column("section_seats", column)
    op.alter_column("section_seats", name, server_default=None)


def downgrade() -> None:
    for name in ("kept", "reserved", "reserves"):
        op.drop_column("section_seats", name)
    op.drop_column("enrollments", "reserve")
    op.drop_table("reserves")
    op.drop_column("section_seats", "pool_capacity")
    op.drop_column("section_seats", "pool_id")
    op.drop_column("sections", "pool_id")
    op.drop_table("pools")
