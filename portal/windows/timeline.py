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
ROW = 40  # height of a window
TRACK = 32  # height of a cohort
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
    *(timedelta(minutes=minutes) for minutes in (5, 15, 60, 180, 360, 720)),
    *(timedelta(days=days) for days in (1, 2, 7, 14, 28, 91, 365)),
)


@dataclass(frozen=True)
class Bar:
    """A window by its phase, or a period by its cover: `all` of a cohort, `some`, or `twice`."""

    kind: str
    x: float
    width: float


@dataclass(frozen=True)
class Row:
    """A window with its bar, or a cohort with the periods in which windows are open to it."""

    name: str
    name_x: float
    y: float
    bars: list[Bar]
    name_ends: bool = False  # at `name_x`, instead of starting there


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
class Timeline:
    """The drawing: `now` is the current time of the ledger's clock."""

    windows: list[Row]
    cohorts: list[Row]
    ticks: list[Tick]
    now: float
    height: float  # without the label of the current time
    full_height: float


def timeline(
    windows: Sequence[WindowView], now: int, zone: ZoneInfo, groups: Sequence[GroupCoverage] = ()
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
    line, below = scale.x(now), HEAD + ROW * len(windows)
    rows, tracks = [], []
    for number, window in enumerate(windows):
        bar = scale.bar(phase([window], now).kind, window.opens, window.closes)
        ends = bar.x > LEFT
        name_x = bar.x + bar.width if ends else _beside(line, bar.x, window.name)
        rows.append(Row(window.name, name_x, HEAD + ROW * number, [bar], name_ends=ends))
    names = [
        ", ".join(dict.fromkeys((each.year, each.level))) for each in groups
    ]  # "Visiting" is both
    start = max((_beside(line, 0, name) for name in names), default=0)
    for number, (group, name) in enumerate(zip(groups, names, strict=True)):
        bars = [
            scale.bar(_cover(group, period), period.opens, period.closes)
            for period in group.stretches
        ]
        tracks.append(Row(name, start, below + TRACK * number, bars))
    height = below + TRACK * len(groups)
    return Timeline(rows, tracks, scale.ticks(), line, height, height + FOOT)


@dataclass(frozen=True)
class Scale:
    """The scale from ms to positions on the axis."""

    first: float
    last: float
    zone: ZoneInfo

    def x(self, ms: float) -> float:
        return round((ms - self.first) / (self.last - self.first) * WIDTH, 1)

    def bar(self, kind: str, opens: int, closes: int) -> Bar:
        x = self.x(opens)
        return Bar(kind, x, max(THINNEST, round(self.x(closes) - x, 1)))

    def ticks(self) -> list[Tick]:
        """Return round local times, usually eight at most."""
        span = timedelta(milliseconds=self.last - self.first)
        step = next((step for step in STEPS if span / step <= TICKS), STEPS[-1])
        start = datetime.fromtimestamp(self.first / 1000, self.zone)
        at = start.replace(hour=0, minute=0, second=0, microsecond=0)
        if step < timedelta(days=1):
            at += (start - at) // step * step
        clock, found = LocalClock(self.zone), []
        while (ms := at.timestamp() * 1000) < self.last:
            whole_day = step >= timedelta(days=1) or (at.hour, at.minute) == (0, 0)
            label = clock.date(round(ms)) if whole_day else clock.clock(round(ms))
            found.append(Tick(self.x(ms), label))
            at += step  # in local time, across clock changes
        return [tick for tick in found if tick.x >= 0]


def _beside(line: float, x: float, name: str) -> float:
    """Return the start of a name: `x`, or right of the current-time line if both would overlap."""
    return line + GAP if x - GAP < line < x + LETTER * len(name) else x


def _cover(group: GroupCoverage, period: CoveredPeriod) -> str:
    if period.doubled:
        return "twice"
    return "all" if period.covered == group.students else "some"
