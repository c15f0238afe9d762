"""The portal that a command uses: given servers, those of a running `fairseat up`, or its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from redis.exceptions import ConnectionError as LedgerAway
from redis.exceptions import TimeoutError as LedgerLate
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError

from portal import backend, subscribers
from portal.backend import Backend
from portal.core import schema
from portal.core.db import with_driver
from portal.core.errors import CommandError
from portal.core.outage import first_line
from portal.core.settings import Settings, SettingsError, var_folder
from portal.ledger.errors import LedgerUnavailable
from portal.runtime.data_folder import DataFolder, FolderError, Run
from portal.runtime.embedded_servers import Servers

AWAY = (OperationalError, InterfaceError, LedgerAway, LedgerLate, LedgerUnavailable)
SERVERS = ("DATABASE_URL", "REDIS_URL")
NO_SECRET = "Set SECRET_KEY to the key of the portal that uses these {}."  # noqa: S105
NO_KEY = "Set SECRET_KEY to the key of the running portal: {} is missing."
NOTHING = "{} Start the portal with `fairseat up`, or set {} and SECRET_KEY."


def portal() -> str:
    """Return the name of the portal that a command uses; raise CommandError."""
    given = [f"{_where(name)} ({name})" for name in SERVERS if os.environ.get(name)]
    return ", ".join(given if len(given) == len(SERVERS) else [_folder(), *given])


@contextmanager
def served(*, owner: bool = False) -> Iterator[None]:
    """Set the environment to running servers: given ones, or those of `fairseat up`.

    With `owner`, the block may change the tables as well.
    """
    if _all_given():
        if not os.environ.get("SECRET_KEY"):
            raise CommandError(NO_SECRET.format(" and ".join(SERVERS)))
        _check_databases()
    else:
        _find_running(owner=owner)
    yield


@contextmanager
def connected() -> Iterator[Backend]:
    """Connect a block to running servers, or start some for it."""
    try:
        with _servers() as urls:
            os.environ.update(urls)
            subscribers.connect()
            yield backend.connect(Settings.read())
    except AWAY as away:
        raise CommandError(f"A server does not respond: {first_line(away)}") from away


@contextmanager
def _servers() -> Iterator[dict[str, str]]:
    """Yield the servers' addresses; start those that are needed, and stop them afterwards."""
    _check_databases()
    if _all_given():
        os.environ.setdefault("SECRET_KEY", "unused: commands sign nothing")
        yield {}
        return
    folder = DataFolder(var_folder())
    os.environ.setdefault("SECRET_KEY", folder.secret("secret"))
    if run := folder.own():
        os.environ.setdefault("FAIRSEAT_URL", run.address)
        yield _urls(run)
        return
    servers = Servers.from_environment(folder)
    try:
        servers.start()
        schema.upgrade(servers.owner_url, portal=servers.database_url)
        yield servers.all_urls()
    finally:
        servers.stop()
        folder.release()


def _find_running(*, owner: bool) -> None:
    """Set the environment to the portal that runs on the data folder."""
    folder = DataFolder(var_folder())
    try:
        folder.supervisor()
    except FolderError as nothing:
        raise FolderError(NOTHING.format(nothing, ", ".join(SERVERS))) from nothing
    if run := folder.own():
        urls, key = _urls(run), os.environ.get("SECRET_KEY") or _key(folder)
        if not owner:
            del urls["DATABASE_OWNER_URL"]
        os.environ.update(urls, SECRET_KEY=key)
        os.environ.setdefault("FAIRSEAT_URL", run.address)


def _urls(run: Run) -> dict[str, str]:
    return {
        "DATABASE_URL": run.database_url,
        "REDIS_URL": run.redis_url,
        "QUEUE_REDIS_URL": run.queue_redis_url,
        "DATABASE_OWNER_URL": run.owner_url,
    }


def _key(folder: DataFolder) -> str:
    """Return the key that the running portal signs with; a new one would be useless."""
    file = folder.path / "secret"
    try:
        return file.read_text()
    except FileNotFoundError as missing:
        raise FolderError(NO_KEY.format(file)) from missing


def _all_given() -> bool:
    return all(os.environ.get(name) for name in SERVERS)


def _check_databases() -> None:
    """Raise SettingsError if a database address is invalid."""
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL"):
        if os.environ.get(name):
            _database(name)


def _database(name: str) -> URL:
    try:
        found = make_url(with_driver(os.environ[name]))
        found.get_dialect()
    except (ArgumentError, ValueError) as wrong:  # its text could contain the password
        raise SettingsError(f"{name} is not a valid database address.") from wrong
    return found


def _where(name: str) -> str:
    """Return the server of an address, without its user and password."""
    url = os.environ[name]
    if name == "DATABASE_URL":
        found = _database(name)
        host = found.host or found.query.get("host") or "this machine"
        return f"database {found.database} at {host}{f':{found.port}' if found.port else ''}"
    return f"ledger at {url.partition('://')[2].rpartition('@')[2].partition('?')[0]}"


def _folder() -> str:
    folder, state = DataFolder(var_folder()), "not running"
    with suppress(FolderError):
        folder.supervisor()
        state = "running"
    return f"data folder {folder.path.resolve()} ({state})"
