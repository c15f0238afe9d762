"""Applications keep the courses that they name, whose department may change."""

import sqlalchemy as sa
from alembic import op

revision = "application_courses"
down_revision = "department_deciders"


def upgrade() -> None:
    op.add_column(
        "applications",
        sa.Column("course_ids", sa.ARRAY(sa.Integer), nullable=False, server_default="{}"),
    )
    # One course of the department leads those in review to its deciders, as before.
    op.execute(
        "UPDATE applications SET course_ids = ARRAY(SELECT min(id) FROM courses"
        " WHERE courses.department_id = applications.department_id HAVING count(*) > 0)"
        " WHERE department_id IS NOT NULL"
    )
    op.drop_column("applications", "department_id")


def downgrade() -> None:
    op.add_column("applications", sa.Column("department_id", sa.Integer))
    op.create_foreign_key(
        "fk_applications_department_id",
        "applications",
        "departments",
        ["department_id"],
        ["id"],
    )
    op.execute(
        "UPDATE applications SET department_id = (SELECT min(department_id) FROM courses"
        " WHERE id = ANY (course_ids) HAVING count(DISTINCT department_id) = 1)"
    )
    op.drop_column("applications", "course_ids")
