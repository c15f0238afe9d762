"""The search criteria of the audit trail, from the query string."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    SQLColumnExpression,
    Text,
    cast,
    false,
    or_,
    select,
)
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.people.models import Account, AuditEntry
from portal.reports.audit_subjects import meant

LONGEST = 120
ESCAPE = str.maketrans({sign: f"\\{sign}" for sign in "\\%_"})
NOBODY = "-"  # stands for users without an account: the command line, or the portal itself


@dataclass(frozen=True)
class Query:
    """Criteria: part of a person's name, action code, thing (name or `section:12`), days, text."""

    who: str = ""
    deed: str = ""
    about: str = ""
    first: str = ""
    last: str = ""
    text: str = ""

    @classmethod
    def parse(cls, args: Mapping[str, str]) -> "Query":
        """Return the criteria of a query string, without invalid days."""
        given = {name: _clean(args.get(name, "")) for name in asdict(cls())}
        found = cls(**given)
        return replace(found, first=_day(found.first), last=_day(found.last))

    @staticmethod
    def unread(args: Mapping[str, str]) -> dict[str, str]:
        """Return the invalid days of a query string."""
        given = {name: _clean(args.get(name, "")) for name in ("first", "last")}
        return {name: text for name, text in given.items() if text and not _day(text)}

    def args(self) -> dict[str, str]:
        """Return the criteria as query string arguments."""
        return {name: value for name, value in asdict(self).items() if value}

    def conditions(self, zone: ZoneInfo) -> list[ColumnElement[bool]]:
        """Return the criteria for PostgreSQL; days are in the given time zone."""
        found: list[ColumnElement[bool]] = []
        if self.who == NOBODY:
            found.append(AuditEntry.account_id.is_(None))
        elif self.who:
            found.append(or_(_has(Account.name, self.who), _has(Account.username, self.who)))
        if self.deed:
            found.append(AuditEntry.action == self.deed)
        if self.about:
            found.append(or_(false(), *map(_of, meant(self.about))))
        if self.first:
            found.append(AuditEntry.at >= _midnight(self.first, zone))
        if self.last:
            found.append(AuditEntry.at < _midnight(self.last, zone, after=1))
        if self.text:
            kept = (AuditEntry.reason, AuditEntry.subject, AuditEntry.before, AuditEntry.after)
            found.append(or_(*(_has(cast(column, Text), self.text) for column in kept)))
        return found


def _of(thing: str) -> ColumnElement[bool]:
    """Match a thing; a subject names several things, separated by spaces."""
    return (" " + AuditEntry.subject + " ").contains(f" {thing} ", autoescape=True)


def _has(column: SQLColumnExpression[str], words: str) -> ColumnElement[bool]:
    return column.ilike(f"%{words.translate(ESCAPE)}%", escape="\\")


def _clean(text: str) -> str:
    return " ".join(text.replace("\0", "").split())[:LONGEST]


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _midnight(day: str, zone: ZoneInfo, after: int = 0) -> datetime:
    try:
        moved = date.fromisoformat(day) + timedelta(days=after)
    except OverflowError:
        moved = date.max
    return datetime.combine(moved, time(), zone)


# Entries of the audit trail for pages; read only.

PAGE = 50
BATCH = 1000
LATEST = 20  # of one thing

Facts = dict[str, Any] | None


@dataclass(frozen=True)
class Entry:
    """Who (blank = no account) did what to what, when and why."""

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
        """Return its time (ms)."""
        return round(self.at.timestamp() * 1000)

    @property
    def subjects(self) -> list[tuple[str, str]]:
        """Return its subjects, each by kind and id."""
        named = (each.partition(":") for each in self.subject.split(" "))
        return [(kind, key) for kind, colon, key in named if colon]


def page(query: Query, zone: ZoneInfo, before: int | None = None) -> list[Entry]:
    """Return the newest matching entries, or those before one; one more than a page if any."""
    return _read(query, zone, before, PAGE + 1)


def every(query: Query, zone: ZoneInfo) -> Iterator[Entry]:
    """Yield all matching entries, newest first, with one batch in memory at a time."""
    before = None
    while found := _read(query, zone, before, BATCH):
        yield from found
        before = found[-1].id


def one(entry_id: int) -> Entry | None:
    """Return the entry with that id."""
    with transaction() as session:
        row = session.execute(_entries().where(AuditEntry.id == entry_id)).one_or_none()
    return _entry(row) if row else None


def of(session: Session, subject: str) -> list[Entry]:
    """Return the last entries about a thing, latest first."""
    found = _entries().where(AuditEntry.subject == subject).order_by(AuditEntry.id.desc())
    return [_entry(row) for row in session.execute(found.limit(LATEST))]


def actions() -> list[str]:
    """Return the actions that have entries."""
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
