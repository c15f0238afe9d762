"""GET /students/{id}/registrations and /waitlist: what a student has, and waits for."""

from collections.abc import Callable
from typing import Any

import marshmallow as ma
from marshmallow import fields

from portal.api import known
from portal.api.entry import bp
from portal.api.examples import SECTION
from portal.api.fields import LARGEST, Id
from portal.api.operations import about, asks, gives
from portal.api.reasons import Why, in_words
from portal.api.schemas import Said, said
from portal.api.sections import Section, shown
from portal.api.standings import Record, records
from portal.ledger.types import HeldSeat, WaitlistPosition
from portal.recorder import odds
from portal.recorder.events import moment
from portal.student.chances import chances
from portal.web.http.access import signed_in

STUDENT = f"/students/<int(min=1, max={LARGEST}):student_id>"


class Asked(ma.Schema):
    semester_id = Id(text=True)


class Registration(Said):
    registration_id = fields.Integer()
    semester_id = fields.Integer()
    section_id = fields.Integer()
    status = fields.String(metadata={"enum": ["enrolled"]})
    credits = fields.Float()
    registered_at = fields.DateTime()
    registration_date = fields.DateTime(metadata={"description": "The same as `registered_at`."})
    section = fields.Nested(Section, allow_none=True)


class Registrations(Said):
    student_id = fields.Integer()
    registrations = fields.List(fields.Nested(Registration))
    total_registrations = fields.Integer()
    enrolled_credits = fields.Float(metadata={"description": "The sum of their credits."})


class Place(Said):
    waitlist_id = fields.Integer(metadata={"description": "The number of this place in line."})
    semester_id = fields.Integer()
    section_id = fields.Integer()
    waitlist_position = fields.Integer()
    position = fields.Integer(metadata={"description": "The same as `waitlist_position`."})
    waitlist_size = fields.Integer()
    credits = fields.Float()
    joined_at = fields.DateTime()
    added_at = fields.DateTime(metadata={"description": "The same as `joined_at`."})
    expires_at = fields.DateTime(
        allow_none=True,
        metadata={"description": "When the window closes: no seat comes after that. Null: none."},
    )
    estimated_wait_time = fields.String(
        allow_none=True,
        metadata={"description": "How likely a seat is, in words. Null while no list moves."},
    )
    instead_of = fields.Integer(
        allow_none=True, metadata={"description": "The section given up once the seat comes."}
    )
    passed_over = fields.List(
        fields.Nested(Why), metadata={"description": "Why a seat went to the next in line."}
    )
    section = fields.Nested(Section, allow_none=True)


class Waitlist(Said):
    student_id = fields.Integer()
    waitlist = fields.List(fields.Nested(Place))
    waitlist_entries = fields.List(
        fields.Nested(Place), metadata={"description": "The same as `waitlist`."}
    )
    total_waitlist_entries = fields.Integer()


SEAT = {
    "registration_id": 90114,
    "semester_id": 7,
    "section_id": 412,
    "status": "enrolled",
    "credits": 4,
    "registered_at": "2030-08-01T13:00:00.412000+00:00",
    "registration_date": "2030-08-01T13:00:00.412000+00:00",
    "section": SECTION,
}
IN_LINE = {
    "waitlist_id": 90120,
    "semester_id": 7,
    "section_id": 412,
    "waitlist_position": 2,
    "position": 2,
    "waitlist_size": 9,
    "credits": 4,
    "joined_at": "2030-08-01T13:00:00.412000+00:00",
    "added_at": "2030-08-01T13:00:00.412000+00:00",
    "expires_at": "2030-08-08T21:00:00+00:00",
    "estimated_wait_time": "A seat within 2 days is likely.",
    "instead_of": None,
    "passed_over": [],
    "section": SECTION,
}
SEATS = {
    "student_id": 5,
    "registrations": [SEAT],
    "total_registrations": 1,
    "enrolled_credits": 4,
}
PLACES = {
    "student_id": 5,
    "waitlist": [IN_LINE],
    "waitlist_entries": [IN_LINE],
    "total_waitlist_entries": 1,
}


@bp.get(f"{STUDENT}/registrations")
@signed_in
@asks(Asked)
@about("records", [404])
@gives(Registrations, example=SEATS, headers=[known.HEADER])
def registrations(asked: dict[str, Any], student_id: int) -> dict[str, Any]:
    """The seats of a student: your own, in your classes as a teacher, all as an admin."""
    found = _all(_seats, student_id, asked)
    total = {"total_registrations": len(found), "enrolled_credits": _credits(found)}
    return said({"student_id": student_id, "registrations": found} | total, known.note())


@bp.get(f"{STUDENT}/waitlist")
@signed_in
@asks(Asked)
@about("records", [404])
@gives(Waitlist, example=PLACES, headers=[known.HEADER])
def waitlist(asked: dict[str, Any], student_id: int) -> dict[str, Any]:
    """The places in line of a student: your own, in your classes as a teacher, all as an admin."""
    found = _all(_places, student_id, asked)
    same = {"waitlist_entries": found, "total_waitlist_entries": len(found)}
    return said({"student_id": student_id, "waitlist": found} | same, known.note())


def _all(
    kind: Callable[[Record], list[dict[str, Any]]], student: int, asked: dict[str, Any]
) -> list[dict[str, Any]]:
    found = records(student, asked.get("semester_id"))
    return [each for record in found for each in kind(record)]


def _seats(record: Record) -> list[dict[str, Any]]:
    held = record.standing.enrolled
    return [
        {
            "registration_id": each.registration,
            "status": "enrolled",
            "registered_at": moment(each.at),
            "registration_date": moment(each.at),
            **about,
        }
        for each, about in zip(held, _about(record, held), strict=True)
    ]


def _credits(found: list[dict[str, Any]]) -> float:
    return float(sum(each["credits"] for each in found))


def _places(record: Record) -> list[dict[str, Any]]:
    waiting = record.standing.waiting
    if not waiting:
        return []
    odds.refresh_freed_seats(record.offered.term.id)
    now = known.scene(record.offered, record.student, record.standing)
    likely, ends = chances(now), now.phase.window and moment(now.phase.window.closes)
    return [
        {
            "waitlist_id": each.ticket,
            "waitlist_position": each.position,
            "position": each.position,
            "waitlist_size": each.size,
            "joined_at": moment(each.at),
            "added_at": moment(each.at),
            "expires_at": ends,
            "estimated_wait_time": likely[each.section].text if each.section in likely else None,
            "instead_of": each.instead or None,
            "passed_over": in_words(each.reasons, record.offered, each.section),
            **about,
        }
        for each, about in zip(waiting, _about(record, waiting), strict=True)
    ]


def _about(
    record: Record, places: tuple[HeldSeat, ...] | tuple[WaitlistPosition, ...]
) -> list[dict[str, Any]]:
    """What seats and places in line have in common."""
    sections = shown(record.offered, record.offered.some(each.section for each in places))
    return [
        {
            "semester_id": record.offered.term.id,
            "section_id": each.section,
            "credits": each.credits / 100,
            "section": sections.get(each.section),
        }
        for each in places
    ]
