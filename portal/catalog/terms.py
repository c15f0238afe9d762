"""Terms: created, copied, edited, published and archived.

Only admins see a draft. A published term is open to students in its windows. An archived term is
history: students keep its schedule and its receipts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import exists, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import deletion
from portal.catalog.deletion import HAS_STUDENTS, WITH_STUDENTS, Dependency, InTheWay, Obstacle
from portal.catalog.models import (
    Course,
    CrossList,
    Instructor,
    Meeting,
    Pool,
    Reserve,
    Restriction,
    Room,
    Section,
    Term,
    section_instructors,
)
from portal.catalog.term_fields import rule_values, set_rules
from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _l
from portal.ledger.types import DEADLINES

WEEK = timedelta(days=7)

Row = dict[str, Any]  # of a table, by column


@dataclass(frozen=True)
class StateChange:
    """From which state of a term, and to which."""

    of: str
    to: str
    hides: bool = False  # the term from students


STATES = {"draft": _l("Draft"), "published": _l("Published"), "archived": _l("Archived")}
STATE_CHANGES = {
    "publish": StateChange("draft", "published"),
    "unpublish": StateChange("published", "draft", hides=True),
    "archive": StateChange("published", "archived"),
    "reopen": StateChange("archived", "published"),
}


# Also those of a term that has ended: its students keep their schedules.
WITH_STUDENTS_EVER = Dependency(
    WITH_STUDENTS,
    "SELECT courses.code || '-' || sections.number FROM sections"  # noqa: S608  constants of ours
    " JOIN courses ON courses.id = sections.course_id"
    f" WHERE sections.term_id = :id AND {HAS_STUDENTS}",
)


class NameTaken(Exception):
    """Another term has the name, possibly a deleted one."""


class DeadlineAfterTerm(Exception):
    """A deadline of the term is after its new last day: `day` is the latest one."""

    def __init__(self, day: date) -> None:
        super().__init__(day)
        self.day = day


@dataclass(frozen=True)
class TermDetails:
    """The name and dates of a term."""

    name: str
    starts_on: date
    ends_on: date

    @property
    def facts(self) -> dict[str, Any]:
        """Return the details as the audit trail stores them."""
        return {"name": self.name, "starts": str(self.starts_on), "ends": str(self.ends_on)}


def details(term: Term) -> TermDetails:
    return TermDetails(term.name, term.starts_on, term.ends_on)


def create(wanted: TermDetails, source: int | None, by: int, reason: str) -> int:
    """Store a new draft, with copies of the sections of `source` if given; return its id.

    Raise NameTaken.
    """
    try:
        with transaction() as session:
            term = Term(name=wanted.name, starts_on=wanted.starts_on, ends_on=wanted.ends_on)
            copied: dict[str, Any] = {}
            if source:
                # Changes of sections wait for this lock, so the copy is of one moment.
                model = session.get_one(Term, source, with_for_update=True)
                set_rules(term, rule_values(model) | _moved_deadlines(model, term))
                term.bands = model.bands
                session.add(term)
                session.flush()
                copied = {"copied": model.name, "sections": _copy_sections(session, model, term)}
            session.add(term)
            session.flush()
            add_audit_entry(
                session,
                "term.create",
                f"term:{term.id}",
                by=by,
                after=wanted.facts | copied,
                reason=reason,
            )
            return term.id
    except IntegrityError as error:
        if same := _created_before(wanted, source, by):
            return same
        raise NameTaken from error


def _created_before(wanted: TermDetails, source: int | None, by: int) -> int | None:
    """Return the term if the account has created it by the same form, which was sent twice."""
    subject = func.concat("term:", Term.id)
    entry = exists().where(
        AuditEntry.action == "term.create",
        AuditEntry.subject == subject,
        AuditEntry.account_id == by,
    )
    found = select(Term).where(Term.name == wanted.name, Term.deleted_at.is_(None))
    with transaction() as session:
        name = session.scalar(select(Term.name).where(Term.id == source)) if source else None
        copied = AuditEntry.after["copied"].as_string()
        term = session.scalar(found.where(entry.where(copied.is_not_distinct_from(name))))
        return term.id if term and details(term) == wanted else None


def edit(session: Session, term_id: int, seen: TermDetails, wanted: TermDetails, by: int) -> bool:
    """Change the details; return False if they are so already.

    Raise ChangedMeanwhile if they are no longer as `seen`, NameTaken, or DeadlineAfterTerm.
    """
    term = session.get_one(Term, term_id, with_for_update=True)
    if details(term) == wanted:
        return False
    if details(term) != seen:
        raise ChangedMeanwhile
    latest = max((day for name in DEADLINES if (day := getattr(term, name))), default=None)
    if latest and wanted.ends_on < min(latest, term.ends_on):
        raise DeadlineAfterTerm(latest)
    term.name, term.starts_on, term.ends_on = wanted.name, wanted.starts_on, wanted.ends_on
    term.catalog_version += 1
    try:
        session.flush()
    except IntegrityError as error:
        raise NameTaken from error
    add_audit_entry(
        session, "term.edit", f"term:{term_id}", by=by, before=seen.facts, after=wanted.facts
    )
    return True


def obstacles(session: Session, term_id: int, action: str) -> list[Obstacle]:
    """Return what prevents one of STATE_CHANGES: windows to come, and what students still have."""
    change, record = STATE_CHANGES[action], deletion.find(session, "term", term_id)
    if change.of != "published" or record is None:
        return []
    found = [
        each
        for each in deletion.obstacles(session, record)
        if each.label != str(WITH_STUDENTS)  # a term that has ended may be deleted with them
    ]
    if change.hides:
        found += deletion.find_obstacles(session, [WITH_STUDENTS_EVER], term_id, "")
    return found


def change_state(term_id: int, action: str, by: int | None, reason: str) -> None:
    """Make one of STATE_CHANGES; do nothing if the term is in that state already.

    Raise InTheWay, or ChangedMeanwhile if the term is in another state.
    """
    change = STATE_CHANGES[action]
    with transaction() as session:
        term = session.get_one(Term, term_id, with_for_update=True)
        if term.state == change.to:
            return
        if term.state != change.of:
            raise ChangedMeanwhile
        if found := obstacles(session, term_id, action):
            raise InTheWay(found)
        term.state = change.to
        term.catalog_version += 1
        add_audit_entry(
            session,
            f"term.{action}",
            f"term:{term_id}",
            by=by,
            before={"term_state": change.of},
            after={"term_state": change.to},
            reason=reason,
        )


def moved_by(source: Term | TermDetails, target: Term | TermDetails) -> timedelta:
    """Return by how many whole weeks the target begins later, so that weekdays stay."""
    days = (target.starts_on - source.starts_on).days
    return round(days / 7) * WEEK


# Copies of the sections of a term.


def _moved_deadlines(source: Term, target: Term) -> dict[str, date]:
    """Move the deadlines by as many weeks as the windows and meetings, but not past the term."""
    moved = moved_by(source, target)
    days = {name: getattr(source, name) for name in DEADLINES}
    return {name: min(day + moved, target.ends_on) for name, day in days.items() if day}


def _copy_sections(session: Session, source: Term, target: Term) -> int:
    """Copy the sections that run, without their students; return their number.

    Deleted rooms and instructors are left out.
    """
    sections = _rows(
        session,
        Section.__table__,
        Section.term_id == source.id,
        Section.deleted_at.is_(None),
        Section.status != "CANCELED",
        Section.course_id.in_(select(Course.id).where(Course.deleted_at.is_(None))),
    )
    pools = _copied(
        session,
        Pool.__table__,
        _rows(session, Pool.__table__, Pool.id.in_({row["pool_id"] for row in sections})),
        lambda _row: {"term_id": target.id, "version": 1},
    )
    new = _copied(
        session,
        Section.__table__,
        sections,
        lambda row: {
            "term_id": target.id,
            "pool_id": pools.get(row["pool_id"]),
            "status": "OPEN" if row["status"] == "CONFIRMED" else row["status"],
            "prior_enrolled": 0,
            "unread": None,
            "version": 1,
        },
    )
    weeks = moved_by(source, target)

    def later(until: datetime | None) -> datetime | None:
        """Return the same time of day, weeks later, in the institution's time zone."""
        return until and until.astimezone(backend().settings.zone) + weeks

    rooms = set(session.scalars(select(Room.id).where(Room.deleted_at.is_(None))))
    _copy_parts(
        session,
        Meeting.__table__,
        new,
        lambda row: (
            _dates(row, source, target, weeks)
            | {"room_id": row["room_id"] if row["room_id"] in rooms else None}
        ),
    )
    _copy_parts(session, Reserve.__table__, new, lambda row: {"until": later(row["until"])})
    for table in (Restriction.__table__, CrossList.__table__):
        _copy_parts(session, table, new, lambda _row: {})
    living = select(Instructor.id).where(Instructor.deleted_at.is_(None))
    taught = section_instructors.c.instructor_id.in_(living)
    _copy_parts(session, section_instructors, new, lambda _row: {}, taught)
    return len(new)


