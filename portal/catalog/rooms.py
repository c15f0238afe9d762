"""The rooms of a term: what meets in them, double bookings, and sections that are too large."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog.models import Room
from portal.catalog.term_catalog import TermCatalog
from portal.catalog.time_conflicts import meet
from portal.catalog.views import MeetingView, SectionView
from portal.core.audit_trail import add_audit_entry
from portal.core.db import ChangedMeanwhile

MAX_WORDS = 8  # of a search

Booking = tuple[SectionView, MeetingView]


@dataclass(frozen=True)
class RoomUse:
    """A room and its bookings in a term, by day and time; canceled sections have none."""

    id: int
    name: str
    seats: int | None  # None if not known
    bookings: tuple[Booking, ...] = ()

    @cached_property
    def double_bookings(self) -> list[tuple[Booking, Booking]]:
        """Return each pair of bookings at the same time that are not one class."""
        return [
            (one, other)
            for one, other in combinations(self.bookings, 2)
            if meet(one[1], other[1]) and not _same_class(one[0], other[0])
        ]

    @cached_property
    def sections(self) -> list[SectionView]:
        """Return the sections that meet here, each once."""
        return list({section.id: section for section, _meeting in self.bookings}.values())

    @cached_property
    def too_large(self) -> list[SectionView]:
        """Return the sections with more seats than the room."""
        return [each for each in self.sections if too_large(each.capacity, self.seats)]

    @property
    def problems(self) -> int:
        """Return the number of double bookings and of sections that are too large."""
        return len(self.double_bookings) + len(self.too_large)


def is_one_class(
    code: str, cross_lists: Sequence[str], pool: int | None, other: SectionView
) -> bool:
    """Return whether a section is one class with another, under two codes or with shared seats."""
    shared = pool is not None and pool == other.pool
    return shared or other.course_code in cross_lists or code in other.cross_lists


def _same_class(one: SectionView, other: SectionView) -> bool:
    mine = one.course_code, one.cross_lists, one.pool
    return one.id == other.id or is_one_class(*mine, other)


def too_large(capacity: int, seats: int | None) -> bool:
    """Return whether a section has more seats than a room; one of unknown size takes all."""
    return seats is not None and capacity > seats


def search(session: Session, text: str, limit: int | None = None) -> list[Room]:
    """Return the rooms whose name has every word, by name, without deleted ones."""
    words = [Room.name.icontains(word, autoescape=True) for word in text.split()[:MAX_WORDS]]
    found = select(Room).where(Room.deleted_at.is_(None), *words).order_by(Room.name).limit(limit)
    return list(session.scalars(found))


def use_of(offered: TermCatalog, rooms: list[Room]) -> list[RoomUse]:
    found = _bookings(offered)
    return [RoomUse(each.id, each.name, each.seats, found.get(each.name, ())) for each in rooms]


def set_seats(  # noqa: PLR0913  the seats before and after, who and why
    session: Session, room_id: int, before: int | None, after: int | None, *, by: int, reason: str
) -> None:
    """Set the number of seats of a room. Raises ChangedMeanwhile if it is not `before` now."""
    room = session.get_one(Room, room_id, with_for_update=True)
    if room.seats == after:
        return
    if room.seats != before:
        raise ChangedMeanwhile
    room.seats = after
    facts = {"before": {"seats": before}, "after": {"seats": after}}
    add_audit_entry(session, "catalog.room", f"room:{room_id}", by=by, reason=reason, **facts)


def _bookings(offered: TermCatalog) -> Mapping[str, tuple[Booking, ...]]:
    found: defaultdict[str, list[Booking]] = defaultdict(list)
    for section in offered.sections:
        for meeting in section.meetings if section.status != "CANCELED" else ():
            if meeting.room:
                found[meeting.room].append((section, meeting))
    return {room: tuple(sorted(each, key=_by_time)) for room, each in found.items()}


def _by_time(booking: Booking) -> tuple[int, int, str, int]:
    section, meeting = booking
    first_day = meeting.mask & -meeting.mask or 1 << 7
    start = 24 * 60 if meeting.start is None else meeting.start
    return first_day, start, section.course_code, section.id
