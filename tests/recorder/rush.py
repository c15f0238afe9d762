"""A rush in bulk: a term with many sections and students, and claims sent in one go."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, text

from portal.backend import backend
from portal.catalog.models import Course, Section
from portal.core.db import transaction
from portal.ledger.client import Ledger
from portal.ledger.types import AdminAdjustment, Claim, Decision, RequestContext, SectionSpec
from tests import cast
from tests.ledger_claims import send_claim

ENROLL_EVERYONE = 100_000  # a credit limit in hundredths that refuses no one


@dataclass(frozen=True)
class Rush:
    """A term with an open window."""

    term: int
    sections: Sequence[int]
    students: Sequence[int]
    window: int


def a_rush(sections: int = 20, students: int = 100, capacity: int = 10, waitlist: int = 10) -> Rush:
    """Return a term with so many sections of one size in the ledger, and so many students."""
    made = _students(students)
    return a_rush_of(made, sections=sections, capacity=capacity, waitlist=waitlist)


def a_rush_of(
    students: Sequence[int],
    *,
    sections: int = 20,
    capacity: int = 10,
    waitlist: int = 10,
    name: str = "Fall 2030",
    code: str = "MTH-1010",
) -> Rush:
    """Return such a term for known students; each has its own name and course."""
    term = cast.a_term(name)
    window = cast.an_open_window(term)
    course = cast.a_course(code, 3)
    made = _sections(term.id, course, sections, capacity, waitlist)
    specs = [spec(section, capacity=capacity, waitlist=waitlist) for section in made]
    backend().ledger.put_sections(term.id, specs)
    return Rush(term.id, made, students, window.id)


def spec(section: int, **fields: Any) -> SectionSpec:
    """Return an open section of its own course: three credits, no meetings."""
    settings = {"capacity": 10, "waitlist": 10, "prior": 0, "status": "OPEN", "version": 1}
    return SectionSpec(
        section=section,
        course=section,
        credits_min=300,
        credits_max=300,
        times=(),
        **settings | fields,
    )


def claims(rush: Rush, pairs: Sequence[tuple[int, int]]) -> None:
    """Claim every (student, section) pair in order; full sections are waitlisted."""
    asks = [
        {
            "student": student,
            "credit_limit": ENROLL_EVERYONE,
            "windows": [rush.window],
            "choices": [{"alternatives": [[{"section": section, "credits": 300}]], "wait": True}],
            "actor": f"student:{student}",
            "correlation": "rush",
        }
        for student, section in pairs
    ]
    backend().ledger.library.ask_all("submit", rush.term, asks)


def claim(
    rush: Rush,
    student: int,
    section: int,
    idempotency_key: str | None = None,
    *,
    ledger: Ledger | None = None,
    wait: bool = True,
    **fields: Any,
) -> Decision:
    """Send one claim, to the portal's ledger unless another is given."""
    return send_claim(
        ledger or backend().ledger,
        rush.term,
        student=student,
        section=section,
        idempotency_key=idempotency_key,
        credits=300,
        credit_limit=ENROLL_EVERYONE,
        windows=[rush.window],
        wait=wait,
        actor=f"student:{student}",
        correlation="rush",
        **fields,
    )


def drop(rush: Rush, student: int, section: int) -> Decision:
    """Send one drop; all drops are on the same day."""
    return backend().ledger.drop(
        _context(rush, student),
        section,
        windows=[rush.window],
        days=[(0, "2030-01-01")],
        drop_limit=1000,
    )


def adjust(rush: Rush, student: int, add: int | None, gone: int | None = None) -> Decision:
    """Adjust with every possible override."""
    wanted = None if add is None else Claim(add, 300)
    days = ((0, "2030-01-01"),)
    change = AdminAdjustment(student, wanted, gone, ENROLL_EVERYONE, (rush.window,), days, 1000)
    return backend().ledger.adjust(
        rush.term,
        change,
        overrides=["full", "section_confirmed"],
        reason="a late request",
        idempotency_key=None,
        actor="account:1",
        correlation="rush",
    )


def leave(rush: Rush, student: int, section: int) -> Decision:
    """Leave a waitlist."""
    return backend().ledger.leave(_context(rush, student), section)


def _context(rush: Rush, student: int) -> RequestContext:
    return RequestContext(rush.term, student, actor=f"student:{student}", correlation="rush")


def everyone_everywhere(rush: Rush) -> list[tuple[int, int]]:
    """Return every student with every section."""
    return [(student, section) for section in rush.sections for student in rush.students]


def _sections(term: int, course: Course, count: int, capacity: int, waitlist: int) -> list[int]:
    rows = [
        {
            "term_id": term,
            "course_id": course.id,
            "crn": str(10_000 + each),
            "number": "01",
            "title": course.title,
            "credits_min": 3,
            "credits_max": 3,
            "capacity": capacity,
            "waitlist_capacity": waitlist,
            "prior_enrolled": 0,
            "status": "OPEN",
        }
        for each in range(count)
    ]
    with transaction() as session:
        made = insert(Section).returning(Section.id, sort_by_parameter_order=True)
        return list(session.scalars(made, rows))


def _students(count: int) -> list[int]:
    with transaction() as session:
        session.execute(
            text(
                "INSERT INTO accounts (username, name, email, password_hash, is_admin,"
                " session_epoch) SELECT 'rush' || n, 'Rush ' || n, '', '', false, 1"
                " FROM generate_series(1, :count) n"
            ),
            {"count": count},
        )
        made = session.scalars(
            text(
                "INSERT INTO students (account_id, number, level, year, degree, campus, college)"
                " SELECT id, username, 'Undergraduate', 'Junior', '', '', '' FROM accounts"
                " WHERE username LIKE 'rush%' RETURNING id"
            )
        )
        return sorted(made)
