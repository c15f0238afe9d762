"""A real Valkey for the ledger, emptied before each test."""

from collections.abc import Iterator

import pytest

from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers
from tests.ledger.requests import TERM, Desk


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a temporary Valkey and return its address."""
    folder = DataFolder(tmp_path_factory.mktemp("ledger") / "var")
    folder.own()
    servers = Servers(folder, durable=False, database_url="none is needed")
    servers.start()
    yield servers.redis_url
    servers.stop()
    folder.release()


@pytest.fixture
def desk(address: str) -> Iterator[Desk]:
    """Return a desk with an empty ledger and an open window: events 1 and 2."""
    desk = Desk(address)
    desk.redis.flushall()
    desk.open_window()
    desk.ledger.turn(TERM)
    yield desk
    desk.redis.connection_pool.disconnect()