def _dates(row: Row, source: Term, target: Term, weeks: timedelta) -> dict[str, date]:
    """Return the dates of a copied meeting: all of the term, or weeks later and within it."""
    if row["date_start"] <= source.starts_on and row["date_end"] >= source.ends_on:
        return {"date_start": target.starts_on, "date_end": target.ends_on}
    first, last = row["date_start"] + weeks, row["date_end"] + weeks
    if last < target.starts_on or first > target.ends_on:  # such as an exam after a longer term
        return {"date_start": first, "date_end": last}
    return {"date_start": max(first, target.starts_on), "date_end": min(last, target.ends_on)}


def _rows(session: Session, table: Any, *conditions: Any) -> list[Row]:
    found = session.execute(select(table).where(*conditions)).mappings()
    return [dict(each) for each in found]


def _copied(
    session: Session, table: Any, rows: list[Row], change: Callable[[Row], Row]
) -> dict[int, int]:
    """Store copies of the rows with changes; return the id of each row's copy."""
    if not rows:
        return {}
    copies = [
        {name: value for name, value in {**row, **change(row)}.items() if name != "id"}
        for row in rows
    ]
    stored = insert(table).returning(table.c.id, sort_by_parameter_order=True)
    ids = session.scalars(stored, copies)
    return {row["id"]: new for row, new in zip(rows, ids, strict=True)}


def _copy_parts(
    session: Session,
    table: Any,
    sections: dict[int, int],
    change: Callable[[Row], Row],
    *conditions: Any,
) -> None:
    """Store copies of the rows that belong to copied sections, with changes."""
    rows = [
        {**row, "section_id": sections[row["section_id"]], **change(row)}
        for row in _rows(session, table, table.c.section_id.in_(sections), *conditions)
    ]
    for row in rows:
        row.pop("id", None)
    if rows:
        session.execute(insert(table), rows)
