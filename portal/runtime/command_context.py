"""What can keep the portal from starting, and is told in a line; imports little, to start soon."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click
from redis.exceptions import ConnectionError as NoLedger
from redis.exceptions import TimeoutError as LateLedger
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError

from portal import backend
from portal.backend import Backend
from portal.core import schema
from portal.core.db import with_driver
from portal.core.settings import Settings, SettingsError, var_folder
from portal.ledger.errors import LedgerUnavailable
from portal.runtime.data_folder import DataFolder, FolderError
from portal.runtime.embedded_servers import Servers, StartError
from portal.runtime.service_account import NotRunnableError

TROUBLES = (FolderError, NotRunnableError, SettingsError, StartError)


# Which portal a command works for, and the surroundings of a process that needs one running.

SERVERS = ("DATABASE_URL", "REDIS_URL")
NO_SECRET = "Set SECRET_KEY to the key of the portal that uses these {}."  # noqa: S105
NO_KEY = "Set SECRET_KEY to the key of the portal that runs: there is no {}."
NOTHING = "{} Start the portal with `fairseat up`, or set {} and SECRET_KEY."


def portal() -> str:
    """Name the portal that a command works for; to be asked before it connects.

    Raises ClickException where the data folder or the address of the database can't be used.
    """
    try:
        return _named()
    except TROUBLES as trouble:
        raise click.ClickException(str(trouble)) from trouble


def check_databases() -> None:
    """Raise SettingsError where a database is given by something that is no address of one."""
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL"):
        if os.environ.get(name):
            _database(name)


def _named() -> str:
    given = [name for name in SERVERS if os.environ.get(name)]
    parts = [f"{_where(name)} ({name})" for name in given]
    if len(given) < len(SERVERS):
        parts.insert(0, _folder())
    return ", ".join(parts)


def _where(name: str) -> str:
    """The server of an address, without its user and password."""
    url = os.environ[name]
    if name == "DATABASE_URL":
        found = _database(name)
        host = found.host or found.query.get("host") or "this machine"
        return f"database {found.database} at {host}{f':{found.port}' if found.port else ''}"
    return f"ledger at {url.partition('://')[2].rpartition('@')[2].partition('?')[0]}"


def _database(name: str) -> URL:
    try:
        found = make_url(with_driver(os.environ[name]))
        found.get_dialect()
    except (ArgumentError, ValueError) as wrong:  # which could repeat its password
        raise SettingsError(
            f"{name} can't be used: it is not the address of a database."
        ) from wrong
    return found


def _folder() -> str:
    folder, running = DataFolder(var_folder()), "not running"
    with suppress(FolderError):
        folder.supervisor()
        running = "running"
    return f"data folder {folder.path.resolve()} ({running})"


@contextmanager
def served(*, owner: bool = False) -> Iterator[None]:
    """A block of a process that works for servers that run: given ones, or those of `up`.

    `owner` lets it change the tables as well.
    """
    try:
        if all(os.environ.get(name) for name in SERVERS):
            if not os.environ.get("SECRET_KEY"):
                raise click.ClickException(NO_SECRET.format(" and ".join(SERVERS)))
            check_databases()
        else:
            _find(owner=owner)
        yield
    except TROUBLES as trouble:
        raise click.ClickException(str(trouble)) from trouble


def _find(*, owner: bool) -> None:
    """Set the servers of the portal that runs on the data folder."""
    folder = DataFolder(var_folder())
    try:
        folder.supervisor()
    except FolderError as nothing:
        raise FolderError(NOTHING.format(nothing, ", ".join(SERVERS))) from nothing
    if run := folder.own():
        key = os.environ.get("SECRET_KEY") or _key(folder)
        servers = {"DATABASE_URL": run.database_url, "REDIS_URL": run.redis_url}
        if owner:
            servers["DATABASE_OWNER_URL"] = run.owner_url
        os.environ.update(servers, SECRET_KEY=key)
        os.environ.setdefault("FAIRSEAT_URL", run.address)


def _key(folder: DataFolder) -> str:
    """Return the key that the portal of the folder has made; another one would sign in vain."""
    file = folder.path / "secret"
    try:
        return file.read_text()
    except FileNotFoundError as missing:
        raise FolderError(NO_KEY.format(file)) from missing


# The servers for one command: given ones, those of a running `fairseat up`, or its own.

AWAY = (OperationalError, InterfaceError, NoLedger, LateLedger, LedgerUnavailable)


@contextmanager
def connected() -> Iterator[Backend]:
    """A block in which servers that are there, or are started for it, are connected to."""
    try:
        with _servers() as servers:
            os.environ.update(servers)
            yield backend.connect(Settings.read())
    except TROUBLES as trouble:
        raise click.ClickException(str(trouble)) from trouble
    except AWAY as away:
        reason = (str(away).splitlines() or [type(away).__name__])[0]
        raise click.ClickException(f"A server does not answer: {reason}") from away


@contextmanager
def _servers() -> Iterator[dict[str, str]]:
    check_databases()
    given = {name: os.environ.get(name, "") for name in ("DATABASE_URL", "REDIS_URL")}
    owner = os.environ.get("DATABASE_OWNER_URL") or given["DATABASE_URL"]
    if all(given.values()):
        os.environ.setdefault("SECRET_KEY", "unused: commands sign nothing")
        yield given
        return
    folder = DataFolder(var_folder())
    os.environ.setdefault("SECRET_KEY", folder.secret("secret"))
    run = folder.own()
    if run:
        os.environ.setdefault("FAIRSEAT_URL", run.address)
        yield {
            "DATABASE_URL": run.database_url,
            "REDIS_URL": run.redis_url,
            "DATABASE_OWNER_URL": run.owner_url,
        }
        return
    servers = Servers(
        folder,
        database_url=given["DATABASE_URL"],
        owner_url=owner,
        redis_url=given["REDIS_URL"],
    )
    try:
        servers.start()
        schema.upgrade(servers.owner_url, portal=servers.database_url)
        yield servers.all_urls()
    finally:
        servers.stop()
        folder.release()
