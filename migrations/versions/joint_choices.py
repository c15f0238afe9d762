"""Joint choices of allocation rounds, and who is in them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "joint_choices"
down_revision = "partial_approval"


def upgrade() -> None:
    op.create_table(
        "joint_choices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=False),
        sa.Column("sections", postgresql.JSONB(), nullable=False),
        sa.Column("numbers", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["round_id"], ["rounds.id"], name=op.f("fk_joint_choices_round_id")
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["students.id"], name=op.f("fk_joint_choices_made_by")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_joint_choices")),
    )
    op.create_index(op.f("ix_joint_choices_round_id"), "joint_choices", ["round_id"])
    op.create_table(
        "joint_members",
        sa.Column("joint_id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.Column("agreed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["joint_id"], ["joint_choices.id"], name=op.f("fk_joint_members_joint_id")
        ),
        sa.ForeignKeyConstraint(
            ["student_id"], ["students.id"], name=op.f("fk_joint_members_student_id")
        ),
        sa.PrimaryKeyConstraint("joint_id", "student_id", name=op.f("pk_joint_members")),
    )
    op.create_index(op.f("ix_joint_members_student_id"), "joint_members", ["student_id"])


def downgrade() -> None:
    for table in ("joint_members", "joint_choices"):
        op.drop_table(table)
