"""What a change of a section or of a seat pool means, in sentences, before it is made."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import cohort_names, linked_courses, requisites
from portal.catalog.models import Course, Room, Subject
from portal.catalog.seat_pools import SeatPool
from portal.catalog.section_fields import FIELDS, SectionDetails
from portal.catalog.sections import StoredSection
from portal.catalog.term_catalog import TermCatalog
from portal.catalog.time_conflicts import clash, meet
from portal.catalog.views import MeetingView, SectionView
from portal.core.i18n import _, _n
from portal.ledger.types import SeatCounts
from portal.people.models import Student
from portal.registration.next_steps import section_name
from portal.registration.seat_counts import (
    is_active,
    outlook_in_words,
    reserved_left,
    waitlist_outlook,
)
from portal.web.admin import affected
from portal.windows import cohorts

HARDER = ("prerequisites", "corequisites", "restrictions")
SHOWN = 12  # clashes in the list; more would hide what matters
# Names of students' columns that differ from those of restrictions.
COLUMNS = {"classification": "year"}


@dataclass(frozen=True)
class Occupancy:
    """The number of students of a section in the ledger; `prior` were imported without names."""

    taken: int
    waiting: int
    prior: int
    seats: SeatCounts | None  # None if the ledger does not know the section

    @property
    def anyone(self) -> bool:
        """Return whether a student known by name has a seat or a waitlist position."""
        return self.taken > self.prior or self.waiting > 0


@dataclass(frozen=True)
class Effects:
    """What a change means to students, and whether it takes something so that it needs a reason."""

    said: list[str]
    needs_reason: bool = False
    clashing: list[affected.AffectedStudent] = field(default_factory=list)  # by the new times


def occupancy(stored: StoredSection) -> Occupancy:
    """Return the section's current students."""
    seats = backend().ledger.seats_of(stored.term_id, [stored.id]).get(stored.id)
    if seats is None:
        return Occupancy(0, 0, stored.prior, None)
    return Occupancy(seats.taken, seats.waiting, stored.prior, seats)


def of_change(
    session: Session, stored: StoredSection, wanted: SectionDetails, offered: TermCatalog
) -> Effects:
    """Return the effects of the changed fields, and how many students each concerns."""
    if stored.status == "NEW":
        return Effects([_("This section is a draft. Students can’t see it.")])
    old, now = stored.details, occupancy(stored)
    changed = {name for name in FIELDS if getattr(old, name) != getattr(wanted, name)}
    known = now.seats and old.reserves
    held = backend().ledger.reserved(stored.term_id, stored.id) if known else {}
    sentences, clashing = [_people_affected(now)], []
    if "capacity" in changed:
        sentences += _too_few(now.taken - wanted.capacity)
    if now.seats and (wanted.capacity > old.capacity or "reserves" in changed):
        left = reserved_left(wanted.reserves, held)
        then = replace(now.seats, capacity=wanted.capacity, kept=left)
        sentences += outlook_in_words(waitlist_outlook(then))
    if "waitlist" in changed and wanted.waitlist < now.waiting:
        sentences.append(
            _(
                "Waiting students keep their positions. No one can join until the waitlist is"
                " shorter."
            )
        )
    if "reserves" in changed:
        sentences += _reserved(session, wanted, now, held)
    if "meetings" in changed:
        clashing = _clashing(session, stored, wanted, offered)
        sentences += [_new_times(len(clashing))] if now.taken else []
    if changed.intersection(HARDER):
        sentences.append(
            _(
                "The new rules apply to students who register or are promoted from now on."
                " Enrolled students keep their seats."
            )
        )
    sentences += _newly_linked(stored, wanted, offered)
    if "credits" in changed and now.taken:
        sentences.append(_("Enrolled students keep their current credits."))
    needs_reason = (
        "reserves" in changed
        or wanted.capacity < old.capacity
        or wanted.waitlist < old.waitlist
        or any(getattr(wanted, name) for name in changed.intersection(HARDER))
        or (bool(now.taken or now.waiting) and bool(changed & {"meetings", "credits"}))
    )
    return Effects(sentences, needs_reason, clashing)


def _people_affected(now: Occupancy) -> str:
    if not (now.taken or now.waiting):
        return _("No one is enrolled or on the waitlist.")
    seats = _n("%(num)s seat taken", "%(num)s seats taken", now.taken)
    waiting = _n("%(num)s student on the waitlist", "%(num)s students on the waitlist", now.waiting)
    return _("%(seats)s, %(waiting)s.", seats=seats, waiting=waiting)


def _too_few(missing: int) -> list[str]:
    if missing <= 0:
        return []
    return [
        _n(
            "That is %(num)s seat fewer than are taken. No one loses a seat. Freed seats"
            " are assigned again once the section is below capacity.",
            "That is %(num)s seats fewer than are taken. No one loses a seat. Freed seats"
            " are assigned again once the section is below capacity.",
            missing,
        )
    ]


def _reserved(
    session: Session, wanted: SectionDetails, now: Occupancy, held: Mapping[int, int]
) -> Iterator[str]:
    lasting = [each for each in wanted.reserves if is_active(each)]
    for each in lasting:
        yield _n(
            "%(whom)s: %(num)s student.",
            "%(whom)s: %(num)s students.",
            cohorts.count_students(session, dict(each.cohort)),
            whom=cohort_names.describe(each.cohort),
        )
    free = max(0, wanted.capacity - now.taken)
    closed = min(free, reserved_left(lasting, held))
    yield _n(
        "Of %(num)s free seat, %(kept)s will be reserved and %(open)s open to everyone.",
        "Of %(num)s free seats, %(kept)s will be reserved and %(open)s open to everyone.",
        free,
        kept=closed,
        open=free - closed,
    )
    yield _("No one loses a seat. The waitlist is checked again, in order.")


