"""What is to leave the system: taken in turn, sent again later, or given up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, insert, or_, select, text, update
from sqlalchemy.orm import Session

from portal.core.correlation import correlation
from portal.notifications.models import Notification, OutboxEntry
from portal.people.models import Account

CODE, ALERT = "code", "alert"  # kinds that belong to no notice
RANKS = {CODE: -1, ALERT: 0}  # somebody waits for a code; an alert matters at once
WAITING = (OutboxEntry.sent_at.is_(None), OutboxEntry.dead_at.is_(None))
GIVEN_UP = (OutboxEntry.dead_at.is_not(None), OutboxEntry.kind != CODE)
DUE = (*WAITING, OutboxEntry.due_at <= func.now())
IN_TURN = (OutboxEntry.rank, OutboxEntry.due_at)
KEPT_ALIVE = timedelta(days=1)  # once it has been sent again by hand


def put(session: Session, kind: str, account: int, data: dict[str, Any], minutes: int) -> None:
    """Have an account sent what belongs to no notice, within so many minutes or never."""
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
    """Since when the next has been due; None where nothing is."""
    return session.scalar(select(OutboxEntry.due_at).where(*DUE).order_by(*IN_TURN).limit(1))


def take(session: Session) -> OutboxEntry | None:
    """The next that is due, which is ours until the transaction ends."""
    # A mail server may take longer than PostgreSQL lets a transaction be idle.
    session.execute(text("SET LOCAL idle_in_transaction_session_timeout = '2min'"))
    found = select(OutboxEntry).where(*DUE).order_by(*IN_TURN).limit(1)
    return session.scalar(found.with_for_update(skip_locked=True))


@dataclass(frozen=True)
class DeadLetter:
    """What could not be sent, and why."""

    id: int
    dead_at: datetime
    kind: str
    to: str
    tries: int
    error: str


def dead(session: Session, most: int | None = None) -> list[DeadLetter]:
    """What has been given up, the oldest first; not codes, which are no use any more."""
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
    """How many there are of them."""
    return session.scalar(select(func.count()).select_from(OutboxEntry).where(*GIVEN_UP)) or 0


def revive(session: Session, letters: Sequence[int]) -> list[int]:
    """Let dead letters be sent again from now on; gives those that were dead still."""
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
    """Forget dead letters; gives those that were dead still."""
    gone = delete(OutboxEntry).where(OutboxEntry.id.in_(letters), OutboxEntry.dead_at.is_not(None))
    return list(session.scalars(gone.returning(OutboxEntry.id)))


# Notices and mails of long ago, let go of so many at a time.

DELETED_AT_ONCE = 10_000


def forget(session: Session, days: int) -> None:
    """Let go of mails that were sent or given up before so many days, and of notices as old."""
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
