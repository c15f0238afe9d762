"""The windows of a term, moved to another: as many weeks later as that term begins later."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog.local_time import LocalClock
from portal.core.audit_trail import AuditEntry
from portal.ledger.types import WindowView
from portal.windows.service import NewWindow


def planned_ends(session: Session, term: int) -> dict[int, int]:
    """Return until when (ms) windows were to be open that an admin closed early, by their ids."""
    found = select(AuditEntry.subject, AuditEntry.before).where(
        AuditEntry.action == "window.close", AuditEntry.subject.startswith(f"term:{term} window:")
    )
    return {
        int(subject.rpartition(":")[2]): before["closes"]
        for subject, before in session.execute(found)
        if before
    }


def moved(
    windows: Iterable[WindowView],
    planned: Mapping[int, int],
    weeks: timedelta,
    clock: LocalClock,
    now: int,
) -> dict[int, NewWindow]:
    """Return copies at the same weekday and local time, by the ids of their windows, if to come.

    A window that was closed early has the end that was `planned`, if that is known. Canceled
    windows are left out.
    """

    def later(ms: int) -> int:
        return round((clock.at(ms) + weeks).timestamp() * 1000)

    found = {
        each.id: NewWindow(
            each.name,
            later(each.opens),
            later(planned.get(each.id, each.closes)),
            dict(each.cohort),
        )
        for each in sorted(windows, key=lambda each: (each.opens, each.id))
        if each.state != "canceled"
    }
    return {window: copy for window, copy in found.items() if copy.opens > now}
