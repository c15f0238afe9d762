"""How full each course was at the end of the last term that offered it."""

from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.dialects.postgresql import distinct_on

from portal.catalog.models import Section, Term
from portal.core.cache import AWAY, Cache
from portal.core.db import transaction
from portal.recorder.models import SectionSeats

FRESH_SECONDS = 600


@dataclass(frozen=True)
class LastTime:
    """All sections of a course in an earlier term, together."""

    term: str
    capacity: int
    taken: int
    waiting: int


def last_time(term: int) -> dict[int, LastTime]:
    """Return the latest earlier term that offered each course, by course; empty while unknown."""
    try:
        return _courses.get(term)
    except AWAY:
        return {}


def read(term: int) -> dict[int, LastTime]:
    """Return the same from PostgreSQL, in one query for the whole term."""
    with transaction() as session:
        rows = session.execute(_earlier(term)).all()
    return {row[0]: LastTime(*row[1:]) for row in rows}


def _earlier(term: int) -> Select[int, str, int, int, int]:
    begins = select(Term.starts_on).where(Term.id == term).scalar_subquery()
    return (
        select(
            Section.course_id,
            Term.name,
            func.sum(SectionSeats.capacity),
            func.sum(SectionSeats.prior + SectionSeats.enrolled),
            func.sum(SectionSeats.waiting),
        )
        .join(SectionSeats, SectionSeats.section_id == Section.id)
        .join(Term, Term.id == Section.term_id)
        .where(Term.starts_on < begins, SectionSeats.status.in_(("OPEN", "CONFIRMED")))
        .where(Term.state != "draft", Term.deleted_at.is_(None), ~Term.practice)
        .group_by(Section.course_id, Term.id)
        .order_by(Section.course_id, Term.starts_on.desc(), Term.id)
        .ext(distinct_on(Section.course_id))
    )


_courses = Cache(read, FRESH_SECONDS, size=64)
