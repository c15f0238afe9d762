"""What is to leave the system: taken in turn, sent again later, or given up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.orm import Session

from portal.core.correlation import correlation
from portal.notifications.models import Notice, Outgoing
from portal.people.models import Account

CODE, ALERT = "code", "alert"  # kinds that belong to no notice
RANKS = {CODE: -1, ALERT: 0}  # somebody waits for a code; an alert matters at once
WAITING = (Outgoing.sent_at.is_(None), Outgoing.dead_at.is_(None))
GIVEN_UP = (Outgoing.dead_at.is_not(None), Outgoing.kind != CODE)
DUE = (*WAITING, Outgoing.due_at <= func.now())
IN_TURN = (Outgoing.rank, Outgoing.due_at)
KEPT_ALIVE = timedelta(days=1)  # once it has been sent again by hand


def put(session: Session, kind: str, account: int, data: dict[str, Any], minutes: int) -> None:
    """Have an account sent what belongs to no notice, within so many minutes or never."""
    session.execute(
        insert(Outgoing).values(
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
    return session.scalar(select(Outgoing.due_at).where(*DUE).order_by(*IN_TURN).limit(1))


def take(session: Session) -> Outgoing | None:
    """The next that is due, which is ours until the transaction ends."""
    # A mail server may take longer than PostgreSQL lets a transaction be idle.
    session.execute(text("SET LOCAL idle_in_transaction_session_timeout = '2min'"))
    found = select(Outgoing).where(*DUE).order_by(*IN_TURN).limit(1)
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
    kind = func.coalesce(Notice.kind, Outgoing.kind)
    found = (
        select(Outgoing.id, Outgoing.dead_at, kind, Account.email, Outgoing.tries, Outgoing.error)
        .outerjoin(Notice, Notice.id == Outgoing.notice_id)
        .join(Account, Account.id == func.coalesce(Notice.account_id, Outgoing.account_id))
        .where(*GIVEN_UP)
        .order_by(Outgoing.dead_at, Outgoing.id)
        .limit(most)
    )
    return [DeadLetter(*row) for row in session.execute(found)]  # type: ignore[arg-type]  # each has died


def number_dead(session: Session) -> int:
    """How many there are of them."""
    return session.scalar(select(func.count()).select_from(Outgoing).where(*GIVEN_UP)) or 0


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
            update(Outgoing)
            .where(Outgoing.id.in_(letters), Outgoing.dead_at.is_not(None))
            .values(again)
            .returning(Outgoing.id)
        )
    )


def discard(session: Session, letters: Sequence[int]) -> list[int]:
    """Forget dead letters; gives those that were dead still."""
    gone = delete(Outgoing).where(Outgoing.id.in_(letters), Outgoing.dead_at.is_not(None))
    return list(session.scalars(gone.returning(Outgoing.id)))
