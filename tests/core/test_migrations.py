"""Migrations run both ways and end where the models are."""

import os
import subprocess
from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import NullPool, create_engine, inspect, text
from sqlalchemy.exc import InternalError, ProgrammingError

from portal.backend import Backend
from portal.core import schema
from portal.core.db import transaction, with_driver
from portal.models import Base
from portal.runtime.embedded_servers import Servers
from tests import cast, commands
from tests.owner_role import as_owner
from tests.second_portal import administer, copy_blank


@pytest.fixture
def journey(servers: Servers) -> Iterator[str]:
    """The address of a database of its own, which the test makes."""
    yield servers.owner_url.replace("/fairseat?", "/journey?")
    administer(servers.owner_url, "DROP DATABASE journey WITH (FORCE)")


@pytest.fixture
def empty(servers: Servers, journey: str) -> str:
    """The address of a database of its own, without tables."""
    administer(servers.owner_url, "CREATE DATABASE journey")
    return journey


def tables(url: str) -> set[str]:
    engine = create_engine(with_driver(url))
    found = set(inspect(engine).get_table_names()) - {"alembic_version"}
    engine.dispose()
    return found


def differences(url: str) -> list[object]:
    """What the tables and the models differ in."""
    engine = create_engine(with_driver(url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        found: list[object] = compare_metadata(context, Base.metadata)
    engine.dispose()
    return found


def left_behind(url: str) -> list[str]:
    """The functions and sequences of a database."""
    engine = create_engine(with_driver(url))
    with engine.connect() as connection:
        found = connection.scalars(
            text(
                "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
                " UNION ALL SELECT relname FROM pg_class"
                " WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'"
            )
        ).all()
    engine.dispose()
    return list(found)


def test_they_agree_with_the_models_leave_nothing_on_the_way_down_and_go_up_again(
    empty: str,
) -> None:
    schema.upgrade(empty)
    assert tables(empty) == set(Base.metadata.tables)
    assert differences(empty) == []
    schema.downgrade(empty, "base")
    assert tables(empty) == set()
    assert left_behind(empty) == []
    schema.upgrade(empty)
    assert tables(empty) == set(Base.metadata.tables)


@pytest.fixture
def migrated(servers: Servers, journey: str) -> str:
    """The address of a database of its own, with all tables."""
    copy_blank(servers.owner_url, "journey")
    return journey


def prepare(database: str, backend: Backend) -> subprocess.CompletedProcess[str]:
    """Run `fairseat prepare` on that database."""
    there = {
        "DATABASE_URL": database,
        "DATABASE_OWNER_URL": database,
        "REDIS_URL": f"{backend.settings.redis_url}?db=8",
    }
    return commands.run("prepare", env={**os.environ, **there, "FAIRSEAT_DEMO": "0"})


def test_tables_of_a_version_before_the_first_release_are_refused_and_left(
    migrated: str, backend: Backend
) -> None:
    engine = create_engine(with_driver(migrated), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0029'"))
        connection.execute(text("DROP TABLE holds"))
    done = prepare(migrated, backend)
    assert done.returncode == 1
    assert "of a version before 1.0.0" in done.stderr
    assert "holds" not in tables(migrated)


def test_the_version_before_begins_on_tables_of_the_next_and_leaves_them(
    migrated: str, backend: Backend
) -> None:
    engine = create_engine(with_driver(migrated), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE rooms ADD COLUMN storey integer"))
        connection.execute(text("UPDATE alembic_version SET version_num = 'next'"))
    done = prepare(migrated, backend)
    assert done.returncode == 0, done.stderr
    assert "A newer version has already migrated" in done.stdout
    assert "storey" in {each["name"] for each in inspect(engine).get_columns("rooms")}


def test_the_connected_database_is_at_the_newest_one(backend: Backend) -> None:  # noqa: ARG001
    assert schema.current() == schema.newest()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE audit_entries SET reason = 'x'",
        "DELETE FROM audit_entries",
        "TRUNCATE audit_entries",
        "TRUNCATE accounts CASCADE",
    ],
)
def test_what_happened_can_not_be_rewritten(backend: Backend, change: str) -> None:  # noqa: ARG001
    with transaction() as session:
        session.execute(
            text("INSERT INTO audit_entries (action, subject, reason) VALUES ('a', 'b', 'c')")
        )
    with pytest.raises(ProgrammingError, match="permission denied"), transaction() as session:
        session.execute(text(change))
    with pytest.raises(InternalError, match="only ever added"), as_owner() as session:
        session.execute(text(change))


@pytest.mark.parametrize(
    "change", ["UPDATE events SET name = 'x'", "DELETE FROM events", "TRUNCATE events"]
)
def test_events_can_not_be_rewritten(backend: Backend, change: str) -> None:  # noqa: ARG001
    term = cast.a_term()
    with transaction() as session:
        session.execute(
            text(
                "INSERT INTO events"
                " (term_id, seq, name, version, aggregate, payload, context, occurred_at)"
                " VALUES (:term, 1, 'enrolled', 1, 'section:1', '{}', '{}', now())"
            ),
            {"term": term.id},
        )
    with pytest.raises(ProgrammingError, match="permission denied"), transaction() as session:
        session.execute(text(change))
    with pytest.raises(InternalError, match="only ever added"), as_owner() as session:
        session.execute(text(change))
