"""Terms and their selection windows, on a page that updates itself."""

from dataclasses import asdict, dataclass
from hashlib import sha256

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.catalog import cohort_names
from portal.catalog.models import Term
from portal.catalog.term_catalog import live_terms
from portal.core.db import transaction
from portal.ledger.types import WindowView
from portal.operations.figures import Ready, ready
from portal.recorder import read_with_fallback
from portal.reports.progress import Progress
from portal.reports.progress import progress_of as tally
from portal.waiting_room import room
from portal.waiting_room.room import RoomState
from portal.web.admin.timeline import Timeline, timeline
from portal.web.http.access import requires
from portal.windows import cohorts, readiness
from portal.windows.coverage import GroupCoverage, coverage_by_group
from portal.windows.phases import Phase, phase

bp = Blueprint("terms", __name__)


@dataclass(frozen=True)
class ScheduledWindow:
    """A window as an admin sees it."""

    window: WindowView
    phase: Phase
    whom: str
    students: int

    @property
    def counted(self) -> bool:
        """Return whether the cohort's text includes its number of students: only a list's does."""
        cohort = {kind: some for kind, some in self.window.cohort.items() if some}
        return cohort.keys() == {"list"} and cohort["list"]["students"] == self.students

    @property
    def canceled(self) -> bool:
        """Return whether it was canceled before it began."""
        return self.window.state == "canceled"

    @property
    def over(self) -> bool:
        """Return whether it has ended or was canceled."""
        return self.canceled or self.phase.kind == "ended"


@dataclass(frozen=True)
class WindowFigures:
    """A window's counts and its waiting room, which is None if off or unavailable."""

    room: RoomState | None
    tally: Progress


@dataclass(frozen=True)
class TermOverview:
    """A term with its windows."""

    term: Term
    phase: Phase
    windows: list[ScheduledWindow]
    timeline: Timeline | None
    lanes: list[GroupCoverage]
    running: dict[int, WindowFigures]
    ready: Ready | None = None

    @property
    def doubled(self) -> int:
        """Return how many students have two windows open at once, now or later."""
        return sum(lane.doubled(self.phase.now) for lane in self.lanes)

    @property
    def coming(self) -> list[ScheduledWindow]:
        """Return the open and future windows."""
        return [each for each in self.windows if not each.over]

    @property
    def over(self) -> list[ScheduledWindow]:
        """Return the windows that have ended or were canceled, the last first."""
        return [each for each in reversed(self.windows) if each.over]


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Render every term with its windows."""
    overviews = [_overview(term) for term in live_terms()]
    return render_template("admin/terms.html", overviews=overviews, mark=_mark(overviews))


@bp.get("/sections")
@requires("admin")
def sections() -> ResponseReturnValue:
    """Go to the sections of the latest term; to the windows if there is no term."""
    for term in live_terms():
        return redirect(url_for("admin.sections.index", term_id=term.id))
    return redirect(url_for("admin.terms.index"))


@bp.get("/now")
@requires("admin")
def now() -> ResponseReturnValue:
    """Render changes since the page with this mark: everything, or the figures alone."""
    overviews = [_overview(term) for term in live_terms()]
    mark = _mark(overviews)
    part = "figures" if request.args.get("mark") == mark else "overviews"
    told = render_template(f"admin/terms_{part}.html", overviews=overviews, mark=mark)
    return told + render_template("recorded.html")


def scheduled(window: WindowView, now: int) -> ScheduledWindow:
    """Return the window as an admin sees it, with the number of students in its cohort."""
    with transaction() as session:
        students = cohorts.count_students(session, window.cohort)
    return ScheduledWindow(
        window, phase([window], now), cohort_names.describe(window.cohort), students
    )


def _overview(term: Term) -> TermOverview:
    windows, now = read_with_fallback.windows(term.id), read_with_fallback.now()
    shown = [scheduled(window, now) for window in windows]
    with transaction() as session:
        cover = coverage_by_group(session, windows) if windows else []
        students = readiness.count_students(session)
    return TermOverview(
        term,
        phase(windows, now),
        shown,
        timeline(windows, now, backend().settings.zone, cover),
        cover,
        {each.window.id: _running(term.id, each.window) for each in shown if not each.over},
        None if read_with_fallback.recorded() else ready(term.id, students),
    )


def _running(term: int, window: WindowView) -> WindowFigures:
    rooms = backend().settings.room is not None and not read_with_fallback.recorded()
    return WindowFigures(room.state(term, window.id) if rooms else None, tally(term, window))


def _mark(overviews: list[TermOverview]) -> str:
    """Return a hash of everything on the page except the figures and the time left."""
    told = [
        (overview.term.id, overview.term.name, each.phase.kind, asdict(each.window))
        for overview in overviews
        for each in overview.windows
    ]
    return sha256(repr([told, [each.term.id for each in overviews]]).encode()).hexdigest()[:16]
