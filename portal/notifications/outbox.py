"""The outbox: mail is sent in turn, retried later, or becomes a dead letter."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, insert, or_, select, text, update
from sqlalchemy.orm import Session

from portal.core.correlation import correlation
from portal.notifications.models import Notification, OutboxEntry
from portal.people.models import Account

CODE, ALERT = "code", "alert"  # kinds without a notification
RANKS = {CODE: -1, ALERT: 0}  # somebody waits for a code; an alert is urgent
WAITING = (OutboxEntry.sent_at.is_(None), OutboxEntry.dead_at.is_(None))
GIVEN_UP = (OutboxEntry.dead_at.is_not(None), OutboxEntry.kind != CODE)
DUE = (*WAITING, OutboxEntry.due_at <= func.now())
IN_TURN = (OutboxEntry.rank, OutboxEntry.due_at)
KEPT_ALIVE = timedelta(days=1)  # after an admin sends it again


def put(session: Session, kind: str, account: int, data: dict[str, Any], minutes: int) -> None:
    """Queue mail without a notification for an account; it expires after `minutes`."""
    session.execute(
        insert(OutboxEntry).values(
            kind=kind,
            account_id=account,
            data=data,
            rank=RANKS[kind],
            due_at=func.now(),
            until=func.now() + timedelta(minutes=minutes),
            tries=0,
            error="",
            correlation=correlation(),
        )
    )


def first_due(session: Session) -> datetime | None:
    """Return since when the first mail has been due; None if none is due."""
    return session.scalar(select(OutboxEntry.due_at).where(*DUE).order_by(*IN_TURN).limit(1))


def take(session: Session) -> OutboxEntry | None:
    """Return the next due mail, locked until the transaction ends."""
    # A mail server may take longer than PostgreSQL lets a transaction be idle.
    session.execute(text("SET LOCAL idle_in_transaction_session_timeout = '2min'"))
    found = select(OutboxEntry).where(*DUE).order_by(*IN_TURN).limit(1)
    return session.scalar(found.with_for_update(skip_locked=True))


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
    """Return the dead letters, oldest first; without codes, which have expired."""
    kind = func.coalesce(Notification.kind, OutboxEntry.kind)
    found = (
        select(
            OutboxEntry.id,
            OutboxEntry.dead_at,
            kind,
            Account.email,
            OutboxEntry.tries,
            OutboxEntry.error,
        )
        .outerjoin(Notification, Notification.id == OutboxEntry.notice_id)
        .join(Account, Account.id == func.coalesce(Notification.account_id, OutboxEntry.account_id))
        .where(*GIVEN_UP)
        .order_by(OutboxEntry.dead_at, OutboxEntry.id)
        .limit(most)
    )
    return [DeadLetter(*row) for row in session.execute(found)]  # type: ignore[arg-type]  # each has died


def number_dead(session: Session) -> int:
    """Return the number of dead letters."""
    return session.scalar(select(func.count()).select_from(OutboxEntry).where(*GIVEN_UP)) or 0


def revive(session: Session, letters: Sequence[int]) -> list[int]:
    """Send dead letters again from now on; return those that were still dead."""
    again = {
        "dead_at": None,
        "due_at": func.now(),
        "until": func.now() + KEPT_ALIVE,
        "tries": 0,
    }
    return list(
        session.scalars(
            update(OutboxEntry)
            .where(OutboxEntry.id.in_(letters), OutboxEntry.dead_at.is_not(None))
            .values(again)
            .returning(OutboxEntry.id)
        )
    )


def discard(session: Session, letters: Sequence[int]) -> list[int]:
    """Delete dead letters; return those that were still dead."""
    gone = delete(OutboxEntry).where(OutboxEntry.id.in_(letters), OutboxEntry.dead_at.is_not(None))
    return list(session.scalars(gone.returning(OutboxEntry.id)))


# Old notifications and mail are deleted in batches.

DELETED_AT_ONCE = 10_000


def forget(session: Session, days: int) -> None:
    """Delete sent mail, dead letters and notifications older than `days`."""
    before = func.now() - timedelta(days=days)
    done = or_(OutboxEntry.sent_at < before, OutboxEntry.dead_at < before)
    mails = select(OutboxEntry.id).where(done).limit(DELETED_AT_ONCE)
    session.execute(delete(OutboxEntry).where(OutboxEntry.id.in_(mails)))
    by_mail = select(OutboxEntry.id).where(OutboxEntry.notice_id == Notification.id).exists()
    notices = (
        select(Notification.id)
        .where(Notification.made_at < before, ~by_mail)
        .limit(DELETED_AT_ONCE)
    )
    session.execute(delete(Notification).where(Notification.id.in_(notices)))
