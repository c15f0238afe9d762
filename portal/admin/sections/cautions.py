"""What an admin should know of a section as it is to be: nothing of it forbids anything."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, combinations

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog import cohort_names, linked_courses, requisites
from portal.catalog.models import Course, Room
from portal.catalog.models import Subject as Field
from portal.catalog.section_fields import SectionDetails
from portal.catalog.term_catalog import TermCatalog
from portal.catalog.time_conflicts import clash, meet
from portal.catalog.views import MeetingView, SectionView
from portal.core.i18n import _, _n
from portal.people.models import Student
from portal.windows import cohorts

SHOWN = 12  # clashes that are named; more would hide what matters
COLUMNS = {"classification": "year"}  # of a student, where a restriction calls it otherwise


@dataclass(frozen=True)
class Subject:
    """A section as it is to be, among the others of its term; `id` is 0 where it is new."""

    id: int
    course_code: str
    details: SectionDetails
    offered: TermCatalog


def cautions(session: Session, subject: Subject) -> list[str]:
    """Kept seats that help nobody, names that nothing else has, and clashes, each in a sentence."""
    return [
        *kept(session, subject.details),
        *doubtful(subject),
        *unknown(session, subject.details),
        *unheard_of(session, subject.details),
        *list(clashes(subject))[:SHOWN],
    ]


def kept(session: Session, details: SectionDetails) -> Iterator[str]:
    """Seats that are kept for nobody, no longer, or though they are not there."""
    number = sum(each.seats for each in details.reserves)
    if number > details.capacity:
        yield _n(
            "%(kept)s seats are kept for cohorts, but there is %(num)s.",
            "%(kept)s seats are kept for cohorts, but there are %(num)s.",
            details.capacity,
            kept=number,
        )
    for each in details.reserves:
        whom = cohort_names.describe(each.cohort)
        if each.until and each.until <= datetime.now(UTC):
            yield _("The time of the seats for %(whom)s is over: they are open.", whom=whom)
        elif not cohorts.count_students(session, dict(each.cohort)):
            yield _("Seats are kept for %(whom)s, but there is no such student.", whom=whom)


def doubtful(subject: Subject) -> Iterator[str]:
    """A number that another section of the course has, and a course that asks for itself."""
    name = f"{requisites.shown(subject.course_code)}-{subject.details.number}"
    for other in subject.offered.sections:
        code, number = other.course_code, other.number
        same = (code, number) == (subject.course_code, subject.details.number)
        if same and other.id != subject.id and other.status != "CANCELED":
            yield _(
                "There is a %(name)s in this term already: CRN %(crn)s.", name=name, crn=other.crn
            )
    if subject.course_code in requisites.codes(subject.details.corequisites):
        yield _(
            "%(course)s is asked for along with itself, so that nobody new could take it.",
            course=requisites.shown(subject.course_code),
        )


def unheard_of(session: Session, details: SectionDetails) -> Iterator[str]:
    """Restrictions to what no student's record says."""
    for kind in dict.fromkeys(kind for _rule, kind, _value in details.restrictions):
        known = {" ".join(each.casefold().split()): each for each in _recorded(session, kind)}
        for value in (value for _rule, each, value in details.restrictions if each == kind):
            if known and " ".join(value.casefold().split()) not in known:
                said = cohort_names.join_names(sorted(known.values()), SHOWN)
                yield _(
                    "No student’s record says “%(value)s” (%(kind)s). Known are: %(names)s.",
                    value=value,
                    kind=kind.replace("_", " "),
                    names=said,
                )


def _recorded(session: Session, kind: str) -> Iterable[str]:
    """What a restriction of that kind can name; nothing where no student has any."""
    if kind in {"major", "field_of_study"}:
        rows = session.execute(select(Field.code, Field.name))
        return [each for row in rows for each in row if each]
    column = getattr(Student, COLUMNS.get(kind, kind))
    return [each for each in session.scalars(select(column).distinct()) if each]


def clashes(subject: Subject) -> Iterator[str]:
    """Meetings that can't all be held, or not by everyone who should come."""
    yield from _inside(subject.details.meetings)
    for other in subject.offered.sections:
        if other.id != subject.id and other.status != "CANCELED" and not _twins(subject, other):
            yield from _with(subject.details, other)
    yield from _linked(subject)


def unknown(session: Session, details: SectionDetails) -> Iterator[str]:
    """Rooms and courses that are named and not known."""
    rooms = dict.fromkeys(each.room for each in details.meetings if each.room)
    known = set(session.scalars(select(Room.name).where(Room.name.in_(rooms))))
    for room in rooms.keys() - known:
        yield _("“%(room)s” is a room that is not known yet; it will be added.", room=room)
    needed = (requisites.codes(details.prerequisites), requisites.codes(details.corequisites))
    codes = dict.fromkeys(chain(*needed, details.cross_lists))
    known = set(session.scalars(select(Course.code).where(Course.code.in_(codes))))
    for code in codes:
        if code not in known:
            yield _("There is no course with the code %(code)s.", code=requisites.shown(code))


def _inside(meetings: Iterable[MeetingView]) -> Iterator[str]:
    for one, other in combinations(meetings, 2):
        if meet(one, other):
            yield _("Two of its own meetings are at the same time: %(times)s.", times=_times(other))


def _twins(subject: Subject, other: SectionView) -> bool:
    """Whether one is the other under another code, so that they meet together."""
    named = other.course_code in subject.details.cross_lists
    return named or subject.course_code in other.cross_lists


def _with(details: SectionDetails, other: SectionView) -> Iterator[str]:
    pairs = [(a, b) for a in details.meetings for b in other.meetings if meet(a, b)]
    if not pairs:
        return
    facts = {"section": f"{requisites.shown(other.course_code)}-{other.number}"}
    for room in dict.fromkeys(a.room for a, b in pairs if a.room and a.room == b.room):
        times = next(_times(b) for a, b in pairs if a.room == room == b.room)
        yield _(
            "%(room)s is taken by %(section)s at the same time (%(times)s).",
            room=room,
            times=times,
            **facts,
        )
    for teacher in details.teachers:
        if teacher.id in other.teacher_ids:
            times = _times(pairs[0][1])
            yield _(
                "%(teacher)s teaches %(section)s at the same time (%(times)s).",
                teacher=teacher.name,
                times=times,
                **facts,
            )


def _linked(subject: Subject) -> Iterator[str]:
    """A course that is to be taken along with it must leave one of its sections possible."""
    card = subject.offered.section(subject.id)
    if card is None:
        return
    wanted = replace(
        card, meetings=subject.details.meetings, corequisites=subject.details.corequisites
    )
    for partners in linked_courses.sections(wanted, subject.offered):
        if all(clash(wanted, each) for each in partners):
            yield _(
                "Every open section of %(course)s, which is taken along with it,"
                " meets at the same time, so nobody could take both.",
                course=requisites.shown(partners[0].course_code),
            )


def _times(meeting: MeetingView) -> str:
    return f"{meeting.days} {meeting.times}"
