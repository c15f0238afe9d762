"""Feature flags: parts that can be switched off in all processes while the portal runs.

PostgreSQL stores the flags. A thread in every process reads them once a second, so a check
needs no query. While PostgreSQL is down, the flags as last read apply. Until a process has read
them, every part is on.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from threading import Lock, Thread
from time import sleep

from sqlalchemy import ForeignKey, String
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Mapped, Session, mapped_column
from sqlalchemy.sql import func

from portal.core.audit_trail import add_audit_entry
from portal.core.db import Base, read_only, transaction
from portal.core.i18n import _l
from portal.core.outage import postgresql

LABELS = {
    "waiting_room": _l("Waiting rooms"),
    "room_slowdown": _l("Fewer admissions while pages are slow"),
    "room_record": _l("Backup of queue positions"),
    "captcha": _l("Captcha"),
    "captcha_server": _l("External captcha server"),
    "captcha_breaker": _l("Pause when the captcha server fails"),
    "rate_limits": _l("Rate limits"),
    "live_push": _l("Live updates"),
    "mail": _l("Email"),
    "mail_breaker": _l("Pause when the mail server fails"),
    "webhooks": _l("Webhooks"),
    "payments_breaker": _l("Pause when the payment provider fails"),
    "provider_breaker": _l("Pause when the login provider fails"),
    "autoscaling": _l("More workers when work piles up"),
    "bulkheads": _l("Limits on uploads and background work"),
    "caches": _l("Data kept in memory"),
}
WHEN_OFF = {
    "waiting_room": _l("Off: everyone is admitted at once, including students who are waiting."),
    "room_slowdown": _l(
        "Off: waiting rooms admit as many students per minute as their limits say, even while"
        " pages are slow."
    ),
    "room_record": _l(
        "Off: queue positions are only in the ledger. They are lost if the ledger loses its data."
    ),
    "captcha": _l(
        "Off: students don’t solve a captcha to register. It is still required after"
        " wrong passwords."
    ),
    "captcha_server": _l("Off: the built-in captcha is used."),
    "captcha_breaker": _l("Off: every request goes to the server, even if it keeps failing."),
    "rate_limits": _l("Off: requests are not limited. Login attempts still are."),
    "live_push": _l(
        "Off: pages reload data every few seconds and say that live updates are paused."
    ),
    "mail": _l("Off: emails wait. Emails that are too old when you switch it on are not sent."),
    "mail_breaker": _l("Off: every request goes to the server, even if it keeps failing."),
    "webhooks": _l("Off: deliveries to webhooks wait."),
    "payments_breaker": _l("Off: every request goes to the provider, even if it keeps failing."),
    "provider_breaker": _l("Off: every request goes to the provider, even if it keeps failing."),
    "autoscaling": _l("Off: each queue keeps its minimum number of workers."),
    "bulkheads": _l("Off: uploads and background jobs are accepted without a limit."),
    "caches": _l(
        "Off: pages read data from the database each time. This is slower but always current."
    ),
}
NAMES = tuple(LABELS)
EVERY = 1.0  # seconds between reads
OFF = "SELECT name FROM flags WHERE NOT is_on"  # as text: every process asks every second

log = logging.getLogger(__name__)

_off: frozenset[str] = frozenset()
_begun = False
_lock = Lock()
_reading = Lock()  # so that of two reads, the one that began later is kept


class Flag(Base):
    """A part that was switched at least once."""

    __tablename__ = "flags"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    is_on: Mapped[bool] = mapped_column(default=True)
    version: Mapped[int] = mapped_column(default=0)  # increases with each switch
    reason: Mapped[str] = mapped_column(default="")
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())


@dataclass(frozen=True)
class Switching:
    """A request to switch a part, at the version that the admin saw, and why."""

    name: str
    on: bool
    version: int
    reason: str


class Switched(Exception):
    """Another admin has switched it since it was read."""


def on(name: str) -> bool:
    """Return whether a part of NAMES is on."""
    if not _begun:
        begin()
    return name not in _off


def known_off(name: str) -> bool:
    """Return whether this process knows that a part is off; never waits for a read."""
    return name in _off


def begin() -> None:
    """Start reading the flags; call it in the process that uses them, after its fork."""
    global _begun  # noqa: PLW0603  one for the process
    with _lock:
        if _begun:
            return
        read()
        Thread(target=_read_forever, daemon=True, name="flags").start()
        _begun = True


def read() -> None:
    """Read the flags; keep the known ones while PostgreSQL is down.

    Each process thus notices within a second that PostgreSQL is back, before a request settles for
    old data.
    """
    global _off  # noqa: PLW0603
    with _reading, suppress(SQLAlchemyError):
        with read_only() as connection:
            _off = frozenset(name for (name,) in connection.exec_driver_sql(OFF))
        postgresql.end()


def switch(session: Session, wanted: Switching, by: int | None) -> None:
    """Switch a part in the transaction; raise Switched if its version has changed."""
    name = wanted.name
    session.execute(insert(Flag).values(name=name, version=0).on_conflict_do_nothing())
    flag = session.get_one(Flag, name, with_for_update=True)
    if flag.version != wanted.version:
        raise Switched(name)
    flag.is_on, flag.reason, flag.account_id = wanted.on, wanted.reason, by
    flag.version, flag.changed_at = flag.version + 1, func.now()


def find(name: str) -> Flag:
    """Return the state of a part; it is on if it was never switched."""
    with transaction() as session:
        return session.get(Flag, name) or Flag(name=name, is_on=True, version=0)


def change(wanted: Switching, by: int | None) -> None:
    """Switch a part and record who did; the same request again changes nothing.

    Raise Switched if another admin has just switched it.
    """
    try:
        with transaction() as session:
            switch(session, wanted, by)
            add_audit_entry(
                session,
                "flag.switched",
                f"flag:{wanted.name}",
                by=by,
                before={"on": not wanted.on},
                after={"on": wanted.on},
                reason=wanted.reason,
            )
    except Switched:
        flag = find(wanted.name)
        mine = flag.account_id == by and flag.version == wanted.version + 1
        if not (mine and flag.is_on == wanted.on):
            raise
    read()


def _read_forever() -> None:
    while True:
        sleep(EVERY)
        try:
            read()
        except Exception:  # the next read may succeed, and no other code would try
            log.exception("could not read the flags")
