"""Instructors' requests as pages list them, with the current state of their sections."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, joinedload

from portal.catalog import requisites
from portal.catalog.models import Meeting, Room, Section, Term
from portal.catalog.term_catalog import SectionView, catalog_of, published_terms
from portal.core.db import transaction
from portal.core.moments import milliseconds
from portal.instructor_requests.models import InstructorRequest
from portal.ledger.types import SeatCounts
from portal.people import student_profile
from portal.people.models import Permission, Student
from portal.recorder import read_with_fallback
from portal.registration import limits
from portal.registration.credits import hundredths
from portal.registration.next_steps import RefusalContext
from portal.registration.precheck import Precheck
from portal.registration.reasons import Explanation, explain
from portal.registration.seat_counts import WaitlistOutlook, waitlist_outlook

PAGE = 30
OPEN = InstructorRequest.state == "open"
# The seats of the smallest room of the request's section, where they are known.
ROOM = (
    select(func.min(Room.seats))
    .join(Meeting, Meeting.room_id == Room.id)
    .where(Meeting.section_id == InstructorRequest.section_id)
    .correlate(InstructorRequest)
    .scalar_subquery()
)


@dataclass(frozen=True)
class RequestView:
    """A request, the current state of its section, and why it can't be approved (a code)."""

    request: InstructorRequest
    name: str  # of the section, such as CSC 1100-01
    title: str
    term: str
    room: int | None  # seats of the smallest room that it meets in, where known
    stale: str
    seats: SeatCounts | None = None

    @property
    def id(self) -> int:
        return self.request.id

    def outlook(self, capacity: int | None = None) -> WaitlistOutlook:
        """Return the seats that the waitlist gets immediately on approval, whole or in part."""
        capacity = capacity or self.request.wanted
        if self.seats is None or capacity is None:
            return WaitlistOutlook(waiting=0)
        return waitlist_outlook(replace(self.seats, capacity=capacity))

    @property
    def too_small(self) -> bool:
        """Return whether the room has fewer seats than requested."""
        return self.room is not None and (self.request.wanted or 0) > self.room

    @property
    def when(self) -> int:
        """Return when it was made (ms)."""
        return milliseconds(self.request.made_at)

    @property
    def decided(self) -> int:
        """Return when it was decided or withdrawn (ms), 0 while it is open."""
        return milliseconds(self.request.decided_at) if self.request.decided_at else 0


def of_account(account: int, before: int | None = None) -> list[RequestView]:
    """Return an account's requests, the newest first: a page and one more.

    Requests in a draft of a term are left out.
    """
    mine = InstructorRequest.account_id == account
    seen = InstructorRequest.section.has(Section.term.has(Term.state != "draft"))
    return _newest(select(InstructorRequest).where(mine, seen), before)


def open_requests(after: int | None = None) -> list[RequestView]:
    """Return the open requests, the oldest first: a page and one more."""
    found = select(InstructorRequest).where(OPEN, InstructorRequest.id > (after or 0))
    return _views(found.order_by(InstructorRequest.id).limit(PAGE + 1))


def decided_requests(before: int | None = None) -> list[RequestView]:
    """Return the decided requests, the newest first: a page and one more."""
    return _newest(select(InstructorRequest).where(~OPEN), before)


def one(request_id: int) -> RequestView | None:
    found = _views(select(InstructorRequest).where(InstructorRequest.id == request_id))
    return found[0] if found else None


def term_of(views: list[RequestView]) -> int | None:
    """Return the term whose counts the page follows: that of the first request."""
    terms = [each.request.section.term_id for each in views] or [
        each.id for each in published_terms()
    ]
    return next(iter(terms), None)


def waiting() -> int:
    """Return how many requests are open."""
    with transaction() as session:
        return session.scalar(select(func.count(InstructorRequest.id)).where(OPEN)) or 0


def _newest(found: Select[InstructorRequest], before: int | None) -> list[RequestView]:
    if before:
        found = found.where(InstructorRequest.id < before)
    return _views(found.order_by(InstructorRequest.id.desc()).limit(PAGE + 1))


def _views(found: Select[InstructorRequest]) -> list[RequestView]:
    section = joinedload(InstructorRequest.section)
    query = found.add_columns(ROOM).options(
        section.joinedload(Section.course),
        section.joinedload(Section.term),
        joinedload(InstructorRequest.student).joinedload(Student.account),
        joinedload(InstructorRequest.account),
        joinedload(InstructorRequest.decider),
    )
    with transaction() as session:
        views = [_view(session, *row) for row in session.execute(query).all()]
    sections = [each.request.section for each in views]
    counts: dict[int, SeatCounts] = {}
    for term in {each.term_id for each in sections}:
        ids = [each.id for each in sections if each.term_id == term]
        counts |= read_with_fallback.seats_of(term, ids)
    return [replace(each, seats=counts.get(each.request.section_id)) for each in views]


def _view(session: Session, request: InstructorRequest, room: int | None) -> RequestView:
    section = request.section
    return RequestView(
        request=request,
        name=f"{requisites.shown(section.course.code)}-{section.number}",
        title=section.title or section.course.title,
        term=section.term.name,
        room=room,
        stale=approval_obstacle(session, request) if request.state == "open" else "",
    )


def approval_obstacle(session: Session, request: InstructorRequest) -> str:
    """Return the code of what forbids to approve it, "" if nothing does."""
    section = request.section
    if section.deleted_at or section.status == "CANCELED":
        return "canceled"
    if request.kind == "seats":
        return "enough" if section.capacity >= (request.wanted or 0) else ""
    if request.student is None or request.student.deleted_at:
        return "gone"
    given = session.scalars(
        select(func.unnest(Permission.waives)).where(
            Permission.student_id == request.student_id,
            Permission.section_id == section.id,
            Permission.is_active,
        )
    )
    return "permitted" if set(request.waives) <= set(given) else ""


RULE_OF_CODE = {"corequisite_not_offered": "corequisite"}  # by code, the rule that it comes of


@dataclass(frozen=True)
class Obstacles:
    """What stands in the student's way now: what the request overrides, and all else."""

    requested: list[Explanation]
    other: list[Explanation]


def remaining_obstacles(request: InstructorRequest) -> Obstacles | None:
    """Return why an override's student would be refused now; None if the answer is unknown."""
    offered = catalog_of(request.section.term_id)
    section_view = offered.section(request.section_id)
    if section_view is None or request.student_id is None:
        return None
    who = student_profile.read(request.student_id)
    registrations = read_with_fallback.registrations(offered.term.id, who.student)
    held = {each.section: each.credits for each in registrations.enrolled}
    context = RefusalContext(offered, section_view, held=held)
    limit = hundredths(limits.credit_limit(who, offered))
    found = explain(Precheck(who, offered, registrations, limit).refusals(section_view), context)
    requested = [each for each in found if RULE_OF_CODE.get(each.code, each.code) in request.waives]
    return Obstacles(requested, [each for each in found if each not in requested])


def rules_without_effect(section_view: SectionView) -> Iterator[str]:
    """Yield the codes of rules that the section does not have."""
    has = {
        "prerequisite": section_view.prerequisites,
        "corequisite": section_view.corequisites,
        "restriction": section_view.restrictions,
        "consent": section_view.consent,
        "not_for_you": not section_view.public,
        "time_conflict": section_view.meetings,
    }
    return (code for code, rule in has.items() if not rule)
