"""The outboxes: mails and webhook deliveries are sent in turn, retried, or become dead letters."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Session

from portal.core.correlation import correlation
from portal.core.queue import enqueue_after
from portal.notifications.models import Notification, OutboxEntry, Outgoing
from portal.people.models import Account

# Kinds of mail without a notification.
CODE, LINK, ALERT, TEST, REPORT = "code", "link", "alert", "test", "report"
# Somebody waits for a code, a link or a test; an alert is urgent; a report takes longer to make.
RANKS = {CODE: -1, LINK: -1, ALERT: 0, TEST: -1, REPORT: 2}
DEAD = (OutboxEntry.dead_at.is_not(None), OutboxEntry.kind.not_in((CODE, LINK, TEST)))
RETRY_WINDOW = timedelta(days=1)  # of a mail that an admin sends again
DELETED_AT_ONCE = 10_000

log = logging.getLogger(__name__)
Entry = TypeVar("Entry", bound=Outgoing)


def due(model: type[Outgoing]) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for entries that are due now."""
    return model.sent_at.is_(None), model.dead_at.is_(None), model.due_at <= func.now()


def take_due(
    session: Session, model: type[Entry], *conditions: ColumnElement[bool], order: Any, most: int
) -> Sequence[Entry]:
    """Return the next due entries, locked until the transaction ends."""
    # A server may take longer than PostgreSQL lets a transaction be idle.
    session.execute(text("SET LOCAL idle_in_transaction_session_timeout = '2min'"))
    found = select(model).where(*due(model), *conditions).order_by(*order).limit(most)
    return session.scalars(found.with_for_update(skip_locked=True)).all()


def mark_sent(entry: Outgoing) -> None:
    entry.sent_at, entry.error = func.clock_timestamp(), ""
    entry.outcomes.labels("sent").inc()
    log.info("%s is sent", entry.label)


def postpone(entry: Outgoing, seconds: float, error: str) -> None:
    """Schedule another attempt."""
    entry.due_at, entry.error = func.clock_timestamp() + timedelta(seconds=seconds), error
    entry.outcomes.labels("put off").inc()
    log.warning("%s will be retried", entry.label)


def mark_dead(entry: Outgoing, error: str) -> None:
    entry.dead_at, entry.error = func.clock_timestamp(), error
    entry.outcomes.labels("given up").inc()
    log.error("%s is a dead letter", entry.label)  # without the error: it may contain an address


def retry_later(entry: Outgoing, error: str, pauses: Sequence[float]) -> None:
    """Schedule a retry after the next pause (s); after the last one it is a dead letter."""
    entry.tries += 1
    if entry.tries > len(pauses):
        mark_dead(entry, error)
    else:
        postpone(entry, pauses[entry.tries - 1], error)


def retry(session: Session, model: type[Outgoing], entries: Sequence[int]) -> list[int]:
    """Send dead letters again from now on; return those that were still dead."""
    enqueue_after(session, model.worker)
    due_again: dict[str, Any] = {"dead_at": None, "due_at": func.now(), "tries": 0}
    if model is OutboxEntry:
        due_again["until"] = func.now() + RETRY_WINDOW
    dead = update(model).where(model.id.in_(entries), model.dead_at.is_not(None))
    return list(session.scalars(dead.values(due_again).returning(model.id)))


def discard(session: Session, model: type[Outgoing], entries: Sequence[int]) -> list[int]:
    """Delete dead letters; return those that were still dead."""
    dead = delete(model).where(model.id.in_(entries), model.dead_at.is_not(None))
    return list(session.scalars(dead.returning(model.id)))


# Mail


def queue_mail(
    session: Session, kind: str, account: int | None, data: dict[str, Any], minutes: int
) -> int:
    """Queue mail without a notification for an account; return its number in the outbox.

    A worker sends it once the transaction commits. It expires after `minutes`. Only a link can go
    to an address without an account, which `data` names.
    """
    enqueue_after(session, "notify")
    return session.scalars(
        insert(OutboxEntry)
        .values(
            kind=kind,
            account_id=account,
            data=data,
            rank=RANKS[kind],
            until=func.now() + timedelta(minutes=minutes),
            correlation=correlation(),
        )
        .returning(OutboxEntry.id)
    ).one()


ORDER = OutboxEntry.rank, OutboxEntry.due_at
FIRST_DUE = select(OutboxEntry.due_at).where(*due(OutboxEntry)).order_by(*ORDER).limit(1)


def first_due(session: Session | Connection) -> datetime | None:
    """Return since when the first mail has been due; None if none is due."""
    return session.scalar(FIRST_DUE)


def take(session: Session) -> OutboxEntry | None:
    """Return the next due mail, locked until the transaction ends."""
    return next(iter(take_due(session, OutboxEntry, order=ORDER, most=1)), None)


@dataclass(frozen=True)
class DeadLetter:
    """A mail that could not be sent, and why."""

    id: int
    dead_at: datetime
    kind: str
    to: str
    tries: int
    error: str


def dead(session: Session, most: int | None = None) -> list[DeadLetter]:
    """Return the dead letters, oldest first; without codes and links, which have expired."""
    mail = OutboxEntry
    kind = func.coalesce(Notification.kind, mail.kind)
    found = (
        select(mail.id, mail.dead_at, kind, Account.email, mail.tries, mail.error)
        .outerjoin(Notification, Notification.id == mail.notification_id)
        .join(Account, Account.id == func.coalesce(Notification.account_id, mail.account_id))
        .where(*DEAD)
        .order_by(mail.dead_at, mail.id)
        .limit(most)
    )
    return [DeadLetter(*row) for row in session.execute(found)]  # type: ignore[arg-type]  # each has died


def number_dead(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(OutboxEntry).where(*DEAD)) or 0


def delete_old(session: Session, days: int) -> None:
    """Delete a batch of sent mail, dead letters and notifications older than `days`."""
    before = func.now() - timedelta(days=days)
    done = or_(OutboxEntry.sent_at < before, OutboxEntry.dead_at < before)
    mails = select(OutboxEntry.id).where(done).limit(DELETED_AT_ONCE)
    session.execute(delete(OutboxEntry).where(OutboxEntry.id.in_(mails)))
    by_mail = select(OutboxEntry.id).where(OutboxEntry.notification_id == Notification.id).exists()
    old = select(Notification.id).where(Notification.made_at < before, ~by_mail)
    session.execute(delete(Notification).where(Notification.id.in_(old.limit(DELETED_AT_ONCE))))
