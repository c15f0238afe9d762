"""The database's schema, brought to the newest migration or back."""

from functools import cache

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import NullPool, create_engine, text

from portal.config import ROOT
from portal.db import transaction, with_driver


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
    return revision in _known()


def serves(revision: str | None) -> bool:
    """Whether this code works with such tables: its own, or those of a version after it.

    What that has changed leaves them usable for the version before: docs/operations.md.
    """
    return revision is not None and (revision == newest() or not knows(revision))


def ahead(url: str) -> bool:
    """Whether a version after this one has migrated the database at `url`."""
    engine = create_engine(with_driver(url), poolclass=NullPool)
    with engine.connect() as connection:
        at = MigrationContext.configure(connection).get_current_revision()
    return at is not None and not knows(at)


def current() -> str | None:
    """The revision that the connected database is at."""
    with transaction() as session:
        found: str | None = session.scalar(text("SELECT version_num FROM alembic_version"))
        return found


@cache
def _known() -> frozenset[str]:
    scripts = ScriptDirectory.from_config(_config(""))
    return frozenset(each.revision for each in scripts.walk_revisions())


def _config(url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations"))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config
