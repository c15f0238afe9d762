"""The timeline of a term's windows: the geometry of a drawing 1,000 units wide."""

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
FOOT = 20  # for the label of the current time
GAP = 8
LETTER = 7.5  # approximate width of a letter
LEFT = 700  # the name of a bar that begins further right ends with the bar
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
    """A window: its name and kind, its start and its width."""

    name: str
    kind: str
    x: float
    y: float
    width: float
    name_x: float
    name_ends: bool  # at `name_x`, instead of starting there


@dataclass(frozen=True)
class Tick:
    """A time on the axis."""

    x: float
    label: str

    @property
    def ends(self) -> bool:
        """Return whether its label ends there, because it would exceed the drawing."""
        return self.x + LETTER * len(self.label) > WIDTH


@dataclass(frozen=True)
class Strip:
    """A period in which some or all of a cohort have a window, or some have two."""

    cover: str
    x: float
    width: float


@dataclass(frozen=True)
class Track:
    """A cohort below the windows, and when windows are open to it."""

    name: str
    name_x: float
    y: float
    strips: list[Strip]


@dataclass(frozen=True)
class Timeline:
    """The drawing: `now` is the current time of the ledger's clock."""

    bars: list[Bar]
    tracks: list[Track]
    ticks: list[Tick]
    now: float
    height: float

    @property
    def whole(self) -> float:
        """Return the height with the label of the current time."""
        return self.height + FOOT


def timeline(
    windows: Sequence[WindowView], now: int, zone: ZoneInfo, lanes: Sequence[GroupCoverage] = ()
) -> Timeline | None:
    """Return the drawing of the windows, their cohorts and the current time; None without windows.

    Canceled windows are left out: their times would shrink the others.
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
    """The scale from ms to positions on the axis."""

    first: float
    last: float
    zone: ZoneInfo

    def x(self, ms: float) -> float:
        """Return the position of a moment."""
        return round((ms - self.first) / (self.last - self.first) * WIDTH, 1)

    def ticks(self) -> list[Tick]:
        """Return round local times, usually eight at most."""
        span = timedelta(milliseconds=self.last - self.first)
        step = next((step for step in STEPS if span / step <= TICKS), STEPS[-1])
        at = self._round(datetime.fromtimestamp(self.first / 1000, self.zone), step)
        found = []
        while at.timestamp() * 1000 < self.last:
            found.append(Tick(self.x(at.timestamp() * 1000), self._label(at, step)))
            at += step  # in local time, across clock changes
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
    """Return the start of a name: `x`, or right of the current-time line if both would overlap."""
    return line + GAP if x - GAP < line < x + LETTER * len(name) else x


def _strip(lane: GroupCoverage, stretch: CoveredPeriod, scale: Scale) -> Strip:
    cover = "twice" if stretch.doubled else "all" if stretch.covered == lane.students else "some"
    x = scale.x(stretch.opens)
    return Strip(cover, x, max(THINNEST, round(scale.x(stretch.closes) - x, 1)))
