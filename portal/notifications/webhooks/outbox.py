"""The webhook outbox: the recorder fills it, senders take deliveries in turn."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Integer, delete, func, insert, or_, select, text, update
from sqlalchemy.event import listen
from sqlalchemy.orm import Session

from portal.catalog import requisites
from portal.catalog.models import Course, Section, Term
from portal.core.db import transaction
from portal.core.moments import milliseconds
from portal.core.queue import NO_TERM, enqueue
from portal.notifications.webhooks.models import TEST, Delivery, Webhook
from portal.people.models import Student
from portal.recorder.events import Event
from portal.recorder.models import LoggedEvent
from portal.recorder.subscribers import DueJob

BATCH = 20  # deliveries per transaction: a killed sender repeats at most this many
WAITING = (Delivery.sent_at.is_(None), Delivery.dead_at.is_(None))
DUE = (*WAITING, Delivery.due_at <= func.now())
FORGOTTEN_AT_ONCE = 10_000

FOLLOW = text("""
INSERT INTO webhook_deliveries (webhook_id, term_id, seq, tries, error)
SELECT hook.id, told.term_id, told.seq, 0, ''
FROM webhooks hook
JOIN events told ON told.name = ANY (hook.names)
JOIN terms term ON term.id = told.term_id AND NOT term.practice
WHERE hook.is_on AND told.term_id = :term AND told.seq BETWEEN :first AND :last
ORDER BY hook.id, told.seq
ON CONFLICT DO NOTHING
""")


def follow(session: Session, term: int, first: int, last: int) -> int:
    """Queue these events for receivers, in the transaction that logs them; return the number."""
    made = session.execute(FOLLOW, {"term": term, "first": first, "last": last})
    return int(made.rowcount)  # type: ignore[attr-defined]  # of an INSERT


def put_events(session: Session, term: int, events: Sequence[Event]) -> None:
    """Put recorded events into the outbox, and enqueue a job once the transaction commits."""
    if follow(session, term, events[0].seq, events[-1].seq):
        listen(session, "after_commit", lambda _: enqueue(NO_TERM, ["deliver"]), once=True)


def due_jobs(_terms: Sequence[int]) -> Iterable[DueJob]:
    """Return the job that sends what is due, if anything is."""
    with transaction() as session:
        since = first_due(session)
    return [DueJob(NO_TERM, "deliver", milliseconds(since))] if since else []


def put_test(session: Session, webhook: int) -> None:
    """Queue a test message to a receiver."""
    session.execute(insert(Delivery).values(webhook_id=webhook, tries=0, error=""))


def first_due(session: Session) -> datetime | None:
    """Return since when the first delivery has been due; None if none is due."""
    mine = select(Delivery.due_at).where(Delivery.webhook_id == Webhook.id, *DUE)
    first = mine.order_by(Delivery.due_at).limit(1).scalar_subquery()  # one of many, by the index
    return session.scalar(select(func.min(first)).where(Webhook.is_on))


def receivers(session: Session) -> Sequence[Webhook]:
    """Return the receivers with due deliveries."""
    due = select(Delivery.id).where(Delivery.webhook_id == Webhook.id, *DUE).exists()
    return session.scalars(select(Webhook).where(Webhook.is_on, due).order_by(Webhook.id)).all()


def take(session: Session, webhook: int) -> Sequence[Delivery]:
    """Return the next due deliveries of a receiver, locked until the transaction ends."""
    # A receiver may take longer than PostgreSQL lets a transaction be idle.
    session.execute(text("SET LOCAL idle_in_transaction_session_timeout = '2min'"))
    found = (
        select(Delivery)
        .where(Delivery.webhook_id == webhook, *DUE)
        .order_by(Delivery.due_at, Delivery.id)
        .limit(BATCH)
    )
    return session.scalars(found.with_for_update(skip_locked=True)).all()


def dead(session: Session, webhook: int, most: int | None = None) -> Sequence[Delivery]:
    """Return a receiver's dead letters, oldest first."""
    found = select(Delivery).where(Delivery.webhook_id == webhook, Delivery.dead_at.is_not(None))
    return session.scalars(found.order_by(Delivery.dead_at, Delivery.id).limit(most)).all()


def number_dead(session: Session, webhook: int | None = None) -> int:
    """Return the number of dead letters, of one receiver or of all that are not deleted."""
    found = select(func.count()).select_from(Delivery).join(Webhook)
    found = found.where(Delivery.dead_at.is_not(None), _known())
    return session.scalar(found if webhook is None else found.where(Webhook.id == webhook)) or 0


def revive(session: Session, deliveries: Sequence[int]) -> list[int]:
    """Send dead letters again from now on; return those that were still dead."""
    again = {"dead_at": None, "due_at": func.now(), "tries": 0}
    changed = update(Delivery).where(Delivery.id.in_(deliveries), Delivery.dead_at.is_not(None))
    return list(session.scalars(changed.values(again).returning(Delivery.id)))


def discard(session: Session, deliveries: Sequence[int]) -> list[int]:
    """Delete dead letters; return those that were still dead."""
    gone = delete(Delivery).where(Delivery.id.in_(deliveries), Delivery.dead_at.is_not(None))
    return list(session.scalars(gone.returning(Delivery.id)))


def forget(session: Session, days: int) -> None:
    """Delete finished deliveries older than `days`, and all of deleted receivers."""
    before = func.now() - func.make_interval(0, 0, 0, days)
    old = or_(Delivery.sent_at < before, Delivery.dead_at < before, ~_known())
    found = select(Delivery.id).join(Webhook).where(old).limit(FORGOTTEN_AT_ONCE)
    session.execute(delete(Delivery).where(Delivery.id.in_(found)))


def _known() -> ColumnElement[bool]:
    return Webhook.deleted_at.is_(None)


# The message to a receiver: the event as JSON, the same at each attempt.

COUNTS = ("status", "capacity", "taken", "waiting")


@dataclass(frozen=True)
class Message:
    """The body, and the id by which a receiver recognizes it."""

    id: str
    body: bytes
    correlation: str = ""


def messages(session: Session, deliveries: Sequence[Delivery]) -> list[Message | None]:
    """Return the deliveries' messages, in order; None if the log lacks the event."""
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
    """Return the message of an event, with what it is about if that exists."""
    event: LoggedEvent = row.LoggedEvent
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
