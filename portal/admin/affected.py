"""The students whom a change of a section affects, by name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, literal, select, union_all
from sqlalchemy.orm import Session, aliased

from portal.catalog.board import Board
from portal.catalog.cards import Card, MeetingView
from portal.people.models import Account, Student
from portal.record.models import Enrollment, WaitlistPlace
from portal.seats import trees
from portal.seats.clashes import meet
from portal.words import _

SHOWN = 200  # that are named; the page of the results lists them all


@dataclass(frozen=True)
class Person:
    """A student with a seat or a place on the waitlist, and what is to be said of it."""

    id: int
    name: str
    number: str
    waits: bool
    clashes: tuple[str, ...] = ()


def people(session: Session, section: int) -> list[Person]:
    """Everyone with a part in the section as recorded, seats first; one more than are shown."""
    seats, places = Enrollment, WaitlistPlace
    waiting = places.state.in_(("waiting", "passed"))
    part = union_all(
        select(seats.student_id, literal(0).label("waits")).where(
            seats.section_id == section, seats.state == "enrolled"
        ),
        select(places.student_id, literal(1)).where(places.section_id == section, waiting),
    ).subquery()
    found = _named().add_columns(part.c.waits).join(part, part.c.student_id == Student.id)
    rows = session.execute(found.order_by(part.c.waits, Account.name).limit(SHOWN + 1))
    return [Person(*row[:3], waits=bool(row.waits)) for row in rows]


def clashing(
    session: Session, section: int, offered: Board, new: Sequence[MeetingView]
) -> list[Person]:
    """Those with a seat for whom these meetings of the section clash, and with what."""
    told: dict[int, list[str]] = {}
    for student, other in session.execute(_others(section)):
        card = offered.card(other)
        if card and card.status != "CANCELED" and (text := _clash(new, card)):
            told.setdefault(student, []).append(text)
    rows = session.execute(_named().where(Student.id.in_(told)).order_by(Account.name))
    return [Person(*row, waits=False, clashes=tuple(told[row.id])) for row in rows]


def _named() -> Select[int, str, str]:
    return select(Student.id, Account.name, Student.number).join(Account)


def _others(section: int) -> Select[int, int]:
    """Each other seat of those who have one here: student and section."""
    here, there = aliased(Enrollment), aliased(Enrollment)
    return (
        select(there.student_id, there.section_id)
        .join(here, (here.student_id == there.student_id) & (here.term_id == there.term_id))
        .where(here.section_id == section, here.state == "enrolled", there.state == "enrolled")
        .where(there.section_id != section)
        .order_by(there.student_id, there.section_id)
    )


def _clash(meetings: Iterable[MeetingView], other: Card) -> str:
    """What clashes and when; blank where nothing does."""
    mine = list(meetings)
    times = [
        f"{each.days} {each.times}"
        for each in other.meetings
        if any(meet(each, one) for one in mine)
    ]
    name = f"{trees.shown(other.course_code)}-{other.number}"
    return _("with %(name)s (%(times)s)", name=name, times=trees.all_of(times)) if times else ""
