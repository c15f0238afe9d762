"""The effects of a change of a section or of a seat pool, in sentences, before it is made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, combinations

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import cohort_names, linked_courses, requisites
from portal.catalog.models import Course, Room, Subject
from portal.catalog.seat_pools import SeatPool
from portal.catalog.section_fields import SectionDetails
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


@dataclass(frozen=True)
class Occupancy:
    """The number of students of a section in the ledger; `prior` were imported without names."""

    taken: int
    waiting: int
    prior: int
    held: Mapping[int, int] = field(default_factory=dict)  # seats under its reserves, by reserve
    seats: SeatCounts | None = None

    @property
    def anyone(self) -> bool:
        """Return whether a student known by name has a seat or a waitlist position."""
        return self.taken > self.prior or self.waiting > 0


def seats_of(stored: StoredSection) -> SeatCounts | None:
    """Return its counts; None if the ledger does not know it."""
    return backend().ledger.seats_of(stored.term_id, [stored.id]).get(stored.id)


def occupancy(stored: StoredSection, seats: SeatCounts | None) -> Occupancy:
    """Return its current students; no one if the ledger does not know the section."""
    if seats is None:
        return Occupancy(0, 0, stored.prior)
    held = backend().ledger.reserved(stored.term_id, stored.id) if stored.details.reserves else {}
    return Occupancy(seats.taken, seats.waiting, stored.prior, held, seats)


def effects(
    session: Session,
    stored: StoredSection,
    wanted: SectionDetails,
    now: Occupancy,
    offered: TermCatalog,
) -> list[str]:
    """Return the effects of the change, and how many students each concerns."""
    if stored.status == "NEW":
        return [_("It is a draft, so no student sees any of this.")]
    said = [*_whom(now), *_seats(stored, wanted, now), *_waitlist(stored, wanted, now)]
    said += _reserved(session, stored, wanted, now)
    if stored.details.meetings != wanted.meetings and now.taken:
        said += _new_times(clashing(session, stored, wanted, offered))
    if any(getattr(stored.details, name) != getattr(wanted, name) for name in HARDER):
        said.append(
            _(
                "Who may take it is asked anew of everyone who picks it or comes up on its"
                " waitlist from now on; seats that are held stay held."
            )
        )
    said += _newly_linked(stored, wanted, offered)
    if stored.details.credits != wanted.credits and now.taken:
        said.append(_("Seats that are held keep the credits that they were taken for."))
    return said


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
            "It becomes linked with %(courses)s, as each names the other: students pick, plan and"
            " cancel them together.",
            courses=requisites.all_of([requisites.shown(code) for code in codes]),
        )


def needs_reason(stored: StoredSection, wanted: SectionDetails, now: Occupancy) -> bool:
    """Return whether the change takes something from students, so that it needs a reason."""
    old = stored.details
    if stored.status == "NEW":
        return False
    less = wanted.capacity < old.capacity or wanted.waitlist < old.waitlist
    harder = any(
        getattr(wanted, name) and getattr(wanted, name) != getattr(old, name) for name in HARDER
    )
    other = bool(now.taken or now.waiting) and (
        wanted.meetings != old.meetings or wanted.credits != old.credits
    )
    return less or harder or other or wanted.reserves != old.reserves


def _whom(now: Occupancy) -> Iterator[str]:
    if not (now.taken or now.waiting):
        yield _("Nobody has a seat in it or waits for one.")
        return
    seats = _n("%(num)s seat is taken", "%(num)s seats are taken", now.taken)
    waiting = _n("%(num)s student waits", "%(num)s students wait", now.waiting)
    yield _("%(seats)s, %(waiting)s.", seats=seats, waiting=waiting)


def _seats(stored: StoredSection, wanted: SectionDetails, now: Occupancy) -> Iterator[str]:
    old, new = stored.details.capacity, wanted.capacity
    if new < now.taken and new != old:
        yield _n(
            "That is %(num)s seat fewer than are taken. Nobody is thrown out; a seat is given"
            " again only once enough have been given up.",
            "That is %(num)s seats fewer than are taken. Nobody is thrown out; a seat is given"
            " again only once enough have been given up.",
            now.taken - new,
        )
    if now.seats and (new > old or wanted.reserves != stored.details.reserves):
        left = reserved_left(wanted.reserves, now.held)
        yield from outlook_in_words(waitlist_outlook(replace(now.seats, capacity=new, kept=left)))


def _reserved(
    session: Session, stored: StoredSection, wanted: SectionDetails, now: Occupancy
) -> Iterator[str]:
    if wanted.reserves == stored.details.reserves:
        return
    lasting = [each for each in wanted.reserves if is_active(each)]
    for each in lasting:
        number = cohorts.count_students(session, dict(each.cohort))
        yield _n(
            "%(whom)s: that is %(num)s student.",
            "%(whom)s: those are %(num)s students.",
            number,
            whom=cohort_names.describe(each.cohort),
        )
    free = max(0, wanted.capacity - now.taken)
    closed = min(free, reserved_left(lasting, now.held))
    yield _n(
        "Of %(num)s free seat, %(kept)s will be kept and %(open)s open to everyone.",
        "Of %(num)s free seats, %(kept)s will be kept and %(open)s open to everyone.",
        free,
        kept=closed,
        open=free - closed,
    )
    yield _("Nobody loses a seat by it. Everyone in line is asked again, in their order.")


def _waitlist(stored: StoredSection, wanted: SectionDetails, now: Occupancy) -> Iterator[str]:
    if wanted.waitlist < now.waiting and wanted.waitlist != stored.details.waitlist:
        yield _("Everyone who waits keeps the place; nobody can join until the line is shorter.")


def clashing(
    session: Session, stored: StoredSection, wanted: SectionDetails, offered: TermCatalog
) -> list[affected.AffectedStudent]:
    """Return those with a seat whose other sections newly clash with the changed times."""
    if stored.details.meetings == wanted.meetings:
        return []
    before = affected.clashing(session, stored.id, offered, stored.details.meetings)
    known = {(person.id, clash) for person in before for clash in person.clashes}
    after = affected.clashing(session, stored.id, offered, wanted.meetings)
    return [each for each in after if {(each.id, clash) for clash in each.clashes} - known]


def _new_times(troubled: Sequence[affected.AffectedStudent]) -> Iterator[str]:
    if troubled:
        yield _n(
            "For %(num)s student with a seat the new times clash with another section of theirs."
            " The seat stays theirs.",
            "For %(num)s students with a seat the new times clash with another section of"
            " theirs. The seats stay theirs.",
            len(troubled),
        )
    else:
        yield _("The new times clash with no other section of those who have a seat.")


# Warnings about a planned section: none of them prevents the change.

SHOWN = 12  # clashes in the list; more would hide what matters
# Names of students' columns that differ from those of restrictions.
COLUMNS = {"classification": "year"}


@dataclass(frozen=True)
class PlannedSection:
    """A section as planned, among the others of its term; `id` is 0 for a new one."""

    id: int
    course_code: str
    details: SectionDetails
    offered: TermCatalog


def warnings(session: Session, planned: PlannedSection) -> list[str]:
    """Return warnings on useless reserves, unknown names, and clashes, a sentence each."""
    return [
        *_unused_reserves(session, planned.details),
        *_doubtful(planned),
        *_unknown_names(session, planned.details),
        *_unknown_values(session, planned.details),
        *list(_conflicts(planned))[:SHOWN],
    ]


def _unused_reserves(session: Session, details: SectionDetails) -> Iterator[str]:
    """Yield reserves for no student, reserves that have ended, and more of them than seats."""
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


def _doubtful(planned: PlannedSection) -> Iterator[str]:
    """Yield a number used by another section of the course, and a course that requires itself."""
    name = f"{requisites.shown(planned.course_code)}-{planned.details.number}"
    for other in planned.offered.sections:
        code, number = other.course_code, other.number
        same = (code, number) == (planned.course_code, planned.details.number)
        if same and other.id != planned.id and other.status != "CANCELED":
            yield _(
                "There is a %(name)s in this term already: CRN %(crn)s.", name=name, crn=other.crn
            )
    if planned.course_code in requisites.codes(planned.details.corequisites):
        yield _(
            "%(course)s is asked for along with itself, so that nobody new could take it.",
            course=requisites.shown(planned.course_code),
        )


def _unknown_values(session: Session, details: SectionDetails) -> Iterator[str]:
    """Yield restrictions to values that no student record has."""
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
    """Return the values that a restriction of that kind can name; empty if no student has one."""
    if kind in {"major", "field_of_study"}:
        rows = session.execute(select(Subject.code, Subject.name))
        return [each for row in rows for each in row if each]
    column = getattr(Student, COLUMNS.get(kind, kind))
    return [each for each in session.scalars(select(column).distinct()) if each]


def _conflicts(planned: PlannedSection) -> Iterator[str]:
    """Yield meetings that conflict with each other, or for some of their participants."""
    yield from _own_conflicts(planned.details.meetings)
    for other in planned.offered.sections:
        if (
            other.id != planned.id
            and other.status != "CANCELED"
            and not _same_class(planned, other)
        ):
            yield from _conflicts_with(planned.details, other)
    yield from _impossible_corequisites(planned)


def _unknown_names(session: Session, details: SectionDetails) -> Iterator[str]:
    """Yield unknown rooms and courses."""
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


def _own_conflicts(meetings: Iterable[MeetingView]) -> Iterator[str]:
    for one, other in combinations(meetings, 2):
        if meet(one, other):
            yield _("Two of its own meetings are at the same time: %(times)s.", times=_times(other))


def _same_class(planned: PlannedSection, other: SectionView) -> bool:
    """Return whether both are the same class under two codes, so that they meet together."""
    named = other.course_code in planned.details.cross_lists
    return named or planned.course_code in other.cross_lists


def _conflicts_with(details: SectionDetails, other: SectionView) -> Iterator[str]:
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


def _impossible_corequisites(planned: PlannedSection) -> Iterator[str]:
    """Yield corequisites whose sections all clash with this one."""
    card = planned.offered.section(planned.id)
    if card is None:
        return
    wanted = replace(
        card, meetings=planned.details.meetings, corequisites=planned.details.corequisites
    )
    for partners in linked_courses.sections(wanted, planned.offered):
        if all(clash(wanted, each) for each in partners):
            yield _(
                "Every open section of %(course)s, which is taken along with it,"
                " meets at the same time, so nobody could take both.",
                course=requisites.shown(partners[0].course_code),
            )


def _times(meeting: MeetingView) -> str:
    return f"{meeting.days} {meeting.times}"


# Seat pools.


def pool_effects(now: SeatPool, wanted: SeatPool, term_id: int) -> list[str]:
    """Return the effects, and how many students each concerns."""
    counts = backend().ledger.seats_of(term_id, sorted(wanted.ids))
    taken = sum(each.taken for each in counts.values())
    if len(wanted.members) == 1 or not wanted.members:
        return [_("Each section has its own seats alone. Seats that are held stay held.")]
    said = [
        _n(
            "%(num)s seat is taken in these sections together.",
            "%(num)s seats are taken in these sections together.",
            taken,
        ),
        _("A seat is given where both the section and the shared seats have one left."),
    ]
    if wanted.capacity < taken:
        said.append(
            _n(
                "That is %(num)s seat fewer than are taken. Nobody is thrown out; a seat is given"
                " again only once enough have been given up.",
                "That is %(num)s seats fewer than are taken. Nobody is thrown out; a seat is given"
                " again only once enough have been given up.",
                taken - wanted.capacity,
            )
        )
    gone = [each.name for each in now.members if each.id not in wanted.ids]
    if gone:
        said.append(
            _("Out of it, with its own seats alone: %(names)s.", names=requisites.all_of(gone))
        )
    return said


def pool_warnings(wanted: SeatPool, offered: TermCatalog) -> list[str]:
    """Return warnings for an admin: none of them prevents the change."""
    return [
        said for card in offered.some(sorted(wanted.ids)) for said in _pool_warnings(card, wanted)
    ]


def _pool_warnings(card: SectionView, wanted: SeatPool) -> Iterator[str]:
    if len(wanted.members) > 1 and card.status == "NEW":
        yield _("%(name)s is a draft: it takes part once it is published.", name=section_name(card))
    if len(wanted.members) > 1 and card.capacity < wanted.capacity:
        yield _n(
            "%(name)s has %(num)s seat of its own: no more than that of the shared ones go there.",
            "%(name)s has %(num)s seats of its own: no more than that of the shared ones go there.",
            card.capacity,
            name=section_name(card),
        )
