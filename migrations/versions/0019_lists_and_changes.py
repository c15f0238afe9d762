"""Lists of students for whom a window is, and changes of sections that students are told of."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "student_lists",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column(
            "made_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False
        ),
        sa.UniqueConstraint("digest", name=op.f("uq_student_lists_digest")),
    )
    op.create_table(
        "listed_students",
        sa.Column("list_id", sa.Integer(), sa.ForeignKey("student_lists.id"), primary_key=True),
        sa.Column("student_id", sa.Integer(), sa.ForeignKey("students.id"), primary_key=True),
    )
    op.create_index(op.f("ix_listed_students_student_id"), "listed_students", ["student_id"])
    # As 0005 has it for all that a profile is made of; here rows only ever come.
    op.execute("""
        CREATE TRIGGER note_student_insert_new AFTER INSERT ON listed_students
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
        EXECUTE FUNCTION note_people_change('student', 'SELECT student_id FROM changed')
    """)
    op.create_table(
        "section_changes",
        sa.Column("section_id", sa.Integer(), sa.ForeignKey("sections.id"), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("fields", JSONB(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("section_changes")
    op.drop_table("listed_students")
    op.drop_table("student_lists")
