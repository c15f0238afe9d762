"""Which windows have ended and have no report yet."""

from typing import Any

from sqlalchemy import Select, exists, func, select

from portal.catalog.models import Term
from portal.recorder.models import LoggedEvent
from portal.reports.models import WindowReport
from portal.windows.models import Window

CLOSING = "window_closed"


def ended(term: int) -> Select[int, int]:
    """The windows of a term that are to be closed out, with the event by which each closed.

    Only once that event is recorded: then so is all that was decided before it.
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


def unreported() -> Any:
    """How many a term has, as a part of a query of terms."""
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
