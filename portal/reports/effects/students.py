"""The students who are affected by a change of a section, by name."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, literal, select, union_all
from sqlalchemy.orm import Session, aliased

from portal.catalog import requisites
from portal.catalog.term_catalog import TermCatalog
from portal.catalog.time_conflicts import meet
from portal.catalog.views import MeetingView, SectionView
from portal.core.i18n import _
from portal.people.models import Account, Student
from portal.recorder.models import Enrollment, WaitlistEntry
from portal.registration.next_steps import section_name

SHOWN = 200  # names on the page; the results page lists all


@dataclass(frozen=True)
class AffectedStudent:
    """A student with a seat or a waitlist position, and notes on both."""

    id: int
    name: str
    number: str
    waits: bool = False
    clashes: tuple[str, ...] = ()


def people(session: Session, section: int) -> list[AffectedStudent]:
    """Return everyone with a seat or a waitlist position, seats first; one more than shown."""
    return people_of(session, [section])[section]


def people_of(session: Session, sections: Sequence[int]) -> dict[int, list[AffectedStudent]]:
    """Return the same for each of several sections."""
    seats, places = Enrollment, WaitlistEntry
    held = seats.section_id.in_(sections), seats.state == "enrolled"
    waiting = places.section_id.in_(sections), places.state.in_(("waiting", "passed"))
    part = union_all(
        select(seats.section_id, seats.student_id, literal(0).label("waits")).where(*held),
        select(places.section_id, places.student_id, literal(1)).where(*waiting),
    ).subquery()
    rows = session.execute(
        _named()
        .add_columns(part.c.section_id, part.c.waits)
        .join(part, part.c.student_id == Student.id)
        .order_by(part.c.waits, Account.name)
    )
    found: dict[int, list[AffectedStudent]] = {section: [] for section in sections}
    for row in rows:
        if len(found[row.section_id]) <= SHOWN:
            found[row.section_id].append(
                AffectedStudent(row.id, row.name, row.number, bool(row.waits))
            )
    return found


def clashing(
    session: Session, section: int, offered: TermCatalog, new: Sequence[MeetingView]
) -> list[AffectedStudent]:
    """Return those with a seat who have a clash with these meetings, and the clash."""
    here, there = aliased(Enrollment), aliased(Enrollment)
    other_seats = (
        select(there.student_id, there.section_id)
        .join(here, (here.student_id == there.student_id) & (here.term_id == there.term_id))
        .where(here.section_id == section, here.state == "enrolled", there.state == "enrolled")
        .where(there.section_id != section)
        .order_by(there.student_id, there.section_id)
    )
    found: dict[int, list[str]] = {}
    for student, other in session.execute(other_seats):
        view = offered.section(other)
        if view and view.status != "CANCELED" and (text := _clash(new, view)):
            found.setdefault(student, []).append(text)
    rows = session.execute(_named().where(Student.id.in_(found)).order_by(Account.name))
    return [
        AffectedStudent(row.id, row.name, row.number, clashes=tuple(found[row.id])) for row in rows
    ]


def _named() -> Select[int, str, str]:
    return select(Student.id, Account.name, Student.number).join(Student.account)


def _clash(meetings: Sequence[MeetingView], other: SectionView) -> str:
    """Return the other section and its times that clash; blank if none do."""
    times = [
        f"{each.days} {each.times}"
        for each in other.meetings
        if any(meet(each, one) for one in meetings)
    ]
    if not times:
        return ""
    name, times_named = section_name(other), requisites.all_of(times)
    return _("with %(name)s (%(times)s)", name=name, times=times_named)
