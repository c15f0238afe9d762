"""Which sections a visitor may see, in live updates and on request."""

from collections.abc import Sequence
from dataclasses import replace
from time import time

from sqlalchemy import select

from portal.backend import backend
from portal.catalog.models import Course, Section, section_instructors
from portal.catalog.term_catalog import NoSuchTerm, SectionView, catalog_of, published_catalog
from portal.core.db import transaction
from portal.people.roles import Right
from portal.people.student_profile import profile
from portal.people.visitors import Visitor
from portal.registration import limits, rules
from portal.windows.phases import phase, sections_visible


def visible_sections(visitor: Visitor, term: int, sections: Sequence[int]) -> tuple[int, ...]:
    """Return those of the sections that the visitor may see, in the given order.

    Raises LedgerUnavailable if only the ledger knows and it does not answer.
    """
    if visitor.may(Right.SEE_SECTIONS) or not sections:
        return tuple(sections)
    try:
        views = (catalog_of if visitor.departments else published_catalog)(term).some(sections)
    except NoSuchTerm:
        return ()
    allowed = {each.id for each in views if each.department_id in visitor.departments}
    allowed |= _as_instructor(visitor, views) | _as_student(visitor, term, views)
    return tuple(section for section in sections if section in allowed)


def is_hidden(visitor: Visitor, term: int) -> bool:
    """Return whether the visitor can't see the term: a draft, or there is no such term."""
    try:
        state = catalog_of(term).term.state
    except NoSuchTerm:
        return True
    return state == "draft" and not visitor.may(Right.SEE_SECTIONS, Right.SCHEDULE)


def selection_ended(visitor: Visitor, term: int) -> bool:
    """Return whether a student's selection has ended, by this machine's clock; cheap.

    Raises LedgerUnavailable if the windows are not known.
    """
    if not visitor.student_id or visitor.may(Right.SEE_SECTIONS):
        return False
    try:
        who = profile(visitor.student_id)
    except LookupError:
        return False
    return not sections_visible(phase(limits.windows_of(who, term), int(time() * 1000)))


def _as_instructor(visitor: Visitor, sections: list[SectionView]) -> set[int]:
    """Return the instructor's own sections, and every open section."""
    own = visitor.instructor_ids
    if not own:
        return set()
    return {
        section.id
        for section in sections
        if section.status == "OPEN" or not own.isdisjoint(section.instructor_ids)
    }


def _as_student(visitor: Visitor, term: int, sections: list[SectionView]) -> set[int]:
    """Return sections on the student's list, and those where they are or were enrolled or waiting.

    A student's part does not show withdrawn sections.
    """
    if not visitor.student_id:
        return set()
    try:
        who = profile(visitor.student_id)
    except LookupError:
        return set()
    shown = sections_visible(phase(limits.windows_of(who, term), backend().ledger.now()))
    listed = {
        section.id for section in sections if shown and rules.visible(who, _as_offered(section))
    }
    others = {
        section.id for section in sections if section.id not in listed and section.status != "NEW"
    }
    # Most pages show only the list, so the ledger is seldom asked for more than its time.
    return listed | (others & _part_of(term, visitor.student_id) if others else set())


def _as_offered(section: SectionView) -> SectionView:
    """Return a canceled section as if open: pages that show it must learn of its end."""
    return replace(section, status="OPEN") if section.status == "CANCELED" else section


def _part_of(term: int, student: int) -> set[int]:
    registrations = backend().ledger.registrations(term, student)
    held = {each.section for each in registrations.enrolled}
    return held | {each.section for each in registrations.waiting}


# Access to rosters.


def may_see_roster(visitor: Visitor, section: int) -> bool:
    """Return whether the visitor teaches or schedules the section, or may see every roster."""
    if visitor.may(Right.SEE_ROSTERS):
        return True
    taught = select(section_instructors.c.section_id).where(
        section_instructors.c.section_id == section,
        section_instructors.c.instructor_id.in_(visitor.instructor_ids),
    )
    scheduled = (
        select(Section.id)
        .join(Course, Course.id == Section.course_id)
        .where(Section.id == section, Course.department_id.in_(visitor.departments))
    )
    with transaction() as session:
        return session.execute(taught.union(scheduled)).first() is not None
