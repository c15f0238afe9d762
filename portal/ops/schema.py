"""The database's schema, brought to the newest migration or back."""

from functools import cache

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from portal.config import ROOT
from portal.db import transaction


def upgrade(url: str, revision: str = "head") -> None:
    """Run the migrations that the database at `url` lacks, up to `revision`."""
    command.upgrade(_config(url), revision)


def downgrade(url: str, revision: str) -> None:
    """Undo migrations down to `revision` ("base" = all)."""
    command.downgrade(_config(url), revision)


@cache
def newest() -> str | None:
    """The revision that this code was written for."""
    return ScriptDirectory.from_config(_config("")).get_current_head()


def knows(revision: str) -> bool:
    """Whether this code can bring tables of that revision to the newest."""
    return any(
        each.revision == revision
        for each in ScriptDirectory.from_config(_config("")).walk_revisions()
    )


def current() -> str | None:
    """The revision that the connected database is at."""
    with transaction() as session:
        found: str | None = session.scalar(text("SELECT version_num FROM alembic_version"))
        return found


def _config(url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations"))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config
