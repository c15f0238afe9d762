"""The audit trail for pages: a search, one entry, and the last entries of a thing."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Select, Text, cast, false, or_, select
from sqlalchemy.orm import Session, contains_eager

from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.people.models import Account
from portal.reports.audit_subjects import subjects_matching

PAGE = 50
BATCH = 1000
LATEST = 20  # of one thing
LONGEST = 120
DAYS = ("first", "last")
NO_ACCOUNT = "-"  # stands for users without an account: the command line, or the portal itself


@dataclass(frozen=True)
class Query:
    """Criteria: part of a person's name, action code, thing (name or `section:12`), days, text."""

    who: str = ""
    action: str = ""
    about: str = ""
    first: str = ""
    last: str = ""
    text: str = ""

    @classmethod
    def parse(cls, args: Mapping[str, str]) -> "Query":
        """Return the criteria of a query string, without invalid days."""
        given = {name: _clean(args.get(name, "")) for name in asdict(cls())}
        return cls(**given | {name: _day(given[name]) for name in DAYS})

    @staticmethod
    def invalid_days(args: Mapping[str, str]) -> dict[str, str]:
        given = {name: _clean(args.get(name, "")) for name in DAYS}
        return {name: text for name, text in given.items() if text and not _day(text)}

    def args(self) -> dict[str, str]:
        """Return the criteria as query string arguments."""
        return {name: value for name, value in asdict(self).items() if value}

    def conditions(self, zone: ZoneInfo) -> Iterator[ColumnElement[bool]]:
        """Yield the criteria for PostgreSQL; days are in the given time zone."""
        if self.who == NO_ACCOUNT:
            yield AuditEntry.account_id.is_(None)
        elif self.who:
            names = (Account.name, Account.username)
            yield or_(*(name.icontains(self.who, autoescape=True) for name in names))
        if self.action:
            yield AuditEntry.action == self.action
        if self.about:  # a subject names several things, separated by spaces
            subject = " " + AuditEntry.subject + " "
            things = [f" {thing} " for thing in subjects_matching(self.about)]
            yield or_(false(), *(subject.contains(thing, autoescape=True) for thing in things))
        if self.first:
            yield AuditEntry.at >= _midnight(date.fromisoformat(self.first), zone)
        if self.last:
            last = min(date.fromisoformat(self.last), date.max - timedelta(days=1))
            yield AuditEntry.at < _midnight(last + timedelta(days=1), zone)
        if self.text:
            columns = (AuditEntry.reason, AuditEntry.subject, AuditEntry.before, AuditEntry.after)
            texts = [cast(column, Text) for column in columns]
            yield or_(*(each.icontains(self.text, autoescape=True) for each in texts))


def page(query: Query, zone: ZoneInfo, before: int | None = None) -> list[AuditEntry]:
    """Return the newest matching entries, or those before one; one more than a page if any."""
    return _read(query, zone, before, PAGE + 1)


def all_entries(query: Query, zone: ZoneInfo) -> Iterator[AuditEntry]:
    """Yield all matching entries, newest first, with one batch in memory at a time."""
    before = None
    while found := _read(query, zone, before, BATCH):
        yield from found
        before = found[-1].id


def find_entry(entry_id: int) -> AuditEntry | None:
    with transaction() as session:
        return session.scalar(_entries().where(AuditEntry.id == entry_id))


def latest_about(session: Session, subject: str) -> list[AuditEntry]:
    """Return the last entries about a thing, latest first."""
    return list(session.scalars(_entries().where(AuditEntry.subject == subject).limit(LATEST)))


def actions() -> list[str]:
    """Return the actions that have entries."""
    with transaction() as session:
        return list(session.scalars(select(AuditEntry.action).distinct()))


def _read(query: Query, zone: ZoneInfo, before: int | None, most: int) -> list[AuditEntry]:
    found = _entries().where(*query.conditions(zone)).limit(most)
    if before:
        found = found.where(AuditEntry.id < before)
    with transaction() as session:
        return list(session.scalars(found))


def _entries() -> Select[AuditEntry]:
    """Return the query of entries, latest first, with their accounts."""
    found = select(AuditEntry).outerjoin(AuditEntry.account).order_by(AuditEntry.id.desc())
    return found.options(contains_eager(AuditEntry.account))


def _clean(text: str) -> str:
    return " ".join(text.replace("\0", "").split())[:LONGEST]


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone)
