"""Which instructors decide applications for their department, and which is an application's."""

import sqlalchemy as sa
from alembic import op

revision = "department_deciders"
down_revision = "imported_records"

COLUMNS = (("instructors", "decides_for_id"), ("applications", "department_id"))


def upgrade() -> None:
    for table, column in COLUMNS:
        op.add_column(table, sa.Column(column, sa.Integer()))
        op.create_foreign_key(f"fk_{table}_{column}", table, "departments", [column], ["id"])


def downgrade() -> None:
    for table, column in COLUMNS:
        op.drop_constraint(f"fk_{table}_{column}", table, type_="foreignkey")
        op.drop_column(table, column)
