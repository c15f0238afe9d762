"""Dead letters of applications: checks of documents, and calls to the payment provider."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.applications.models import ApplicationDocument, Charge
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.notifications.outbox import retry as retry_letters

MODELS: dict[str, type[ApplicationDocument | Charge]] = {
    "document": ApplicationDocument,
    "charge": Charge,
}
ACTIONS = {"document": "application.recheck", "charge": "application.charge"}


@dataclass(frozen=True)
class DeadLetter:
    """A check or a call that failed for good; `what` is one of MODELS."""

    what: str
    id: int
    application: int
    dead_at: datetime
    error: str


def dead(session: Session, most: int) -> list[DeadLetter]:
    """Return the oldest dead letters."""
    found = [
        DeadLetter(what, *row)  # type: ignore[arg-type]
        for what, model in MODELS.items()
        for row in session.execute(
            select(model.id, model.application_id, model.dead_at, model.error)
            .where(model.dead_at.is_not(None))
            .order_by(model.dead_at)
            .limit(most)
        )
    ]
    return sorted(found, key=lambda each: each.dead_at)[:most]


def number_dead(session: Session) -> int:
    found = (select(func.count()).where(each.dead_at.is_not(None)) for each in MODELS.values())
    return sum(session.scalar(count) or 0 for count in found)


def retry(what: str, letters: Sequence[int], by: int, reason: str) -> bool:
    """Try dead letters again; return whether any was still dead."""
    with transaction() as session:
        again = retry_letters(session, MODELS[what], letters)
        if again:
            subject, after = f"{what}:{again[0]}", {f"{what}s": sorted(again)}
            add_audit_entry(session, ACTIONS[what], subject, by=by, after=after, reason=reason)
    return bool(again)
