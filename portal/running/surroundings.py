"""The servers for one command: given ones, those of a running `fairseat up`, or its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click
from redis.exceptions import ConnectionError as NoLedger
from redis.exceptions import TimeoutError as LateLedger
from sqlalchemy.exc import InterfaceError, OperationalError

from portal import backend
from portal.backend import Backend
from portal.core import schema
from portal.core.settings import Settings, var_folder
from portal.embedded import Servers
from portal.embedded.folder import Folder
from portal.ledger.errors import LedgerUnavailable
from portal.running.served import check_databases
from portal.running.troubles import TROUBLES

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
    folder = Folder(var_folder())
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
