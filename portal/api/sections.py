"""Sections as programs see them."""

from collections.abc import Iterable
from typing import Any

from marshmallow import fields

from portal.api import known
from portal.api.schemas import Said
from portal.catalog.search import hours
from portal.catalog.term_catalog import MeetingView, SectionView, TermCatalog
from portal.ledger.types import SeatCounts, Standing
from portal.recorder.read_with_fallback import recorded
from portal.seats.case import name_of
from portal.student.alike import classes
from portal.student.amounts import amounts
from portal.student.kept import open_to
from portal.student.rows import unknown
from portal.student.scene import titled
from portal.web.http.access import visitor

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Course(Said):
    id = fields.Integer()
    code = fields.String()
    title = fields.String()
    subject = fields.String()
    course_id = fields.Integer(metadata={"description": "The same as `id`."})
    course_code = fields.String(metadata={"description": "The same as `code`."})
    course_name = fields.String(metadata={"description": "The same as `title`."})


class Counts(Said):
    capacity = fields.Integer()
    taken = fields.Integer()
    available = fields.Integer(
        metadata={"description": "Seats that nobody holds, and that are kept for nobody."}
    )
    kept = fields.Integer(
        metadata={"description": "Seats that nobody holds, kept for some students."}
    )
    open_to_you = fields.Integer(
        metadata={"description": "The available ones, and the kept ones that are kept for you."}
    )
    claimable = fields.Boolean(
        metadata={"description": "Whether you could have one now: nobody in line comes first."}
    )
    waiting = fields.Integer()
    waitlist_capacity = fields.Integer()


class Meeting(Said):
    kind = fields.String()
    days = fields.List(fields.String(metadata={"enum": list(DAYS)}))
    starts = fields.String(allow_none=True, metadata={"description": "Such as 14:00, local time."})
    ends = fields.String(allow_none=True)
    first_day = fields.Date()
    last_day = fields.Date()
    location = fields.String()


class Schedule(Said):
    """In words, and for programs meeting by meeting."""

    days = fields.String()
    time = fields.String()
    location = fields.String()
    meetings = fields.List(fields.Nested(Meeting))


class Offered(Said):
    least = fields.Float()
    most = fields.Float()
    choices = fields.List(fields.Float())


class Section(Said):
    section_id = fields.Integer()
    semester_id = fields.Integer()
    name = fields.String(metadata={"description": "As people say it, such as CSC 1100-01."})
    section_number = fields.String()
    crn = fields.String()
    title = fields.String()
    course_code = fields.String(metadata={"description": "As in `course`."})
    course_name = fields.String(metadata={"description": "As in `course`."})
    status = fields.String(metadata={"enum": ["OPEN", "CONFIRMED", "CANCELED"]})
    credits = fields.Nested(Offered)
    course = fields.Nested(Course)
    seats = fields.Nested(Counts)
    total_seats = fields.Integer(metadata={"description": "As `seats.capacity`."})
    available_seats = fields.Integer(metadata={"description": "As `seats.available`."})
    instructor = fields.String(allow_none=True)
    schedule = fields.Nested(Schedule)


def shown(offered: TermCatalog, cards: Iterable[SectionView]) -> dict[int, dict[str, Any]]:
    """The sections by id, with their counts of this moment."""
    found = list(cards)
    counts = known.seats_of(offered.term.id, [card.id for card in found])
    yours = as_yours(offered, found, counts)
    told = {}
    for card in found:
        none = unknown(card)
        seats, own = counts.get(card.id, none), yours.get(card.id, none)
        told[card.id] = _section(offered, card, seats, own)
    return told


def as_yours(
    offered: TermCatalog, cards: Iterable[SectionView], counts: dict[int, SeatCounts]
) -> dict[int, SeatCounts]:
    """The counts as they are for whoever asks: seats kept for a student are open to that one."""
    some = [card for card in cards if card.reserves and card.id in counts]
    student = visitor().student_id
    if not some or not student:
        return counts
    now, likely = known.scene(offered, student, Standing()), recorded()
    own = {card.id: open_to(now, card, counts[card.id], likely=likely) for card in some}
    return counts | own


def _section(
    offered: TermCatalog, card: SectionView, seats: SeatCounts, yours: SeatCounts
) -> dict[str, Any]:
    return {
        "section_id": card.id,
        "semester_id": card.term_id,
        "name": name_of(card),
        "section_number": card.number,
        "crn": card.crn,
        "title": titled(offered, card),
        "course_code": card.course_code,
        "course_name": card.course_title,
        "status": card.status,
        "credits": {
            "least": card.credits_min,
            "most": card.credits_max,
            "choices": amounts(card) or [card.credits_min],
        },
        "course": {
            "id": card.course_id,
            "code": card.course_code,
            "title": card.course_title,
            "subject": card.subject_name,
            "course_id": card.course_id,
            "course_code": card.course_code,
            "course_name": card.course_title,
        },
        "seats": _counts(seats, yours),
        "total_seats": seats.capacity,
        "available_seats": seats.open,
        "instructor": ", ".join(card.teachers) or None,
        "schedule": _schedule(card),
    }


def _counts(seats: SeatCounts, yours: SeatCounts) -> dict[str, Any]:
    names = ("capacity", "taken", "waiting", "waitlist_capacity")
    return {name: getattr(seats, name) for name in names} | {
        "available": seats.open,
        "kept": seats.keeping,
        "open_to_you": yours.open,
        "claimable": yours.claimable,
    }


def _schedule(card: SectionView) -> dict[str, Any]:
    met = classes(card)
    return {
        "days": "; ".join(each.days for each in met),
        "time": "; ".join(each.times for each in met),
        "location": "; ".join(dict.fromkeys(each.room for each in met if each.room)),
        "meetings": [_meeting(each) for each in met],
    }


def _meeting(meeting: MeetingView) -> dict[str, Any]:
    return {
        "kind": meeting.kind,
        "days": [day for bit, day in enumerate(DAYS) if meeting.mask >> bit & 1],
        "starts": hours(meeting.start) or None,
        "ends": hours(meeting.end) or None,
        "first_day": meeting.first,
        "last_day": meeting.last,
        "location": meeting.room,
    }
