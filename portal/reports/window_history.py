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
from portal.recorder.projections import Pair, TermState, apply, taken
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
    # Ticket and band of those who wait, by section and student: as it is, and as it would be if
    # waitlists were first come, first served. By band, who was promoted, and would have been.
    waiters: dict[Pair, tuple[int, int]] = field(default_factory=dict)
    by_ticket: dict[Pair, tuple[int, int]] = field(default_factory=dict)
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
        if event.name not in {"waitlisted", "left", "promoted", "dropped"}:
            return
        payload = event.payload
        key = payload["section"], payload["student"]
        if event.name == "waitlisted":
            self.waiters[key] = self.by_ticket[key] = payload["ticket"], payload.get("band", 1)
            return
        place = self.waiters.pop(key, None)
        if place and event.name == "promoted" and event.context.get("during") == self.window:
            self.promoted[place[1]] += 1
            self.first_come[self._serve_first(event, key, place)] += 1
        else:
            self.by_ticket.pop(key, None)

    def _serve_first(self, event: Event, key: Pair, place: tuple[int, int]) -> int:
        """Give the seat of a promotion to the first by ticket; return that student's band.

        Reserved seats and those that an admin gives are out of turn: the same student gets them.
        One who was served before gives the seat to the next.
        """
        if key in self.by_ticket and (event.payload.get("reserve") or event.is_adjustment):
            return self.by_ticket.pop(key)[1]
        sections = self._sharing(key[0])
        could = [
            (each, other)
            for other, each in self.by_ticket.items()
            if other == key or (other[0] in sections and self._could_get(other, key[0]))
        ]
        if not could:
            return place[1]
        (_ticket, band), first = min(could)
        del self.by_ticket[first]
        return band

    def _sharing(self, section: int) -> set[int]:
        """Return the sections whose waitlists have the same seats, the pool's if it is in one."""
        pool = self.state.seats.get(section, {}).get("pool_id") or 0
        return {section, *self.state.pools.get(pool, ())}

    def _could_get(self, key: Pair, freed: int) -> bool:
        """Return whether a student in the line could have had the seat at that moment."""
        state, row = self.state.waitlist[key]["state"], self.state.seats.get(key[0])
        if state == "waiting":
            return row is None or key[0] == freed or taken(row) < row["capacity"]
        return bool(state == "promoted")


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
