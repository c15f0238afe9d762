"""Requests as pages list them, with what has become of their sections meanwhile."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, joinedload

from portal.catalog import requisites
from portal.catalog.models import Meeting, Room, Section
from portal.catalog.term_catalog import live_terms
from portal.core.db import transaction
from portal.ledger.types import SeatCounts
from portal.people.models import Student
from portal.recorder import read_with_fallback
from portal.registration.seat_counts import WaitlistOutlook, waitlist_outlook
from portal.requests.models import Request
from portal.requests.stale import obstacle

PAGE = 30


@dataclass(frozen=True)
class Line:
    """A request, how its section stands now, and what forbids to approve it (a code)."""

    request: Request
    name: str  # of the section, such as CSC 1100-01
    title: str
    term: str
    room: int | None  # seats of the smallest room that it meets in, where known
    stale: str
    seats: SeatCounts | None = None

    @property
    def id(self) -> int:
        """The request's."""
        return self.request.id

    @property
    def promise(self) -> WaitlistOutlook:
        """What those who wait get at once if it is approved."""
        if self.seats is None or self.request.wanted is None:
            return WaitlistOutlook(waiting=0)
        return waitlist_outlook(replace(self.seats, capacity=self.request.wanted))

    @property
    def too_small(self) -> bool:
        """Whether the room has fewer seats than are asked for."""
        return self.room is not None and (self.request.wanted or 0) > self.room

    @property
    def when(self) -> int:
        """When it was made (ms)."""
        return _ms(self.request.made_at)

    @property
    def decided(self) -> int:
        """When it was decided or withdrawn (ms), 0 while it is open."""
        return _ms(self.request.decided_at)


def of_account(account: int, before: int | None = None) -> list[Line]:
    """Those that somebody has made, the newest first: a page and one more."""
    found = select(Request).where(Request.account_id == account)
    return _lines(_before(found, before))


def still_open(after: int | None = None) -> list[Line]:
    """Those that wait for an admin, the oldest first: a page and one more."""
    found = select(Request).where(Request.state == "open").order_by(Request.id)
    return _lines(found.where(Request.id > (after or 0)).limit(PAGE + 1))


def done_with(before: int | None = None) -> list[Line]:
    """Those that do not wait any more, the newest first: a page and one more."""
    return _lines(_before(select(Request).where(Request.state != "open"), before))


def one(request_id: int) -> Line | None:
    """The request of that id."""
    return next(iter(_lines(select(Request).where(Request.id == request_id))), None)


def term_of(lines: list[Line]) -> int | None:
    """The term whose counts their page follows, as it can follow one: that of the first of them."""
    terms = [each.request.section.term_id for each in lines] or [each.id for each in live_terms()]
    return next(iter(terms), None)


def waiting() -> int:
    """How many wait for an admin."""
    with transaction() as session:
        count = select(func.count()).select_from(Request).where(Request.state == "open")
        return session.scalar(count) or 0


def _before(found: Select[Request], before: int | None) -> Select[Request]:
    if before:
        found = found.where(Request.id < before)
    return found.order_by(Request.id.desc()).limit(PAGE + 1)


def _lines(found: Select[Request]) -> list[Line]:
    section = joinedload(Request.section)
    with transaction() as session:
        requests = session.scalars(
            found.options(
                section.joinedload(Section.course),
                section.joinedload(Section.term),
                joinedload(Request.student).joinedload(Student.account),
                joinedload(Request.account),
                joinedload(Request.decider),
            )
        ).all()
        rooms = _rooms(session, {each.section_id for each in requests})
        lines = [_line(session, each, rooms.get(each.section_id)) for each in requests]
    return [replace(each, seats=seats) for each, seats in zip(lines, _counts(lines), strict=True)]


def _line(session: Session, request: Request, room: int | None) -> Line:
    section = request.section
    return Line(
        request=request,
        name=f"{requisites.shown(section.course.code)}-{section.number}",
        title=section.title or section.course.title,
        term=section.term.name,
        room=room,
        stale=obstacle(session, request) if request.state == "open" else "",
    )


def _rooms(session: Session, sections: set[int]) -> dict[int, int]:
    """The seats of the smallest room of each section, where its rooms' seats are known."""
    found = (
        select(Meeting.section_id, func.min(Room.seats))
        .join(Room, Room.id == Meeting.room_id)
        .where(Meeting.section_id.in_(sections), Room.seats.is_not(None))
        .group_by(Meeting.section_id)
    )
    return {section: seats or 0 for section, seats in session.execute(found)}


def _counts(lines: Iterable[Line]) -> list[SeatCounts | None]:
    """How each section stands."""
    sections = [each.request.section for each in lines]
    counts: dict[int, SeatCounts] = {}
    for term in {each.term_id for each in sections}:
        mine = [each.id for each in sections if each.term_id == term]
        counts |= read_with_fallback.seats_of(term, mine)
    return [counts.get(each.id) for each in sections]


def _ms(moment: datetime | None) -> int:
    return round(moment.timestamp() * 1000) if moment else 0
