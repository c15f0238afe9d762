"""Windows in an admin's forms, and students' actions in the ledger."""

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.catalog.models import Section, Term
from portal.ledger.types import Decision, RequestContext, WindowView
from portal.people.models import Student
from portal.recorder.recorder import drain
from portal.reports.closeout import close_out

HOUR = 60 * 60_000
WHY = {"reason": "The registrar asked for it"}


def address(window: WindowView, term: Term, action: str) -> str:
    """Return the address of a window's page or action."""
    return f"/admin/terms/{term.id}/windows/{window.id}/{action}"


def field(ms: int) -> str:
    """Return a moment as a form sends it."""
    return LocalClock(backend().settings.zone).field(ms // 1000 * 1000)


def drops(student: Student, section: Section, window: WindowView) -> Decision:
    """Drop a student's seat."""
    return backend().ledger.drop(
        RequestContext(section.term_id, student.id, "tests", "tests"),
        section.id,
        windows=[window.id],
        days=[(0, "today")],
        drop_limit=9,
    )


def closes(term: Term, window: WindowView) -> None:
    """Close the window now and make its reports."""
    backend().ledger.close_window(term.id, window.id, "tests")
    backend().ledger.turn(term.id)
    drain(term.id)
    close_out(term.id)
