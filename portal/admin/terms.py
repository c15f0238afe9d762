"""Terms and their selection windows, by the ledger's clock; the page follows by itself."""

from dataclasses import asdict, dataclass
from hashlib import sha256

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.admin.windows.timeline import Timeline, timeline
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
from portal.web.http.access import requires
from portal.windows import cohorts, readiness
from portal.windows.coverage import GroupCoverage, coverage_by_group
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
    def counted(self) -> bool:
        """Whether the words of whom it is for say how many these are: a list alone."""
        cohort = {kind: some for kind, some in self.window.cohort.items() if some}
        return cohort.keys() == {"list"} and cohort["list"]["students"] == self.students

    @property
    def canceled(self) -> bool:
        """Whether it was called off before it began."""
        return self.window.state == "canceled"

    @property
    def over(self) -> bool:
        """Whether nothing is to come of it any more."""
        return self.canceled or self.phase.kind == "ended"


@dataclass(frozen=True)
class Running:
    """How a window stands now; no room where rooms are off, or can't be asked."""

    room: RoomState | None
    tally: Progress


@dataclass(frozen=True)
class Overview:
    """A term with all that has been scheduled in it."""

    term: Term
    phase: Phase
    windows: list[Scheduled]
    timeline: Timeline | None
    lanes: list[GroupCoverage]
    running: dict[int, Running]
    ready: Ready | None = None

    @property
    def doubled(self) -> int:
        """How many students have two windows open at once, now or later."""
        return sum(lane.doubled(self.phase.now) for lane in self.lanes)

    @property
    def coming(self) -> list[Scheduled]:
        """The windows that are open or to come."""
        return [each for each in self.windows if not each.over]

    @property
    def over(self) -> list[Scheduled]:
        """Those that have ended or were canceled, the last first."""
        return [each for each in reversed(self.windows) if each.over]


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Every term with its windows."""
    overviews = [_overview(term) for term in live_terms()]
    return render_template("admin/terms.html", overviews=overviews, mark=_mark(overviews))


@bp.get("/sections")
@requires("admin")
def sections() -> ResponseReturnValue:
    """On to the sections of the latest term; to the windows where there is no term."""
    for term in live_terms():
        return redirect(url_for("admin.sections.index", term_id=term.id))
    return redirect(url_for("admin.terms.index"))


@bp.get("/now")
@requires("admin")
def now() -> ResponseReturnValue:
    """What has changed since the page of that mark: everything, or the figures alone."""
    overviews = [_overview(term) for term in live_terms()]
    mark = _mark(overviews)
    part = "figures" if request.args.get("mark") == mark else "overviews"
    told = render_template(f"admin/terms_{part}.html", overviews=overviews, mark=mark)
    return told + render_template("recorded.html")


def scheduled(window: WindowView, now: int) -> Scheduled:
    """The window as an admin sees it, with the number of students that it is for."""
    with transaction() as session:
        students = cohorts.count_students(session, window.cohort)
    return Scheduled(window, phase([window], now), cohort_names.describe(window.cohort), students)


def _overview(term: Term) -> Overview:
    windows, now = read_with_fallback.windows(term.id), read_with_fallback.now()
    shown = [scheduled(window, now) for window in windows]
    with transaction() as session:
        cover = coverage_by_group(session, windows) if windows else []
        students = readiness.count_students(session)
    return Overview(
        term,
        phase(windows, now),
        shown,
        timeline(windows, now, backend().settings.zone, cover),
        cover,
        {each.window.id: _running(term.id, each.window) for each in shown if not each.over},
        None if read_with_fallback.recorded() else ready(term.id, students),
    )


def _running(term: int, window: WindowView) -> Running:
    rooms = backend().settings.room is not None and not read_with_fallback.recorded()
    return Running(room.state(term, window.id) if rooms else None, tally(term, window))


def _mark(overviews: list[Overview]) -> str:
    """Another where anything has changed but the figures and the time that is left."""
    told = [
        (overview.term.id, overview.term.name, each.phase.kind, asdict(each.window))
        for overview in overviews
        for each in overview.windows
    ]
    return sha256(repr([told, [each.term.id for each in overviews]]).encode()).hexdigest()[:16]
