"""A portal of its own on the tests' servers: for tests that replace everything in it."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import psycopg2
import pytest

from portal import backend as connections
from portal.backend import Backend
from portal.core import flags, schema
from portal.core.db import Sessions
from portal.core.settings import Settings
from portal.runtime.embedded_servers import Servers
from tests import commands

SPARE = "spare"
BLANK = "blank"  # a database with all tables, and nothing in them


@pytest.fixture
def spare(
    servers: Servers, settings: Settings, connected: Backend, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Backend]:
    """A portal of its own on the tests' servers, with nobody else connected."""
    monkeypatch.setattr(
        flags, "read", lambda: None
    )  # a thread of this process would go on doing so
    copy_blank(servers.owner_url, SPARE)
    url = servers.database_url.replace("@/fairseat", f"@/{SPARE}")
    owner_url = servers.owner_url.replace("@/fairseat", f"@/{SPARE}")
    schema.upgrade(owner_url, portal=url)  # it has its tables, so this gives the portal its rights
    ledger = f"{servers.redis_url}?db=7"
    found = connections.connect(
        replace(settings, database_url=url, owner_url=owner_url, redis_url=ledger)
    )
    found.redis.flushdb()
    yield found
    found.redis.flushdb()
    found.redis.close()
    leave()
    connections.connect(connected.settings)
    administer(servers.owner_url, f"DROP DATABASE {SPARE} WITH (FORCE)")


def lose_everything(spare: Backend) -> None:
    """Empty its database, in which the portal then has no rights, and its ledger."""
    for primary in spare.ledger.servers.primaries():
        primary.redis.flushdb()
    leave()
    copy_blank(spare.settings.owner_url.replace(f"@/{SPARE}", "@/fairseat"), SPARE)


def copy_blank(home: str, name: str) -> None:
    """Replace a database by a copy of BLANK; `home` is the owner's address of another one.

    All migrations would take much longer.
    """
    _make_blank(home)
    dropped = f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"
    administer(home, dropped, f"CREATE DATABASE {name} TEMPLATE {BLANK}")


@cache
def _make_blank(home: str) -> None:
    administer(home, f"DROP DATABASE IF EXISTS {BLANK} WITH (FORCE)", f"CREATE DATABASE {BLANK}")
    schema.upgrade(home.replace("@/fairseat", f"@/{BLANK}"))


def administer(owner_url: str, *statements: str) -> None:
    connection = psycopg2.connect(owner_url)
    connection.autocommit = True
    for statement in statements:
        connection.cursor().execute(statement)
    connection.close()


def leave() -> None:
    Sessions.kw["bind"].dispose()


def fairseat(spare: Backend, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    return commands.run(*arguments, env=surroundings(spare))


def surroundings(spare: Backend) -> dict[str, str]:
    """What leads a process to it."""
    urls = {
        "DATABASE_URL": spare.settings.database_url,
        "DATABASE_OWNER_URL": spare.settings.owner_url,
        "REDIS_URL": spare.settings.redis_url,
        "QUEUE_REDIS_URL": spare.settings.queue_redis_url,
    }
    return {**os.environ, **urls, "FAIRSEAT_LOG": "json"}


def held(term: int) -> set[tuple[int, int]]:
    """Who holds which seat, as the ledger has it."""
    redis, pairs = connections.backend().redis, set()
    for key in redis.scan_iter(match=f"{{t:{term}}}:roster:*"):
        section = int(key.rpartition(b":")[2])
        pairs |= {(int(student), section) for student in redis.hkeys(key)}
    return pairs
