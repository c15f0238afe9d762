"""Warnings about a planned section or seat pool; none of them prevents the change."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, combinations

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog import cohort_names, linked_courses, requisites
from portal.catalog.models import Course, Room, Subject
from portal.catalog.rooms import is_one_class, too_large
from portal.catalog.seat_pools import SeatPool
from portal.catalog.section_fields import SectionDetails
from portal.catalog.term_catalog import TermCatalog
from portal.catalog.time_conflicts import clash, meet
from portal.catalog.views import MeetingView, SectionView
from portal.core.i18n import _, _n
from portal.people.models import Student, StudentSubject
from portal.registration.next_steps import section_name
from portal.registration.seat_counts import is_active
from portal.windows import cohorts

SHOWN = 12  # conflicts in the list; more would hide what matters
# Names of students' columns that differ from those of restrictions.
COLUMNS = {"classification": "year"}


def of_section(
    session: Session,
    offered: TermCatalog,
    course_code: str,
    details: SectionDetails,
    section_id: int = 0,
) -> list[str]:
    """Return warnings on useless reserves, unknown names, and clashes, a sentence each."""
    others = [
        each for each in offered.sections if each.id != section_id and each.status != "CANCELED"
    ]
    mine = offered.section(section_id)
    pool = mine.pool if mine else None
    others_classes = [
        each for each in others if not is_one_class(course_code, details.cross_lists, pool, each)
    ]
    conflicts = [
        *_own_conflicts(details),
        *(warning for each in others_classes for warning in _conflicts_with(details, each)),
        *_impossible_corequisites(offered, section_id, details),
    ]
    return [
        *_unused_reserves(session, details),
        *_doubtful(course_code, details, others),
        *_small_rooms(session, details),
        *_unknown_names(session, details),
        *_unknown_values(session, details),
        *_shortened(conflicts),
    ]


def _shortened(warnings: list[str]) -> list[str]:
    """Return the first of many warnings, and how many more there are."""
    more = len(warnings) - SHOWN
    if more <= 0:
        return warnings
    return [
        *warnings[:SHOWN],
        _n("And %(num)s more conflict.", "And %(num)s more conflicts.", more),
    ]


def _unused_reserves(session: Session, details: SectionDetails) -> Iterator[str]:
    """Yield reserves for no student, reserves that have ended, and more of them than seats."""
    number = sum(each.seats for each in details.reserves)
    if number > details.capacity:
        yield _n(
            "%(kept)s seats are reserved, but the section has only %(num)s.",
            "%(kept)s seats are reserved, but the section has only %(num)s.",
            details.capacity,
            kept=number,
        )
    for each in details.reserves:
        cohort = cohort_names.describe(each.cohort)
        if not is_active(each):
            yield _(
                "The reservation for %(whom)s has ended. These seats are open to everyone.",
                whom=cohort,
            )
        elif not cohorts.count_students(session, dict(each.cohort)):
            yield _("Seats are reserved for %(whom)s, but no student matches.", whom=cohort)


def _doubtful(
    course_code: str, details: SectionDetails, others: Iterable[SectionView]
) -> Iterator[str]:
    """Yield a number used by another section of the course, and a course that requires itself."""
    name = f"{requisites.shown(course_code)}-{details.number}"
    for other in others:
        if (other.course_code, other.number) == (course_code, details.number):
            yield _(
                "This term already has a section %(name)s: CRN %(crn)s.", name=name, crn=other.crn
            )
    if course_code in requisites.codes(details.corequisites):
        yield _(
            "%(course)s is its own corequisite, so no new student could take it.",
            course=requisites.shown(course_code),
        )


def _small_rooms(session: Session, details: SectionDetails) -> Iterator[str]:
    """Yield rooms with fewer seats than the section."""
    names = {each.room for each in details.meetings if each.room}
    found = select(Room).where(Room.name.in_(names), Room.deleted_at.is_(None)).order_by(Room.name)
    for room in session.scalars(found):
        if too_large(details.capacity, room.seats):
            yield _n(
                "%(room)s has only %(num)s seat.",
                "%(room)s has only %(num)s seats.",
                room.seats or 0,
                room=room.name,
            )


def _unknown_names(session: Session, details: SectionDetails) -> Iterator[str]:
    """Yield unknown rooms and courses."""
    rooms = dict.fromkeys(each.room for each in details.meetings if each.room)
    found = select(Room.name, Room.deleted_at).where(Room.name.in_(rooms))
    deleted = dict(session.execute(found).all())
    for room in rooms:
        if room not in deleted:
            yield _("“%(room)s” is a new room. It will be added.", room=room)
        elif deleted[room]:
            yield _("The room “%(room)s” is deleted. It will be restored.", room=room)
    needed = (requisites.codes(details.prerequisites), requisites.codes(details.corequisites))
    codes = dict.fromkeys(chain(*needed, details.cross_lists))
    known = set(
        session.scalars(
            select(Course.code).where(Course.code.in_(codes), Course.deleted_at.is_(None))
        )
    )
    for code in codes:
        if code not in known:
            yield _("No course has the code %(code)s.", code=requisites.shown(code))


def _unknown_values(session: Session, details: SectionDetails) -> Iterator[str]:
    """Yield restrictions to values that no student record has."""
    for kind in dict.fromkeys(kind for _rule, kind, _value in details.restrictions):
        known = {" ".join(each.casefold().split()): each for each in _recorded(session, kind)}
        for value in (value for _rule, each, value in details.restrictions if each == kind):
            if known and " ".join(value.casefold().split()) not in known:
                names = cohort_names.join_names(sorted(known.values()), SHOWN)
                yield _(
                    "No student record has “%(value)s” (%(kind)s). Known values: %(names)s.",
                    value=value,
                    kind=kind.replace("_", " "),
                    names=names,
                )


def _recorded(session: Session, kind: str) -> Iterable[str]:
    """Return the values that a restriction of that kind can name; empty if no student has one.

    A major that neither a department nor a student has may come from an imported restriction.
    """
    if kind == "program":
        return [*_recorded(session, "degree"), *_recorded(session, "major")]
    if kind in {"major", "field_of_study"}:
        of_students = Subject.id.in_(select(StudentSubject.subject_id))
        real = Subject.department_id.is_not(None) | of_students
        live = Subject.deleted_at.is_(None)
        rows = session.execute(select(Subject.code, Subject.name).where(live, real))
        return [each for row in rows for each in row if each]
    column = getattr(Student, COLUMNS.get(kind, kind))
    return [each for each in session.scalars(select(column).distinct()) if each]


def _own_conflicts(details: SectionDetails) -> Iterator[str]:
    for one, other in combinations(details.meetings, 2):
        if meet(one, other):
            yield _(
                "Two meetings of this section are at the same time: %(times)s.", times=_times(other)
            )


def _conflicts_with(details: SectionDetails, other: SectionView) -> Iterator[str]:
    """Yield rooms and teachers in two places."""
    pairs = [(a, b) for a in details.meetings for b in other.meetings if meet(a, b)]
    if not pairs:
        return
    name = section_name(other)
    rooms: dict[str, MeetingView] = {}
    for mine, theirs in pairs:
        if mine.room and mine.room == theirs.room:
            rooms.setdefault(mine.room, theirs)
    for room, meeting in rooms.items():
        yield _(
            "%(room)s is taken by %(section)s at the same time (%(times)s).",
            room=room,
            times=_times(meeting),
            section=name,
        )
    for instructor in details.instructors:
        if instructor.id in other.instructor_ids:
            yield _(
                "%(instructor)s teaches %(section)s at the same time (%(times)s).",
                instructor=instructor.name,
                times=_times(pairs[0][1]),
                section=name,
            )


def _impossible_corequisites(
    offered: TermCatalog, section_id: int, details: SectionDetails
) -> Iterator[str]:
    """Yield corequisites whose sections all clash with this one."""
    section = offered.section(section_id)
    if section is None:
        return
    wanted = replace(section, meetings=details.meetings, corequisites=details.corequisites)
    for corequisites in linked_courses.sections(wanted, offered):
        if all(clash(wanted, each) for each in corequisites):
            yield _(
                "Every open section of its corequisite %(course)s meets at the same time, so"
                " students can’t take both.",
                course=requisites.shown(corequisites[0].course_code),
            )


def _times(meeting: MeetingView) -> str:
    return f"{meeting.days} {meeting.times}"


def of_pool(wanted: SeatPool, offered: TermCatalog) -> Iterator[str]:
    """Yield warnings about a planned seat pool."""
    for section in offered.some(sorted(wanted.ids)) if len(wanted.members) > 1 else ():
        if section.status == "NEW":
            yield _(
                "%(name)s is a draft. It shares seats after you publish it.",
                name=section_name(section),
            )
        if section.capacity < wanted.capacity:
            yield _n(
                "%(name)s has %(num)s seat, so it can use at most that many of the shared ones.",
                "%(name)s has %(num)s seats, so it can use at most that many of the shared ones.",
                section.capacity,
                name=section_name(section),
            )
