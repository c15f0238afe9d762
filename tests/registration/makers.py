"""Sections, profiles and catalogs for tests, with defaults."""

from datetime import date
from decimal import Decimal
from itertools import count
from typing import Any

from portal.catalog.term_catalog import TermCatalog
from portal.catalog.views import MeetingView, SectionView, TermView
from portal.people.student_profile import StudentProfile

TERM = TermView(
    7,
    "Fall 2030",
    date(2030, 8, 26),
    date(2030, 12, 20),
    credit_limit=Decimal(21),
    drops_per_day=3,
)
_ids = count(1)
_courses: dict[str, int] = {}


def a_view(code: str = "CSC-1100", **facts: Any) -> SectionView:
    """Return an open section of a public course."""
    number = next(_ids)
    settings: dict[str, Any] = {
        "id": number,
        "term_id": TERM.id,
        "crn": str(1000 + number),
        "number": "01",
        "title": f"Course {code}",
        "course_id": _courses.setdefault(code, 100 + len(_courses)),
        "course_code": code,
        "course_title": f"Course {code}",
        "description": "",
        "subject_code": code.partition("-")[0],
        "subject_name": "",
        "department": "",
        "credits_min": Decimal(4),
        "credits_max": Decimal(4),
        "kind": "",
        "campus": "",
        "method": "",
        "note": "",
        "status": "OPEN",
        "capacity": 10,
        "waitlist": 5,
        "meetings": (),
        "instructors": (),
        "instructor_ids": (),
        "prerequisites": None,
        "corequisites": None,
        "restrictions": (),
        "cross_lists": (),
        "public": True,
        "restricted_to": frozenset(),
        "levels": frozenset(),
        "years": frozenset(),
    }
    return SectionView(**settings | facts)


def a_meeting(mask: int = 9, start: int = 600, end: int = 710, **facts: Any) -> MeetingView:
    """Return a meeting, by default on Monday and Thursday from 10:00 to 11:50."""
    numbers = {"mask": mask, "start": start, "end": end}
    settings: dict[str, Any] = {"code": "", "room": "", "clashes": True, **numbers}
    return MeetingView(**settings | facts)


def a_catalog(*views: SectionView) -> TermCatalog:
    """Return the catalog of a term with these sections."""
    return TermCatalog(TERM, 1, views)


def a_profile(**facts: Any) -> StudentProfile:
    """Return an undergraduate sophomore of computer science who has passed nothing."""
    settings: dict[str, Any] = {
        "student": 1,
        "account": 11,
        "name": "Ada",
        "number": "N1",
        "level": "Undergraduate",
        "year": "Sophomore",
        "degree": "",
        "campus": "Troy",
        "college": "School of Science",
        "department": "Computer Science",
        "majors": frozenset({"CSC", "Computer Science"}),
        "minors": frozenset({"MAT", "Mathematics"}),
    }
    return StudentProfile(**settings | facts)


def course(code: str) -> dict[str, Any]:
    """Return a tree of one course."""
    return {"course": code}


def every(*nodes: Any) -> dict[str, Any]:
    """Return a tree: all parts must be met."""
    return {"all": [course(node) if isinstance(node, str) else node for node in nodes]}


def some(*nodes: Any) -> dict[str, Any]:
    """Return a tree: one part must be met."""
    return {"any": [course(node) if isinstance(node, str) else node for node in nodes]}
