"""What is to leave the system: taken in turn, sent again later, or given up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from portal.db import transaction
from portal.notices.models import Notice, Outgoing
from portal.people.models import Account

WAITING = (Outgoing.sent_at.is_(None), Outgoing.dead_at.is_(None))
DUE = (*WAITING, Outgoing.due_at <= func.now())
IN_TURN = (Outgoing.rank, Outgoing.due_at)
KEPT_ALIVE = timedelta(days=1)  # once it has been sent again by hand


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
    dead_at: datetime | None
    kind: str
    to: str
    tries: int
    error: str


def dead() -> list[DeadLetter]:
    """All that has been given up, the oldest first."""
    found = (
        select(
            Outgoing.id,
            Outgoing.dead_at,
            Notice.kind,
            Account.email,
            Outgoing.tries,
            Outgoing.error,
        )
        .join(Notice, Notice.id == Outgoing.notice_id)
        .join(Account, Account.id == Notice.account_id)
        .where(Outgoing.dead_at.is_not(None))
        .order_by(Outgoing.dead_at, Outgoing.id)
    )
    with transaction() as session:
        return [DeadLetter(*row) for row in session.execute(found)]


def revive(letters: Sequence[int]) -> int:
    """Let dead letters be sent again from now on; gives their number."""
    again = {
        "dead_at": None,
        "due_at": func.now(),
        "until": func.now() + KEPT_ALIVE,
        "tries": 0,
    }
    with transaction() as session:
        revived = session.execute(
            update(Outgoing)
            .where(Outgoing.id.in_(letters), Outgoing.dead_at.is_not(None))
            .values(again)
            .returning(Outgoing.id)
        )
        return len(revived.all())
