"""Feature flags: parts that can be switched off while the portal runs, in all of its processes.

PostgreSQL keeps what was switched. Every process reads it once a second in a thread of its own, so
asking is a look at a set: it costs no query and waits for nobody. While PostgreSQL is away
what was read last holds; who has not read yet has every part on.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from threading import Lock, Thread
from time import sleep

from sqlalchemy import Boolean, DateTime, ForeignKey, Integer, String, Text, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Mapped, Session, mapped_column
from sqlalchemy.sql import func

from portal.core.db import Base, transaction
from portal.core.outage import postgresql

NAMES = (
    "waiting_room",
    "captcha",
    "captcha_server",
    "captcha_breaker",
    "rate_limits",
    "live_push",
    "mail",
    "mail_breaker",
    "webhooks",
    "provider_breaker",
    "autoscaling",
    "bulkheads",
    "caches",
)
EVERY = 1.0  # seconds between two readings

log = logging.getLogger(__name__)

_off: frozenset[str] = frozenset()
_begun = False
_lock = Lock()


class Flag(Base):
    """A part that has been switched at least once."""

    __tablename__ = "flags"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    is_on: Mapped[bool] = mapped_column(Boolean, default=True)
    version: Mapped[int] = mapped_column(Integer, default=0)  # raised by each switching
    reason: Mapped[str] = mapped_column(Text, default="")
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    changed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


@dataclass(frozen=True)
class Switching:
    """That a part of a version that was looked at is to be on or off, and why."""

    name: str
    on: bool
    version: int
    reason: str


class Switched(Exception):  # noqa: N818  a state of the world, not a mistake
    """Somebody else has switched it since it was looked at."""


def on(name: str) -> bool:
    """Whether a part of NAMES is switched on."""
    if not _begun:
        begin()
    return name not in _off


def known_off(name: str) -> bool:
    """Whether this process has read that a part is off; for whoever may not wait for a reading."""
    return name in _off


def begin() -> None:
    """Read them, and go on doing so; in the process that asks, so not before its fork."""
    global _begun  # noqa: PLW0603  one for the process
    with _lock:
        if _begun:
            return
        read()
        Thread(target=_read_forever, daemon=True, name="flags").start()
        _begun = True


def read() -> None:
    """Take up what has been switched; what is known stays while PostgreSQL is away.

    So a process knows within a second that it is back, before a request makes do with what is old.
    """
    global _off  # noqa: PLW0603
    with suppress(SQLAlchemyError):
        with transaction() as session:
            _off = frozenset(session.scalars(select(Flag.name).where(Flag.is_on.is_(False))))
        postgresql.end()


def switch(session: Session, wanted: Switching, by: int) -> None:
    """Switch a part with the transaction; raises Switched unless it has the version looked at."""
    name = wanted.name
    session.execute(insert(Flag).values(name=name, version=0).on_conflict_do_nothing())
    flag = session.get_one(Flag, name, with_for_update=True)
    if flag.version != wanted.version:
        raise Switched(name)
    flag.is_on, flag.reason, flag.account_id = wanted.on, wanted.reason, by
    flag.version, flag.changed_at = flag.version + 1, func.now()


def _read_forever() -> None:
    while True:
        sleep(EVERY)
        try:
            read()
        except Exception:  # the next reading may go well, and nobody else would try again
            log.exception("could not read the flags")
