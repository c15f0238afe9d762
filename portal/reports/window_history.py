"""What each student of a window requested and got, from the events while it was open."""

from collections import Counter, defaultdict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from portal.catalog.models import Subject
from portal.core.moments import milliseconds
from portal.people.models import Student, StudentSubject
from portal.recorder.event_log import read_events
from portal.recorder.events import Event
from portal.recorder.projections import TermState, apply
from portal.windows.cohorts import in_cohort_clause
from portal.windows.models import Window

REQUESTS = {"enrolled", "waitlisted", "refused"}
SEATS = {"enrolled", "promoted"}


@dataclass
class Attempts:
    """One student's attempts: times in ms; `got_at` is when the seat of the first choice came."""

    first: int = 0  # the first choice's section
    first_at: int = 0
    got_at: int = 0
    requests: int = 0
    seats: set[int] = field(default_factory=set)  # given in the window and not dropped in it
    refusals: Counter[str] = field(default_factory=Counter)

    def add(self, event: Event) -> None:
        """Add an event of the student."""
        payload, section, at = event.payload, event.payload["section"], milliseconds(event.at)
        if event.name in REQUESTS and payload.get("act", "claim") == "claim":
            self.requests += 1
            # An alternative's event carries its rank, and may be refused before those of a better
            # rank.
            if not self.first and not payload.get("rank"):
                self.first, self.first_at = section, at
        if event.name in SEATS:
            self.seats.add(section)
            if section == self.first and not self.got_at:
                self.got_at = at
        if event.name == "dropped":
            self.seats.discard(section)
        if event.name == "refused" and payload["act"] == "claim":
            self.refusals.update({reason["code"] for reason in payload["reasons"]})

    @property
    def wait(self) -> int | None:
        """Return the time from the first request to that seat (ms), None if it never came."""
        return self.got_at - self.first_at if self.got_at else None


# A window that has ended: its students, their actions, and the term at its closing.


@dataclass(frozen=True)
class Member:
    """A student of the window's cohort, now or when the window was open."""

    account: int
    level: str
    year: str
    majors: tuple[str, ...]


@dataclass
class WindowHistory:
    """The data for all reports; `state` is that of the term at the closing."""

    window: int
    term: int
    opened: int  # ms
    closed: int
    members: dict[int, Member]
    state: TermState = field(default_factory=TermState)
    attempts: dict[int, Attempts] = field(default_factory=lambda: defaultdict(Attempts))
    counts: Counter[str] = field(default_factory=Counter)
    given: Counter[int] = field(default_factory=Counter)  # seats given in the window, by section
    refused: Counter[int] = field(default_factory=Counter)
    # Band and ticket of those who wait, by section; and by band, who was promoted, and who would
    # have been if waitlists were first come, first served.
    waiters: dict[int, dict[int, tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    promoted: Counter[int] = field(default_factory=Counter)
    first_come: Counter[int] = field(default_factory=Counter)

    def add(self, event: Event) -> None:
        """Add a student's event that was decided in the window, or took a seat of it."""
        self._follow_waitlist(event)
        student, section = event.payload.get("student", 0), event.payload.get("section", 0)
        if event.context.get("during") != self.window:
            if event.name == "dropped" and student in self.attempts:
                self.attempts[student].seats.discard(section)
            return
        self.attempts[student].add(event)
        self.counts[event.name] += 1
        if event.name in {"enrolled", "promoted"}:
            self.given[section] += 1
        if event.name == "refused":
            self.refused[section] += 1

    def _follow_waitlist(self, event: Event) -> None:
        payload = event.payload
        if event.name not in {"waitlisted", "left", "promoted"}:
            return
        section, student = payload["section"], payload["student"]
        waiters = self.waiters[section]
        if event.name == "waitlisted":
            waiters[student] = payload.get("band", 1), payload["ticket"]
            return
        place = waiters.pop(student, None)
        if place and event.name == "promoted" and event.context.get("during") == self.window:
            self.promoted[place[0]] += 1
            # Only bands count: a reserved seat is given out of turn, too.
            overtaken = [
                other
                for each, other in waiters.items()
                if other > place and self.state.waitlist[section, each]["state"] == "waiting"
            ]
            first = min([place, *overtaken], key=lambda each: each[1])
            self.first_come[first[0]] += 1


def read_history(session: Session, window: Window, closing: int) -> WindowHistory:
    """Read the term's log up to the event that closed the window."""
    found = WindowHistory(
        window.id, window.term_id, milliseconds(window.opens_at), milliseconds(window.closes_at), {}
    )
    for event in read_events(session, window.term_id, 0, closing):
        apply(found.state, event)
        found.add(event)
    found.members.update(members(session, window, found.attempts.keys()))
    return found


def members(session: Session, window: Window, others: AbstractSet[int]) -> dict[int, Member]:
    """Return the students of the window's current cohort, and those others."""
    found = _people(session, Student.deleted_at.is_(None) & in_cohort_clause(window.cohort))
    return found | _people(session, Student.id.in_(others - found.keys()))


def _people(session: Session, which: ColumnElement[bool]) -> dict[int, Member]:
    majors: dict[int, list[str]] = defaultdict(list)
    of_student = (
        select(StudentSubject.student_id, Subject.code)
        .join(Subject, Subject.id == StudentSubject.subject_id)
        .join(Student, Student.id == StudentSubject.student_id)
        .where(StudentSubject.kind == "major", which)
        .order_by(Subject.code)
    )
    for student, code in session.execute(of_student):
        majors[student].append(code)
    query = select(Student.id, Student.account_id, Student.level, Student.year).where(which)
    return {
        student: Member(account, level, year, tuple(majors[student]))
        for student, account, level, year in session.execute(query)
    }
