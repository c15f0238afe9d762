"""Throwaway servers for the tests of one process; nothing of ours is mocked."""

import gc
import os
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import settings as hypothesis
from sqlalchemy import Engine, create_engine, event, text

from portal import backend as connections
from portal import subscribers
from portal.app import create_app
from portal.backend import Backend
from portal.core import flags, schema
from portal.core.db import with_driver
from portal.core.outage import postgresql
from portal.core.settings import Settings
from portal.models import Base
from portal.protection.rate_limits import rate_limiter
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers
from tests import compiled_templates
from tests.cast import Cast, a_term, an_open_window, assemble
from tests.forked import running
from tests.soak import SOAK, rounds
from tests.statements import statements
from tests.web.visitors import browser_of

subscribers.connect()
# The same examples in each run, so that no unrelated change meets a new failure; `make soak` draws.
hypothesis.register_profile(
    "at any pace", deadline=None, max_examples=rounds(30, soak=1000), derandomize=not SOAK
)
hypothesis.load_profile("at any pace")

TABLES = tuple(Base.metadata.tables)
# TRUNCATE makes new files and takes ten times as long as DELETE. A look for rows takes a tenth of a
# DELETE, so only tables with rows are emptied. The lock waits for those who still write.
EMPTY = f"""
CREATE FUNCTION pg_temp.empty_tables() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL deadlock_timeout = '20ms';  -- then autovacuum gives way, else after a second
    LOCK {", ".join(TABLES)} IN EXCLUSIVE MODE;
    {"".join(f"IF EXISTS (SELECT FROM {it}) THEN DELETE FROM {it}; END IF;" for it in TABLES)}
END $$
"""  # noqa: S608  the names of our own tables


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow tests first, so that no process is left with one while the others have ended."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection() -> None:
    """Collect no garbage while modules are imported: there is none, and it takes a third longer."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but never look again at what was imported."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Fail the last test of a folder of tests/ if a process that it started lives on.

    It would write to the ledger and the tables during the tests that follow.
    """
    result = yield
    if not nextitem or _folder(nextitem) != _folder(item):
        deadline = time.monotonic() + 60  # one that was killed may take a moment
        while running() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not running(), "end what was started: a fixture lasts a package at most"
    return result


def _folder(item: pytest.Item) -> str:
    return item.nodeid.split("/")[1]


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A real PostgreSQL and a real Valkey, gone when the tests are."""
    var = tmp_path_factory.mktemp("servers") / "var"
    folder = DataFolder(var)
    folder.own()
    servers = Servers(folder, durable=False)
    servers.start()
    # For the tests' own child processes, and so that no test finds the real ones.
    os.environ.update(
        servers.all_urls(),
        SECRET_KEY="for tests alone",
        FAIRSEAT_CAPTCHA_COST="4000",
        FAIRSEAT_PAYMENTS="off",
        FAIRSEAT_DOCUMENTS=str(var / "documents"),
    )
    base = tmp_path_factory.getbasetemp()
    compiled_templates.share(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
    yield servers
    servers.stop()
    folder.release()


@pytest.fixture(scope="session")
def settings(servers: Servers) -> Settings:
    """The settings that lead to the throwaway servers, migrated."""
    schema.upgrade(servers.owner_url, portal=servers.database_url)
    return Settings.read()


@pytest.fixture(scope="session")
def owner(settings: Settings) -> Iterator[Engine]:
    """The role that owns the tables, on a connection that empties them.

    It acts as a replica, for which no trigger runs: the logs refuse to be emptied. It does so from
    its start, because PostgreSQL plans all statements again after a change of that setting.
    """
    engine = create_engine(
        with_driver(settings.owner_url),
        pool_size=1,
        pool_pre_ping=True,
        connect_args={"options": "-c session_replication_role=replica"},
    )
    event.listen(engine, "connect", _learn_to_empty)
    yield engine
    engine.dispose()


def _learn_to_empty(connection: Any, _record: object) -> None:
    with connection, connection.cursor() as cursor:
        cursor.execute(EMPTY)


@pytest.fixture(scope="session")
def connected(settings: Settings) -> Iterator[Backend]:
    """The process of the tests, connected to the throwaway servers; their data is left as it is."""
    with pytest.MonkeyPatch.context() as patch:
        # A thread that reads the flags each second would end an outage that a test plays.
        patch.setattr(flags, "EVERY", 1_000_000)
        yield connections.connect(settings)


@pytest.fixture(scope="session")
def empty_portal(connected: Backend, owner: Engine) -> Callable[[], None]:
    """Empties the tables and the ledger, and undoes what a test did to this process.

    Ids go on rising, so that what a process remembers of one test fits no other.
    """

    def empty() -> None:
        with owner.begin() as connection:
            connection.execute(text("SELECT pg_temp.empty_tables()"))
        connected.redis.flushall()
        connections.use(connected)  # a test may have made an app of other settings
        flags.read()
        postgresql.end()

    return empty


@pytest.fixture
def backend(connected: Backend, empty_portal: Callable[[], None]) -> Backend:
    """Empty tables and an empty ledger, connected."""
    empty_portal()
    return connected


@pytest.fixture
def cast(backend: Backend) -> Cast:  # noqa: ARG001
    """The people of every story: see tests/cast.py."""
    return assemble()


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    """A term whose window is open."""
    found = a_term()
    an_open_window(found)
    return found


@pytest.fixture(scope="session")
def application(connected: Backend) -> Flask:
    """The web application on the throwaway servers, without CSRF tokens and without the gate."""
    app = create_app(connected.settings)
    app.config.update(TESTING=True, WTF_CSRF_ENABLED=False, GATE=False)
    return app


@pytest.fixture
def app(application: Flask, backend: Backend) -> Flask:  # noqa: ARG001
    """The web application, its data empty."""
    return application


@pytest.fixture
def guarded(app: Flask) -> Iterator[Flask]:
    """The web application with its gate, as it is outside of the tests."""
    rate_limiter().own.clear()
    app.config["GATE"] = True
    yield app
    app.config["GATE"] = False


@pytest.fixture
def strict(app: Flask) -> Iterator[Flask]:
    """The web application with its CSRF tokens, as it is outside of the tests."""
    app.config["WTF_CSRF_ENABLED"] = True
    yield app
    app.config["WTF_CSRF_ENABLED"] = False


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A browser without JavaScript that has not logged in."""
    return app.test_client()


@pytest.fixture
def admin(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    """The browser of an admin."""
    return browser_of(app, "max")


@pytest.fixture
def count_queries() -> Iterator[list[str]]:
    """Every statement that the test sends to PostgreSQL."""
    with statements() as sent:
        yield sent
