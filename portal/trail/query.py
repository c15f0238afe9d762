"""What is looked for in the audit trail, as an address says it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, SQLColumnExpression, Text, cast, false, or_

from portal.people.models import Account, AuditEntry
from portal.trail.things import meant

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
