"""The embedded servers and their data folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.runtime.data_folder import DataFolder, FolderError, Run, StartupError
from portal.runtime.embedded_servers import Servers


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    """A data folder that this process owns."""
    owned = DataFolder(tmp_path / "var")
    assert owned.own() is None
    yield owned
    owned.release()


def started(servers: Servers) -> list[str]:
    servers.start()
    names = [child.name for child in servers.children]
    servers.stop()
    return names


def test_nothing_is_embedded_where_both_are_given(folder: DataFolder) -> None:
    given = Servers(folder, database_url="postgresql://elsewhere/x", redis_url="redis://elsewhere")
    assert started(given) == []
    assert given.urls() == {
        "DATABASE_URL": "postgresql://elsewhere/x",
        "REDIS_URL": "redis://elsewhere",
        "QUEUE_REDIS_URL": "",
    }


def test_only_the_ledger_is_embedded_where_a_database_is_given(folder: DataFolder) -> None:
    assert started(Servers(folder, database_url="postgresql://elsewhere/x")) == ["valkey"]


def test_only_the_database_is_embedded_where_a_ledger_is_given(folder: DataFolder) -> None:
    servers = Servers(folder, redis_url="redis://elsewhere", durable=False)
    assert started(servers) == ["postgres"]


def test_it_stops_what_it_started_where_another_fails(folder: DataFolder) -> None:
    started(Servers(folder, redis_url="redis://elsewhere", durable=False))
    (folder.path / "postgres" / "PG_VERSION").write_text("6\n")
    servers = Servers(folder)
    with pytest.raises(StartupError, match="postgres did not start"):
        servers.start()
    assert servers.children == []
    assert servers.sockets
    assert not servers.sockets.exists()


def test_its_sockets_are_for_one_user_alone(folder: DataFolder) -> None:
    servers = Servers(folder, database_url="postgresql://elsewhere/x")
    servers.start()
    assert servers.sockets
    assert servers.sockets.stat().st_mode & 0o077 == 0
    servers.stop()


def test_a_second_owner_reads_what_the_first_one_runs(folder: DataFolder) -> None:
    run = Run(os.getpid(), "http://127.0.0.1:1", "postgresql://x", "redis://x", "/run/fairseat-x")
    folder.announce(run)
    assert DataFolder(folder.path).own() == run


def test_a_second_owner_gives_up_where_the_first_one_says_nothing(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.runtime.data_folder.TIMEOUT", 0.3)
    with pytest.raises(FolderError, match="Another process uses"):
        DataFolder(folder.path).own()


def test_a_folder_that_can_not_be_made_is_named() -> None:
    with pytest.raises(FolderError, match="/proc/nowhere can't be used"):
        DataFolder(Path("/proc/nowhere"))


def test_a_secret_is_made_once(folder: DataFolder) -> None:
    assert folder.secret("secret") == folder.secret("secret")
    assert (folder.path / "secret").stat().st_mode & 0o077 == 0


def test_long_paths_do_not_keep_it_from_starting(
    folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("a" * 60) / ("b" * 60)
    deep.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    assert started(Servers(folder, database_url="postgresql://elsewhere/x")) == ["valkey"]
