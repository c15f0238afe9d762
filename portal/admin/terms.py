"""Terms and their selection windows, by the ledger's clock."""

from dataclasses import dataclass

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from portal.access import requires
from portal.admin.timeline import Timeline, timeline
from portal.backend import backend
from portal.catalog.models import Term
from portal.catalog.terms import live_terms
from portal.db import transaction
from portal.seats.answers import WindowView
from portal.windows import cohorts
from portal.windows.phases import Phase, phase

bp = Blueprint("terms", __name__)


@dataclass(frozen=True)
class Scheduled:
    """A window as an admin sees it."""

    window: WindowView
    phase: Phase
    whom: str
    students: int

    @property
    def canceled(self) -> bool:
        """Whether it was called off before it began."""
        return self.window.state == "canceled"


@dataclass(frozen=True)
class Overview:
    """A term with all that has been scheduled in it."""

    term: Term
    phase: Phase
    windows: list[Scheduled]
    timeline: Timeline | None


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Every term with its windows."""
    return render_template("admin/terms.html", overviews=[_overview(term) for term in live_terms()])


def scheduled(window: WindowView, now: int) -> Scheduled:
    """The window as an admin sees it, with the number of students that it is for."""
    with transaction() as session:
        students = cohorts.size(session, window.cohort)
    return Scheduled(window, phase([window], now), cohorts.describe(window.cohort), students)


def _overview(term: Term) -> Overview:
    ledger = backend().ledger
    windows, now = ledger.windows(term.id), ledger.now()
    return Overview(
        term,
        phase(windows, now),
        [scheduled(window, now) for window in windows],
        timeline(windows, now, backend().settings.zone),
    )
