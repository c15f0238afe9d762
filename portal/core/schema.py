"""The database schema: migrations up and down, and the portal's grants.

An owner role creates the tables. The portal's own role gets its grants here. In append-only tables
it may insert and read, but neither change rows nor switch off their triggers.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

from portal.core.db import transaction, with_driver
from portal.core.errors import CommandError
from portal.core.settings import ROOT

BEFORE_1_0 = re.compile(r"00\d\d")  # revisions before the first release
OLD = (
    "The database is of a version before 1.0.0, which this version can't migrate. To keep its data,"
    " run that version. To start over, use an empty database, or move the data folder (var/) away."
)
GROWING = ("events", "audit_entries")
# The names are constants of ours, and the role is quoted.
GRANTS = f"""
    SELECT pg_advisory_xact_lock(hashtext('fairseat migrations'));
    GRANT USAGE ON SCHEMA public TO {{role}};
    GRANT ALL ON ALL TABLES IN SCHEMA public TO {{role}};
    REVOKE TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public FROM {{role}};
    REVOKE ALL ON {", ".join(GROWING)}, alembic_version FROM {{role}};
    GRANT SELECT, INSERT ON {", ".join(GROWING)} TO {{role}};
    GRANT SELECT ON alembic_version TO {{role}};
    GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO {{role}};
"""  # noqa: S608


def upgrade(url: str, revision: str = "head", *, portal: str = "") -> None:
    """Run the migrations that the database at `url` lacks, up to `revision`.

    With `portal`, the portal's address of the same database, its role gets its grants. Raises
    CommandError for tables of a version before 1.0.0.
    """
    if is_old(_revision(url)):
        raise CommandError(OLD)
    command.upgrade(_config(url), revision)
    if portal and make_url(portal).username != make_url(url).username:
        with as_owner(url) as session:
            quoted = session.connection().dialect.identifier_preparer.quote
            session.execute(text(GRANTS.format(role=quoted(make_url(portal).username or ""))))


@contextmanager
def as_owner(url: str) -> Iterator[Session]:
    """Open a transaction of the tables' owner, for what the portal's role may not do."""
    engine = create_engine(with_driver(url), poolclass=NullPool, hide_parameters=True)
    with Session(engine) as session, session.begin():
        yield session


def downgrade(url: str, revision: str) -> None:
    """Undo migrations down to `revision` ("base" = all)."""
    command.downgrade(_config(url), revision)


@cache
def newest() -> str | None:
    """Return the revision that this code was written for."""
    return ScriptDirectory.from_config(_config("")).get_current_head()


def knows(revision: str) -> bool:
    """Return whether this code can migrate tables of that revision to the newest."""
    return revision in _known()


def serves(revision: str | None) -> bool:
    """Return whether this code works with such tables: its own, or a newer version's.

    Newer migrations keep the tables usable for the version before: docs/operators-guide.md.
    """
    newer = not knows(revision or "") and not is_old(revision)
    return revision is not None and (revision == newest() or newer)


def is_old(revision: str | None) -> bool:
    """Return whether tables of that revision are of a version before 1.0.0."""
    return revision is not None and BEFORE_1_0.fullmatch(revision) is not None


def ahead(url: str) -> bool:
    """Return whether a newer version has migrated the database at `url`."""
    at = _revision(url)
    return at is not None and not knows(at) and not is_old(at)


def current() -> str | None:
    """Return the revision of the connected database."""
    with transaction() as session:
        found: str | None = session.scalar(text("SELECT version_num FROM alembic_version"))
        return found


def _revision(url: str) -> str | None:
    engine = create_engine(with_driver(url), poolclass=NullPool)
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


@cache
def _known() -> frozenset[str]:
    scripts = ScriptDirectory.from_config(_config(""))
    return frozenset(each.revision for each in scripts.walk_revisions())


def _config(url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations"))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config
