"""What a receiver is sent: the event as JSON, the same however often it is sent."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Integer, select
from sqlalchemy.orm import Session

from portal.catalog import requisites
from portal.catalog.models import Course, Section, Term
from portal.notifications.webhooks.models import Delivery
from portal.notifications.webhooks.names import TEST
from portal.people.models import Student
from portal.recorder.models import LoggedEvent

COUNTS = ("status", "capacity", "taken", "waiting")


@dataclass(frozen=True)
class Message:
    """The body and, beside it, the id by which a receiver knows it again."""

    id: str
    body: bytes
    correlation: str = ""


def messages(session: Session, deliveries: Sequence[Delivery]) -> list[Message | None]:
    """Those of the deliveries, in their order; None where the event is not in the log."""
    told = _told(session, [each.id for each in deliveries])
    return [_test(each) if each.seq is None else told.get(each.id) for each in deliveries]


def _told(session: Session, deliveries: Sequence[int]) -> dict[int, Message]:
    section = LoggedEvent.payload["section"].astext.cast(Integer)
    found = (
        select(Delivery.id, LoggedEvent, Term, Section, Course, Student)
        .join(
            LoggedEvent,
            (LoggedEvent.term_id == Delivery.term_id) & (LoggedEvent.seq == Delivery.seq),
        )
        .join(Term, Term.id == LoggedEvent.term_id)
        .outerjoin(Section, Section.id == section)
        .outerjoin(Course, Course.id == Section.course_id)
        .outerjoin(Student, Student.id == LoggedEvent.student_id)
        .where(Delivery.id.in_(deliveries))
    )
    return {row.id: _message(row) for row in session.execute(found)}


def _message(row: Any) -> Message:
    """That of an event beside what it is about, as far as there is such."""
    event: LoggedEvent = row.Event
    told = {
        "id": f"{event.term_id}-{event.seq}",
        "name": event.name,
        "at": event.occurred_at.isoformat(),
        "seq": event.seq,
        "semester_id": row.Term.id,
        "semester": row.Term.name,
    }
    told |= _of_section(row.Section, row.Course) | _of_student(row.Student)
    if "window" in event.payload:
        told["window_id"] = event.payload["window"]
    if seats := event.payload.get("seats"):
        told["seats"] = {name: seats[name] for name in COUNTS if name in seats}
    return Message(told["id"], _as_json(told), str(event.context.get("correlation", "")))


def _of_section(section: Section | None, course: Course | None) -> dict[str, Any]:
    if section is None or course is None:
        return {}
    name = f"{requisites.shown(course.code)}-{section.number}"
    return {"section_id": section.id, "crn": section.crn, "section": name}


def _of_student(student: Student | None) -> dict[str, Any]:
    return {"student_id": student.id, "student_number": student.number} if student else {}


def _test(delivery: Delivery) -> Message:
    told = {"id": f"{TEST}-{delivery.id}", "name": TEST}
    return Message(told["id"], _as_json(told))


def _as_json(told: dict[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
