"""The students of a section as last recorded (enrolled, waiting, dropped), and its events."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.core.i18n import _
from portal.core.moments import milliseconds
from portal.people.models import Account, Student
from portal.recorder.events import Event
from portal.recorder.models import (
    EVENT_COLUMNS,
    WAITLIST_ORDER,
    Enrollment,
    LoggedEvent,
    WaitlistEntry,
)
from portal.recorder.receipt_texts import outcome
from portal.recorder.receipts import code

PAGE = 100
# For each group: the table, and the states in it.
GROUPS: dict[str, tuple[type[Enrollment] | type[WaitlistEntry], tuple[str, ...]]] = {
    "in": (Enrollment, ("enrolled",)),
    "waiting": (WaitlistEntry, ("waiting", "passed")),
    "out": (Enrollment, ("dropped",)),
    "left": (WaitlistEntry, ("left",)),
}


@dataclass(frozen=True)
class Participant:
    """A student's part in a section: credits in hundredths, `since` when the state began."""

    id: int
    name: str
    number: str
    year: str
    private: bool  # only those who may see student records see the year
    state: str  # enrolled, waiting, passed, dropped or left
    credits: int
    since: datetime


def participants(session: Session, section: int, group: str, page: int) -> list[Participant]:
    """Return a page of one of GROUPS: by name, or by waitlist order."""
    table, _states = GROUPS[group]
    order = WAITLIST_ORDER if group == "waiting" else (Account.name,)
    found = (
        select(
            Student.id,
            Account.name,
            Student.number,
            Student.year,
            Student.private,
            table.state,
            table.credits,
            table.since,
        )
        .join(Student, Student.id == table.student_id)
        .join(Account, Account.id == Student.account_id)
        .where(*_in(section, group))
        .order_by(*order, Student.number)
        .offset((page - 1) * PAGE)
        .limit(PAGE)
    )
    return [Participant(*row) for row in session.execute(found)]


def counts(session: Session, section: int) -> dict[str, int]:
    """Return the size of each group."""
    found = {}
    for group, (table, _states) in GROUPS.items():
        size = select(func.count()).select_from(table).where(*_in(section, group))
        found[group] = session.scalar(size) or 0
    return found


def prior(session: Session, section: int) -> int:
    """Return the seats taken before the term's import, by students who are not listed."""
    found = select(Section.prior_enrolled).where(Section.id == section)
    return session.scalar(found) or 0


def history(term: int, section: int, before: int | None) -> tuple[list[dict[str, Any]], bool]:
    """Return a page of the section's events, and whether there are more."""
    with transaction() as session:
        events, more = _happened(session, term, section, before)
        known = _names(session, events)
    return [_in_words(term, each, known) for each in events], more


def _in_words(term: int, event: Event, names: dict[str, str]) -> dict[str, Any]:
    """Return what happened, the student, the actor, and an admin's reason."""
    student, facts = event.payload.get("student", 0), event.payload
    actor = names.get(event.context.get("actor", ""), "")
    what, tone = outcome(event)
    if event.name == "section_set":
        seats = {"seats": facts["capacity"], "places": facts["waitlist"]}
        what, actor = _("Seats: %(seats)s, waitlist: %(places)s", **seats), ""
        if facts["status"] == "CANCELED":
            what = _("The section was canceled")
    return {
        "seq": event.seq,
        "at": milliseconds(event.at),
        "what": what,
        "tone": tone,
        "student": student,
        "name": names.get(f"student:{student}", ""),
        "by": actor,
        "reason": event.context.get("reason", ""),
        "code": code(term, event.seq) if student else "",
    }


def _happened(
    session: Session, term: int, section: int, before: int | None
) -> tuple[list[Event], bool]:
    """Return a page of the section's events, latest first, and whether there are more.

    The events are older than event `before`.
    """
    found = (
        select(*EVENT_COLUMNS)
        .where(LoggedEvent.aggregate == f"section:{section}", LoggedEvent.term_id == term)
        .order_by(LoggedEvent.seq.desc())
        .limit(PAGE + 1)
    )
    if before:
        found = found.where(LoggedEvent.seq < before)
    rows = [Event(*row) for row in session.execute(found)]
    return rows[:PAGE], len(rows) > PAGE


def _names(session: Session, events: Sequence[Event]) -> dict[str, str]:
    """Return the names for `student:1` and `account:1` in those events."""
    actors = {event.context.get("actor", "") for event in events}
    accounts = {int(each[8:]) for each in actors if re.fullmatch(r"account:\d{1,9}", each)}
    students = {event.payload["student"] for event in events if "student" in event.payload}
    by = select(Account.id, Account.name).where(Account.id.in_(accounts))
    student_names = (
        select(Student.id, Account.name).join(Student.account).where(Student.id.in_(students))
    )
    found = {f"account:{who}": name for who, name in session.execute(by)}
    return found | {f"student:{who}": name for who, name in session.execute(student_names)}


def _in(section: int, group: str) -> tuple[ColumnElement[bool], ...]:
    table, states = GROUPS[group]
    return table.section_id == section, table.state.in_(states)
