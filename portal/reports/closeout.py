"""Reports of ended windows: made once, when everything decided in the window is recorded."""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, exists, func, select

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.recorder.models import LoggedEvent
from portal.recorder.signals import DueJob
from portal.reports import fairness
from portal.reports.models import WindowReport
from portal.reports.results import result
from portal.reports.window_history import read_history
from portal.windows.models import Window

REPORTED = exists().where(WindowReport.window_id == Window.id).correlate(Window)


ENDED = (
    select(Window.term_id, func.count())
    .where(Window.term_id.in_(bindparam("terms", expanding=True)), Window.state != "canceled")
    .where(Window.closes_at <= func.now(), ~REPORTED)
    .group_by(Window.term_id)
)


def due_jobs(look: Connection, terms: Sequence[int]) -> list[DueJob]:
    """Return a job for each term with ended windows that have no report yet."""
    return [
        DueJob(term, "maintain", count) for term, count in look.execute(ENDED, {"terms": terms})
    ]


def close_out(term: int) -> int:
    """Make the reports of a term's ended windows; return their number.

    The event that closed a window must be recorded: then everything decided before it is, too.
    """
    ended = (
        select(Window.id, LoggedEvent.seq)
        .join(LoggedEvent, LoggedEvent.aggregate == func.concat("window:", Window.id))
        .where(Window.term_id == term, LoggedEvent.term_id == term, ~REPORTED)
        .where(LoggedEvent.name == "window_closed")
        .order_by(LoggedEvent.seq)
    )
    with transaction() as session:
        waiting = session.execute(ended).all()
    return sum(_make_report(window, closing) for window, closing in waiting)


def report(window: int) -> WindowReport | None:
    """Return the report of a window, None if it is not made yet."""
    with transaction() as session:
        return session.get(WindowReport, window)


def _make_report(number: int, closing: int) -> bool:
    """Make a report, with an entry in the audit trail; return whether it was new."""
    with transaction() as session:
        # A second worker waits here, and then finds the report made.
        window = session.get_one(Window, number, with_for_update=True)
        if session.get(WindowReport, number):
            return False
        found = read_history(session, window, closing)
        made = result(found)
        session.add(
            WindowReport(
                window_id=window.id,
                term_id=window.term_id,
                seq=closing,
                students=len(found.members),
                result=made,
                fairness=fairness.fairness(found, fairness.read_arrivals(found)),
            )
        )
        add_audit_entry(
            session,
            "window.closed",
            f"term:{window.term_id} window:{window.id}",
            after={"seq": closing, **made["students"], **made["counts"]},
        )
    return True
