"""The webhook outbox: the recorder fills it, senders take deliveries in turn."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    delete,
    func,
    insert,
    or_,
    select,
    text,
)
from sqlalchemy.orm import Session

from portal.catalog import requisites
from portal.catalog.models import Course, Section, Term
from portal.core.queue import enqueue_after
from portal.notifications.outbox import DELETED_AT_ONCE, due, take_due
from portal.notifications.webhooks.models import TEST, Delivery, Webhook
from portal.people.models import Student
from portal.recorder.events import Event
from portal.recorder.models import LoggedEvent
from portal.recorder.signals import DueJob, due_since

BATCH = 20  # deliveries per transaction: a killed sender repeats at most this many

QUEUE_EVENTS = text("""
INSERT INTO webhook_deliveries (webhook_id, term_id, seq, due_at, tries, error)
SELECT hook.id, event.term_id, event.seq, now(), 0, ''
FROM webhooks hook
JOIN events event ON event.name = ANY (hook.names)
JOIN terms term ON term.id = event.term_id AND NOT term.practice AND term.state <> 'draft'
WHERE hook.is_on AND event.term_id = :term AND event.seq BETWEEN :first AND :last
ORDER BY hook.id, event.seq
ON CONFLICT DO NOTHING
""")


def queue_events(session: Session, term: int, events: Sequence[Event]) -> None:
    """Queue recorded events for receivers, and enqueue a job once the transaction commits."""
    queued = session.execute(
        QUEUE_EVENTS, {"term": term, "first": events[0].seq, "last": events[-1].seq}
    )
    if queued.rowcount:  # type: ignore[attr-defined]  # of an INSERT
        enqueue_after(session, "deliver")


def due_jobs(look: Connection, _terms: Sequence[int]) -> Iterable[DueJob]:
    """Return the job that sends due messages, if there are any."""
    return due_since("deliver", first_due(look))


def queue_test(session: Session, webhook: int) -> None:
    """Queue a test message to a receiver."""
    session.execute(insert(Delivery).values(webhook_id=webhook))


OF_RECEIVER = select(Delivery.due_at).where(Delivery.webhook_id == Webhook.id, *due(Delivery))
FIRST_OF_RECEIVER = OF_RECEIVER.order_by(Delivery.due_at).limit(1).scalar_subquery()  # by the index
FIRST_DUE = select(func.min(FIRST_OF_RECEIVER)).where(Webhook.is_on)


def first_due(session: Session | Connection) -> datetime | None:
    """Return since when the first delivery has been due; None if none is due."""
    return session.scalar(FIRST_DUE)


def receivers(session: Session) -> Sequence[Webhook]:
    """Return the receivers with due deliveries."""
    mine = select(Delivery.id).where(Delivery.webhook_id == Webhook.id, *due(Delivery)).exists()
    return session.scalars(select(Webhook).where(Webhook.is_on, mine).order_by(Webhook.id)).all()


def take(session: Session, webhook: int) -> Sequence[Delivery]:
    """Return the next due deliveries of a receiver, locked until the transaction ends."""
    mine, order = Delivery.webhook_id == webhook, (Delivery.due_at, Delivery.id)
    return take_due(session, Delivery, mine, order=order, most=BATCH)


def dead(session: Session, webhook: int, most: int | None = None) -> Sequence[Delivery]:
    """Return a receiver's dead letters, oldest first."""
    found = select(Delivery).where(Delivery.webhook_id == webhook, Delivery.dead_at.is_not(None))
    return session.scalars(found.order_by(Delivery.dead_at, Delivery.id).limit(most)).all()


def number_dead(session: Session, webhook: int | None = None) -> int:
    """Return the number of dead letters of one receiver, or of every receiver not deleted."""
    found = select(func.count()).select_from(Delivery).join(Webhook)
    found = found.where(Delivery.dead_at.is_not(None), _not_deleted())
    return session.scalar(found if webhook is None else found.where(Webhook.id == webhook)) or 0


def delete_old(session: Session, days: int) -> None:
    """Delete a batch of finished deliveries older than `days`, and all of deleted receivers."""
    before = func.now() - timedelta(days=days)
    old = or_(Delivery.sent_at < before, Delivery.dead_at < before, ~_not_deleted())
    found = select(Delivery.id).join(Webhook).where(old).limit(DELETED_AT_ONCE)
    session.execute(delete(Delivery).where(Delivery.id.in_(found)))


def _not_deleted() -> ColumnElement[bool]:
    return Webhook.deleted_at.is_(None)


# The message to a receiver: the event as JSON, the same at each attempt.

COUNTS = ("status", "capacity", "taken", "waiting")


@dataclass(frozen=True)
class Message:
    """A message's body, and the id that lets a receiver recognize it."""

    id: str
    body: bytes
    correlation: str = ""


def messages(session: Session, deliveries: Sequence[Delivery]) -> list[Message | None]:
    """Return the deliveries' messages, in order; None if the log lacks the event."""
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
        .where(Delivery.id.in_([each.id for each in deliveries]))
    )
    of_events = {row.id: _message(row) for row in session.execute(found)}
    return [
        _encoded({"id": each.message_id, "name": TEST})
        if each.seq is None
        else of_events.get(each.id)
        for each in deliveries
    ]


def _message(row: Any) -> Message:
    """Return the message of an event, with what it is about if that exists."""
    event: LoggedEvent = row.LoggedEvent
    facts = {
        "id": f"{event.term_id}-{event.seq}",
        "name": event.name,
        "at": event.occurred_at.isoformat(),
        "seq": event.seq,
        "semester_id": row.Term.id,
        "semester": row.Term.name,
    }
    if row.Section and row.Course:
        name = requisites.section_name(row.Course.code, row.Section.number)
        facts |= {"section_id": row.Section.id, "crn": row.Section.crn, "section": name}
    if row.Student:
        facts |= {"student_id": row.Student.id, "student_number": row.Student.number}
    if "window" in event.payload:
        facts["window_id"] = event.payload["window"]
    if seats := event.payload.get("seats"):
        facts["seats"] = {name: seats[name] for name in COUNTS if name in seats}
    return _encoded(facts, str(event.context.get("correlation", "")))


def _encoded(facts: dict[str, Any], correlation: str = "") -> Message:
    body = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()
    return Message(facts["id"], body, correlation)
