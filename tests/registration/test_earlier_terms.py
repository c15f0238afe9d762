"""How full a course was when it was last offered."""

from datetime import date

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.recorder.models import SectionSeats
from portal.web.student.earlier_terms import LastTime, read
from tests import cast as builders


def a_past_term(year: int) -> Term:
    return builders.a_term(f"Fall {year}", starts_on=date(year, 8, 26), ends_on=date(year, 12, 20))


def ended(section: Section, taken: int, waiting: int = 0, **facts: object) -> None:
    """Record how full a section was at the end."""
    counts = {"capacity": section.capacity, "waitlist_capacity": 5, "prior": 1, "status": "OPEN"}
    builders.added(
        SectionSeats(
            term_id=section.term_id,
            section_id=section.id,
            enrolled=taken - 1,
            waiting=waiting,
            seq=1,
            **counts | facts,
        )
    )


def test_last_earlier_term_counts_with_all_its_sections(backend: Backend) -> None:  # noqa: ARG001
    course, other = builders.a_course(), builders.a_course("MAT-1010")
    older, past, now = a_past_term(2028), a_past_term(2029), builders.a_term("Fall 2030")
    ended(builders.a_section(course, older, capacity=90), 5)
    ended(builders.a_section(course, past, capacity=20), 20, waiting=3)
    ended(builders.a_section(course, past, capacity=30), 12)
    ended(builders.a_section(course, past, capacity=40), 2, status="CANCELED")
    ended(builders.a_section(other, older, capacity=10), 10)
    builders.a_section(course, now, capacity=50)
    found = read(now.id)
    assert found == {
        course.id: LastTime("Fall 2029", 50, 32, 3),
        other.id: LastTime("Fall 2028", 10, 10, 0),
    }


def test_new_course_has_no_earlier_term(backend: Backend) -> None:  # noqa: ARG001
    term = builders.a_term()
    ended(builders.a_section(builders.a_course(), term), 2)
    assert read(term.id) == {}
