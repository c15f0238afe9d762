"""Entries of the audit trail, read by pages; nothing here writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.people.models import Account, AuditEntry
from portal.trail.query import Query

PAGE = 50
BATCH = 1000
LATEST = 20  # of one thing

Facts = dict[str, Any] | None


@dataclass(frozen=True)
class Entry:
    """Who (blank = nobody with an account) did what to what, when and why."""

    id: int
    at: datetime
    who: str
    username: str
    action: str
    subject: str
    before: Facts
    after: Facts
    reason: str

    @property
    def ms(self) -> int:
        """When it was (ms)."""
        return round(self.at.timestamp() * 1000)

    @property
    def subjects(self) -> list[tuple[str, str]]:
        """What it was done to, each thing by its kind and its id."""
        named = (each.partition(":") for each in self.subject.split(" "))
        return [(kind, key) for kind, colon, key in named if colon]


def page(query: Query, zone: ZoneInfo, before: int | None = None) -> list[Entry]:
    """The newest that fit, or those before one: a page and one more, if there are more."""
    return _read(query, zone, before, PAGE + 1)


def every(query: Query, zone: ZoneInfo) -> Iterator[Entry]:
    """All that fit, the newest first, a batch in memory at a time."""
    before = None
    while found := _read(query, zone, before, BATCH):
        yield from found
        before = found[-1].id


def one(entry_id: int) -> Entry | None:
    """The entry of that id."""
    with transaction() as session:
        row = session.execute(_entries().where(AuditEntry.id == entry_id)).one_or_none()
    return _entry(row) if row else None


def of(session: Session, subject: str) -> list[Entry]:
    """What was done to a thing last, the latest first."""
    found = _entries().where(AuditEntry.subject == subject).order_by(AuditEntry.id.desc())
    return [_entry(row) for row in session.execute(found.limit(LATEST))]


def actions() -> list[str]:
    """The kinds of deeds that there are entries of."""
    with transaction() as session:
        return list(session.scalars(select(AuditEntry.action).distinct()))


def _read(query: Query, zone: ZoneInfo, before: int | None, most: int) -> list[Entry]:
    found = _entries().where(*query.conditions(zone)).order_by(AuditEntry.id.desc()).limit(most)
    if before:
        found = found.where(AuditEntry.id < before)
    with transaction() as session:
        return [_entry(row) for row in session.execute(found)]


def _entries() -> Select[AuditEntry, str, str]:
    return select(AuditEntry, Account.name, Account.username).outerjoin(
        Account, Account.id == AuditEntry.account_id
    )


def _entry(row: Row[AuditEntry, str, str]) -> Entry:
    kept, name, username = row
    return Entry(
        id=kept.id,
        at=kept.at,
        who=name or "",
        username=username or "",
        action=kept.action,
        subject=kept.subject,
        before=kept.before,
        after=kept.after,
        reason=kept.reason,
    )
