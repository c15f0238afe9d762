"""Where the windows of a term lie in time: the geometry of a drawing 1,000 units wide."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from portal.seats.answers import WindowView
from portal.windows.localtime import Clockface
from portal.windows.phases import phase

WIDTH = 1000
ROW = 40
HEAD = 34
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


@dataclass(frozen=True)
class Tick:
    """A time on the axis."""

    x: float
    label: str


@dataclass(frozen=True)
class Timeline:
    """The drawing: `now` is where the ledger's clock stands."""

    bars: list[Bar]
    ticks: list[Tick]
    now: float
    height: float


def timeline(windows: Sequence[WindowView], now: int, zone: ZoneInfo) -> Timeline | None:
    """The drawing of these windows and of this moment; None where there are none."""
    if not windows:
        return None
    first = min(now, *(window.opens for window in windows))
    last = max(now, *(window.closes for window in windows))
    margin = max(LEAST_MARGIN, (last - first) * MARGIN)
    scale = Scale(first - margin, last + margin, zone)
    bars = [_bar(window, now, row, scale) for row, window in enumerate(windows)]
    return Timeline(bars, scale.ticks(), scale.x(now), HEAD + ROW * len(windows))


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
        face, ms = Clockface(self.zone), round(at.timestamp() * 1000)
        whole = step >= timedelta(days=1) or (at.hour, at.minute) == (0, 0)
        return face.date(ms) if whole else face.clock(ms)


def _bar(window: WindowView, now: int, row: int, scale: Scale) -> Bar:
    kind = "canceled" if window.state == "canceled" else phase([window], now).kind
    x = scale.x(window.opens)
    width = max(THINNEST, round(scale.x(window.closes) - x, 1))
    return Bar(window.name, kind, x, HEAD + ROW * row, width)
