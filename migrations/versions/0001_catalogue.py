"""What is offered."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _places()
    _courses()
    _sections()
    _details()


def downgrade() -> None:
    for table in (
        "cross_lists",
        "restrictions",
        "meetings",
        "sections",
        "course_subjects",
        "courses",
        "rooms",
        "terms",
        "subjects",
        "departments",
    ):
        op.drop_table(table)


def _places() -> None:
    op.create_table(
        "departments",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("code", sa.String(16), nullable=False, unique=True),
        sa.Column("name", sa.String(160), nullable=False),
        sa.Column("school", sa.String(160), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "subjects",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("code", sa.String(16), nullable=False, unique=True),
        sa.Column("name", sa.String(160), nullable=False),
        sa.Column("department_id", sa.Integer(), sa.ForeignKey("departments.id")),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "terms",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(80), nullable=False, unique=True),
        sa.Column("starts_on", sa.Date(), nullable=False),
        sa.Column("ends_on", sa.Date(), nullable=False),
        sa.Column("credit_limit", sa.Numeric(5, 2), nullable=False),
        sa.Column("drops_per_day", sa.SmallInteger(), nullable=False),
        sa.Column("catalog_version", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "rooms",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(80), nullable=False, unique=True),
        sa.Column("seats", sa.Integer()),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    )


def _courses() -> None:
    op.create_table(
        "courses",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("code", sa.String(24), nullable=False, unique=True),
        sa.Column(
            "subject_id", sa.Integer(), sa.ForeignKey("subjects.id"), nullable=False, index=True
        ),
        sa.Column(
            "department_id",
            sa.Integer(),
            sa.ForeignKey("departments.id"),
            nullable=False,
            index=True,
        ),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("offered", sa.String(200), nullable=False),
        sa.Column("credits_min", sa.Numeric(5, 2), nullable=False),
        sa.Column("credits_max", sa.Numeric(5, 2), nullable=False),
        sa.Column("categories", ARRAY(sa.String(60)), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("levels", ARRAY(sa.String(40)), nullable=False),
        sa.Column("years", ARRAY(sa.String(40)), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("credits_min <= credits_max", name="credits"),
    )
    op.create_table(
        "course_subjects",
        sa.Column("course_id", sa.Integer(), sa.ForeignKey("courses.id"), primary_key=True),
        sa.Column("subject_id", sa.Integer(), sa.ForeignKey("subjects.id"), primary_key=True),
        comment="The subjects to which a course that is not public is restricted",
    )


def _sections() -> None:
    op.create_table(
        "sections",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("term_id", sa.Integer(), sa.ForeignKey("terms.id"), nullable=False),
        sa.Column(
            "course_id", sa.Integer(), sa.ForeignKey("courses.id"), nullable=False, index=True
        ),
        sa.Column("crn", sa.String(24), nullable=False),
        sa.Column("number", sa.String(16), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(60), nullable=False),
        sa.Column("credits_min", sa.Numeric(5, 2), nullable=False),
        sa.Column("credits_max", sa.Numeric(5, 2), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("waitlist_capacity", sa.Integer(), nullable=False),
        sa.Column("prior_enrolled", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("campus", sa.String(80), nullable=False),
        sa.Column("method", sa.String(80), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("prerequisites", JSONB()),
        sa.Column("corequisites", JSONB()),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.UniqueConstraint("term_id", "crn"),
        sa.CheckConstraint("credits_min <= credits_max", name="credits"),
        sa.CheckConstraint("prior_enrolled >= 0", name="prior"),
        sa.CheckConstraint("capacity >= 0 AND waitlist_capacity >= 0", name="seats"),
        sa.CheckConstraint("status IN ('NEW','OPEN','CONFIRMED','CANCELED')", name="status"),
    )


def _details() -> None:
    op.create_table(
        "meetings",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("section_id", sa.Integer(), sa.ForeignKey("sections.id"), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("days", sa.SmallInteger(), nullable=False),
        sa.Column("starts_at", sa.Time()),
        sa.Column("ends_at", sa.Time()),
        sa.Column("date_start", sa.Date(), nullable=False),
        sa.Column("date_end", sa.Date(), nullable=False),
        sa.Column("room_id", sa.Integer(), sa.ForeignKey("rooms.id")),
        sa.Column("clashes", sa.Boolean(), nullable=False),
        sa.UniqueConstraint("section_id", "position"),
        sa.CheckConstraint("date_start <= date_end", name="dates"),
        sa.CheckConstraint("days BETWEEN 0 AND 127", name="days"),
        sa.CheckConstraint("starts_at < ends_at", name="times"),
    )
    op.create_table(
        "restrictions",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("section_id", sa.Integer(), sa.ForeignKey("sections.id"), nullable=False),
        sa.Column("rule", sa.String(12), nullable=False),
        sa.Column("kind", sa.String(24), nullable=False),
        sa.Column("value", sa.String(120), nullable=False),
        sa.UniqueConstraint("section_id", "rule", "kind", "value"),
        sa.CheckConstraint("rule IN ('must_be','may_not_be')", name="rule"),
    )
    op.create_table(
        "cross_lists",
        sa.Column("section_id", sa.Integer(), sa.ForeignKey("sections.id"), primary_key=True),
        sa.Column("course_code", sa.String(24), primary_key=True),
    )
    op.create_index("ix_cross_lists_course_code", "cross_lists", ["course_code"])
