"""Where the windows of a term lie in time: the geometry of a drawing 1,000 units wide."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from portal.catalog.local_time import LocalClock
from portal.ledger.types import WindowView
from portal.windows.coverage import CoveredPeriod, GroupCoverage
from portal.windows.phases import phase

WIDTH = 1000
ROW = 40
TRACK = 32
HEAD = 34
FOOT = 20  # for the name of the line of this moment
GAP = 8
LETTER = 7.5  # about the width of one
LEFT = 700  # names of bars that begin beyond end with them
MARGIN = 0.04
LEAST_MARGIN = 15 * 60_000
THINNEST = 4.0
TICKS = 8
STEPS = (
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(days=1),
    timedelta(days=2),
    timedelta(days=7),
    timedelta(days=14),
    timedelta(days=28),
    timedelta(days=91),
    timedelta(days=365),
)


@dataclass(frozen=True)
class Bar:
    """A window: its name and kind, where it begins and how long it is."""

    name: str
    kind: str
    x: float
    y: float
    width: float
    name_x: float
    name_ends: bool  # at that place, instead of beginning there


@dataclass(frozen=True)
class Tick:
    """A time on the axis."""

    x: float
    label: str

    @property
    def ends(self) -> bool:
        """Whether its label ends there, as it would stick out beyond."""
        return self.x + LETTER * len(self.label) > WIDTH


@dataclass(frozen=True)
class Strip:
    """A time in which some, all or a part (twice) of a cohort has a window."""

    cover: str
    x: float
    width: float


@dataclass(frozen=True)
class Track:
    """A cohort under the windows, and when they are open to it."""

    name: str
    name_x: float
    y: float
    strips: list[Strip]


@dataclass(frozen=True)
class Timeline:
    """The drawing: `now` is where the ledger's clock stands."""

    bars: list[Bar]
    tracks: list[Track]
    ticks: list[Tick]
    now: float
    height: float

    @property
    def whole(self) -> float:
        """The height with the name of the line of this moment."""
        return self.height + FOOT


def timeline(
    windows: Sequence[WindowView], now: int, zone: ZoneInfo, lanes: Sequence[GroupCoverage] = ()
) -> Timeline | None:
    """The drawing of these windows, of their cohorts and of this moment; None without windows.

    Those that were canceled are left out: their times would only make the others small.
    """
    windows = [window for window in windows if window.state != "canceled"]
    if not windows:
        return None
    first = min(now, *(window.opens for window in windows))
    last = max(now, *(window.closes for window in windows))
    margin = max(LEAST_MARGIN, (last - first) * MARGIN)
    scale = Scale(first - margin, last + margin, zone)
    bars = [_bar(window, now, row, scale) for row, window in enumerate(windows)]
    below, line = HEAD + ROW * len(windows), scale.x(now)
    tracks = [_track(lane, below + TRACK * row, line, scale) for row, lane in enumerate(lanes)]
    height = below + TRACK * len(lanes)
    return Timeline(bars, tracks, scale.ticks(), line, height)


@dataclass(frozen=True)
class Scale:
    """From ms to places on the axis."""

    first: float
    last: float
    zone: ZoneInfo

    def x(self, ms: float) -> float:
        """The place of a moment."""
        return round((ms - self.first) / (self.last - self.first) * WIDTH, 1)

    def ticks(self) -> list[Tick]:
        """Round local times, at most about eight of them."""
        span = timedelta(milliseconds=self.last - self.first)
        step = next((step for step in STEPS if span / step <= TICKS), STEPS[-1])
        at = self._round(datetime.fromtimestamp(self.first / 1000, self.zone), step)
        found = []
        while at.timestamp() * 1000 < self.last:
            found.append(Tick(self.x(at.timestamp() * 1000), self._label(at, step)))
            at += step  # by the clock on the wall, across any change of it
        return [tick for tick in found if tick.x >= 0]

    def _round(self, local: datetime, step: timedelta) -> datetime:
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        if step >= timedelta(days=1):
            return midnight
        return midnight + (local - midnight) // step * step

    def _label(self, at: datetime, step: timedelta) -> str:
        face, ms = LocalClock(self.zone), round(at.timestamp() * 1000)
        whole = step >= timedelta(days=1) or (at.hour, at.minute) == (0, 0)
        return face.date(ms) if whole else face.clock(ms)


def _bar(window: WindowView, now: int, row: int, scale: Scale) -> Bar:
    x = scale.x(window.opens)
    width = max(THINNEST, round(scale.x(window.closes) - x, 1))
    kind, y, late = phase([window], now).kind, HEAD + ROW * row, x > LEFT
    name_x = x + width if late else _beside(scale.x(now), x, window.name)
    return Bar(window.name, kind, x, y, width, name_x, late)


def _track(lane: GroupCoverage, y: float, line: float, scale: Scale) -> Track:
    strips = [_strip(lane, stretch, scale) for stretch in lane.stretches]
    name = f"{lane.year}, {lane.level}"
    return Track(name, _beside(line, 0, name), y, strips)


def _beside(line: float, x: float, name: str) -> float:
    """Where a name begins: at `x`, or right of the line that would strike it through there."""
    return line + GAP if x - GAP < line < x + LETTER * len(name) else x


def _strip(lane: GroupCoverage, stretch: CoveredPeriod, scale: Scale) -> Strip:
    cover = "twice" if stretch.doubled else "all" if stretch.covered == lane.students else "some"
    x = scale.x(stretch.opens)
    return Strip(cover, x, max(THINNEST, round(scale.x(stretch.closes) - x, 1)))
