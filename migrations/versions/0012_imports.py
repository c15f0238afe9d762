"""Imports under way, and what others call what is here."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

Moment = sa.DateTime(timezone=True)


def of_import(*columns: sa.Column) -> tuple[sa.schema.SchemaItem, ...]:
    """The columns of a table whose rows are part of an import."""
    link = sa.ForeignKey("imports.id")
    return sa.Column("import_id", sa.Integer(), link, nullable=False), *columns


def text(name: str) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=False)


def upgrade() -> None:
    _imports()
    _rows()
    _outcome()
    _names()


def downgrade() -> None:
    op.drop_table("sourced_ids")
    for table in ("import_notes", "import_changes", "import_rows", "import_parts", "imports"):
        op.drop_table(table)


def _imports() -> None:
    op.create_table(
        "imports",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id")),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("options", JSONB(), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("busy", sa.Boolean(), unique=True),
        text("error"),
        sa.Column("counts", JSONB(), nullable=False),
        sa.Column("notes", JSONB(), nullable=False),
        sa.Column("digest", sa.String(32), nullable=False),
        sa.Column("made_at", Moment, nullable=False, server_default=sa.func.now()),
        sa.Column("moved_at", Moment, nullable=False, server_default=sa.func.now()),
        sa.Column("expires_at", Moment, nullable=False),
    )
    op.create_table(
        "import_parts",
        *of_import(
            sa.Column("name", sa.String(200), nullable=False),
            sa.Column("position", sa.Integer(), nullable=False),
            sa.Column("content", sa.LargeBinary(), nullable=False),
        ),
        sa.PrimaryKeyConstraint("import_id", "name", "position"),
    )


def _rows() -> None:
    op.create_table(
        "import_rows",
        sa.Column("id", sa.BigInteger(), sa.Identity(), primary_key=True),
        *of_import(
            sa.Column("kind", sa.String(12), nullable=False),
            text("key"),
            sa.Column("fields", JSONB(), nullable=False),
            sa.Column("removes", sa.Boolean(), nullable=False),
            text("file"),
            sa.Column("line", sa.Integer(), nullable=False),
        ),
    )
    op.create_index("ix_import_rows_key", "import_rows", ["import_id", "kind", "key"])


def _outcome() -> None:
    op.create_table(
        "import_changes",
        *of_import(
            sa.Column("kind", sa.String(12), nullable=False),
            text("key"),
            sa.Column("change", sa.String(8), nullable=False),
            sa.Column("before", JSONB()),
            sa.Column("after", JSONB()),
        ),
        sa.PrimaryKeyConstraint("import_id", "kind", "key"),
    )
    op.create_table(
        "import_notes",
        *of_import(
            sa.Column("position", sa.Integer(), nullable=False),
            sa.Column("kind", sa.String(24), nullable=False),
            text("file"),
            sa.Column("line", sa.Integer(), nullable=False),
            *map(text, ("key", "column", "value", "detail")),
        ),
        sa.PrimaryKeyConstraint("import_id", "position"),
    )


def _names() -> None:
    op.create_table(
        "sourced_ids",
        sa.Column("kind", sa.String(12), primary_key=True),
        sa.Column("sourced_id", sa.Text(), primary_key=True),
        text("key"),
        sa.Column("modified", sa.Text()),
    )
    op.create_index("ix_sourced_ids_key", "sourced_ids", ["kind", "key"])