def _clashing(
    session: Session, stored: StoredSection, wanted: SectionDetails, offered: TermCatalog
) -> list[affected.AffectedStudent]:
    """Return those with a seat whose other sections newly clash with the changed times."""
    before = affected.clashing(session, stored.id, offered, stored.details.meetings)
    known = {(person.id, clash) for person in before for clash in person.clashes}
    after = affected.clashing(session, stored.id, offered, wanted.meetings)
    return [each for each in after if {(each.id, clash) for clash in each.clashes} - known]


def _new_times(troubled: int) -> str:
    if not troubled:
        return _("The new times cause no conflicts for enrolled students.")
    return _n(
        "The new times conflict with another section for %(num)s enrolled student. The"
        " student keeps the seat.",
        "The new times conflict with another section for %(num)s enrolled students."
        " They keep their seats.",
        troubled,
    )


def _newly_linked(
    stored: StoredSection, wanted: SectionDetails, offered: TermCatalog
) -> Iterator[str]:
    """Yield that courses become corequisites, because each now names the other."""
    card = offered.section(stored.id)
    if card is None:
        return
    then = replace(card, corequisites=wanted.corequisites)
    new = set(linked_courses.courses(then, offered)) - set(linked_courses.courses(card, offered))
    codes = sorted(code for each in new if (code := offered.course_code(each)))
    if codes:
        yield _(
            "%(courses)s and this course name each other as corequisites. Students add and"
            " drop them together.",
            courses=requisites.all_of([requisites.shown(code) for code in codes]),
        )


# Warnings about a planned section: none of them prevents the change.


def warnings(
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
    conflicts = [
        *_own_conflicts(details),
        *(warning for each in others for warning in _conflicts_with(course_code, details, each)),
        *_impossible_corequisites(offered, section_id, details),
    ]
    return [
        *_unused_reserves(session, details),
        *_doubtful(course_code, details, others),
        *_unknown_names(session, details),
        *_unknown_values(session, details),
        *conflicts[:SHOWN],
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


def _unknown_names(session: Session, details: SectionDetails) -> Iterator[str]:
    """Yield unknown rooms and courses."""
    rooms = dict.fromkeys(each.room for each in details.meetings if each.room)
    known = set(session.scalars(select(Room.name).where(Room.name.in_(rooms))))
    for room in rooms.keys() - known:
        yield _("“%(room)s” is a new room. It will be added.", room=room)
    needed = (requisites.codes(details.prerequisites), requisites.codes(details.corequisites))
    codes = dict.fromkeys(chain(*needed, details.cross_lists))
    known = set(session.scalars(select(Course.code).where(Course.code.in_(codes))))
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
    """Return the values that a restriction of that kind can name; empty if no student has one."""
    if kind in {"major", "field_of_study"}:
        rows = session.execute(select(Subject.code, Subject.name))
        return [each for row in rows for each in row if each]
    column = getattr(Student, COLUMNS.get(kind, kind))
    return [each for each in session.scalars(select(column).distinct()) if each]


def _own_conflicts(details: SectionDetails) -> Iterator[str]:
    for one, other in combinations(details.meetings, 2):
        if meet(one, other):
            yield _(
                "Two meetings of this section are at the same time: %(times)s.", times=_times(other)
            )


def _conflicts_with(course_code: str, details: SectionDetails, other: SectionView) -> Iterator[str]:
    """Yield rooms and teachers in two places, unless both are one class under two codes."""
    if other.course_code in details.cross_lists or course_code in other.cross_lists:
        return
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
    card = offered.section(section_id)
    if card is None:
        return
    wanted = replace(card, meetings=details.meetings, corequisites=details.corequisites)
    for partners in linked_courses.sections(wanted, offered):
        if all(clash(wanted, each) for each in partners):
            yield _(
                "Every open section of its corequisite %(course)s meets at the same time, so"
                " students can’t take both.",
                course=requisites.shown(partners[0].course_code),
            )


def _times(meeting: MeetingView) -> str:
    return f"{meeting.days} {meeting.times}"


# Seat pools


def of_pool(now: SeatPool, wanted: SeatPool, term_id: int) -> Effects:
    """Return the effects of a change of a seat pool, and how many students each concerns."""
    needs_reason = not wanted.ids <= now.ids or wanted.capacity < now.capacity
    if len(wanted.members) <= 1:
        alone = _("The sections no longer share seats. Enrolled students keep their seats.")
        return Effects([alone], needs_reason)
    counts = backend().ledger.seats_of(term_id, sorted(wanted.ids))
    taken = sum(each.taken for each in counts.values())
    sentences = [
        _n(
            "%(num)s seat is taken in these sections in total.",
            "%(num)s seats are taken in these sections in total.",
            taken,
        ),
        _("A student gets a seat if both the section and the shared seats have one free."),
        *_too_few(taken - wanted.capacity),
    ]
    if gone := [each.name for each in now.members if each.id not in wanted.ids]:
        sentences.append(_("No longer sharing seats: %(names)s.", names=requisites.all_of(gone)))
    return Effects(sentences, needs_reason)


def pool_warnings(wanted: SeatPool, offered: TermCatalog) -> Iterator[str]:
    """Yield warnings for an admin: none of them prevents the change."""
    for card in offered.some(sorted(wanted.ids)) if len(wanted.members) > 1 else ():
        if card.status == "NEW":
            yield _(
                "%(name)s is a draft. It shares seats after you publish it.",
                name=section_name(card),
            )
        if card.capacity < wanted.capacity:
            yield _n(
                "%(name)s has %(num)s seat, so it can use at most that many of the shared ones.",
                "%(name)s has %(num)s seats, so it can use at most that many of the shared ones.",
                card.capacity,
                name=section_name(card),
            )
