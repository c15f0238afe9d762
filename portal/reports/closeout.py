"""Windows that have ended and have no report yet."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session

from portal.catalog.models import Term
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.recorder.models import LoggedEvent
from portal.recorder.subscribers import DueJob
from portal.reports import fairness
from portal.reports.models import WindowReport
from portal.reports.results import result
from portal.reports.window_history import gather
from portal.windows.models import Window

CLOSING = "window_closed"


def ended(term: int) -> Select[int, int]:
    """Return a term's windows that need a report, with the events that closed them.

    Only once that event is recorded: then so is everything decided before it.
    """
    closing = (LoggedEvent.aggregate == func.concat("window:", Window.id)) & (
        LoggedEvent.name == CLOSING
    )
    return (
        select(Window.id, LoggedEvent.seq)
        .join(LoggedEvent, closing)
        .where(Window.term_id == term, LoggedEvent.term_id == term, ~_reported())
        .order_by(LoggedEvent.seq)
    )


def due_jobs(terms: Sequence[int]) -> list[DueJob]:
    """Return a job for each term with ended windows that have no report yet."""
    with transaction() as session:
        found = session.execute(select(Term.id, unreported()).where(Term.id.in_(terms)))
        return [DueJob(term, "maintain", ended) for term, ended in found if ended]


def unreported() -> Any:
    """Return how many such windows a term has, as part of a query of terms."""
    return (
        select(func.count())
        .select_from(Window)
        .where(Window.term_id == Term.id, Window.state != "canceled")
        .where(Window.closes_at <= func.now(), ~_reported())
        .correlate(Term)
        .scalar_subquery()
    )


def _reported() -> Any:
    return exists().where(WindowReport.window_id == Window.id).correlate(Window)


# Reports are made once, when everything decided in the window is recorded.


def close_out(term: int) -> int:
    """Make the reports of a term's ended windows; return their number."""
    with transaction() as session:
        waiting = session.execute(ended(term)).all()
    return sum(_close_out(window, closing) for window, closing in waiting)


def report(window: int) -> WindowReport | None:
    """Return the report of a window, None if it is not made yet."""
    with transaction() as session:
        return session.get(WindowReport, window)


def _close_out(number: int, closing: int) -> bool:
    """Make a report, with an entry in the audit trail; return whether it was new."""
    with transaction() as session:
        # A second worker waits here, and then finds the report made.
        window = session.get_one(Window, number, with_for_update=True)
        if session.scalar(select(WindowReport.window_id).where(WindowReport.window_id == number)):
            return False
        _make(session, window, closing)
    return True


def _make(session: Session, window: Window, closing: int) -> None:
    found = gather(session, window, closing)
    made = result(found)
    session.add(
        WindowReport(
            window_id=window.id,
            term_id=window.term_id,
            seq=closing,
            students=len(found.members),
            result=made,
            fairness=fairness.fairness(found, fairness.look(found)),
        )
    )
    add_audit_entry(
        session,
        "window.closed",
        f"term:{window.term_id} window:{window.id}",
        after={"seq": closing, **made["students"], **made["counts"]},
    )
