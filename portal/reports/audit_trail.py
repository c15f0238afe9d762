"""What is looked for in the audit trail, as an address says it."""

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
NOBODY = "-"  # stands for who has no account: the command line, or the portal itself


@dataclass(frozen=True)
class Query:
    """Words in a person's name, a deed's code, a thing by name or as `section:12`, days, a text."""

    who: str = ""
    deed: str = ""
    about: str = ""
    first: str = ""
    last: str = ""
    text: str = ""

    @classmethod
    def parse(cls, args: Mapping[str, str]) -> "Query":
        """As an address says it; days that are none are left out."""
        given = {name: _clean(args.get(name, "")) for name in asdict(cls())}
        found = cls(**given)
        return replace(found, first=_day(found.first), last=_day(found.last))

    @staticmethod
    def unread(args: Mapping[str, str]) -> dict[str, str]:
        """What an address says where a day belongs, and is none."""
        given = {name: _clean(args.get(name, "")) for name in ("first", "last")}
        return {name: text for name, text in given.items() if text and not _day(text)}

    def args(self) -> dict[str, str]:
        """What an address says of it."""
        return {name: value for name, value in asdict(self).items() if value}

    def conditions(self, zone: ZoneInfo) -> list[ColumnElement[bool]]:
        """The same for PostgreSQL; days are those of the zone."""
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
    """A subject names several things with spaces between them."""
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


# Entries of the audit trail, read by pages; nothing here writes.

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
