"""A real Valkey for the ledger alone, emptied before each test."""

from collections.abc import Iterator

import pytest

from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers
from tests.ledger.requests import TERM, Desk


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a throwaway Valkey is reached."""
    folder = DataFolder(tmp_path_factory.mktemp("ledger") / "var")
    folder.own()
    servers = Servers(folder, durable=False, database_url="none is needed")
    servers.start()
    yield servers.redis_url
    servers.stop()
    folder.release()


@pytest.fixture
def desk(address: str) -> Iterator[Desk]:
    """An empty ledger with a desk before it, where a window is open: events 1 and 2."""
    desk = Desk(address)
    desk.redis.flushall()
    desk.open_window()
    desk.ledger.turn(TERM)
    yield desk
    desk.redis.connection_pool.disconnect()
