"""Between the ledger's moments (ms since 1970) and the clocks on the institution's walls."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo


class NotOnTheClock(ValueError):  # noqa: N818 - a fact about a clock, not a mistake
    """A time that was skipped when clocks went forward."""


class TwiceOnTheClock(ValueError):  # noqa: N818 - a fact about a clock, not a mistake
    """A time that comes twice when clocks go back; `choices` has both moments."""

    def __init__(self, choices: tuple[int, int]) -> None:
        super().__init__("This time comes twice.")
        self.choices = choices


@dataclass(frozen=True)
class Clockface:
    """Moments as people of one time zone read and write them."""

    zone: ZoneInfo

    def at(self, ms: int) -> datetime:
        """The local time of a moment."""
        return datetime.fromtimestamp(ms / 1000, self.zone)

    def day(self, ms: int) -> str:
        """Such as `Mon 23 Nov 2026`."""
        local = self.at(ms)
        return f"{local:%a} {local.day} {local:%b %Y}"

    def clock(self, ms: int) -> str:
        """Such as `9:00 am`; seconds only where there are some."""
        local = self.at(ms)
        seconds = f":{local.second:02d}" if local.second else ""
        half = "am" if local.hour < 12 else "pm"
        return f"{local.hour % 12 or 12}:{local.minute:02d}{seconds} {half}"

    def name(self, ms: int) -> str:
        """The zone's short name at that moment, such as `EST`."""
        return self.at(ms).tzname() or str(self.zone)

    def full(self, ms: int) -> str:
        """Such as `Mon 23 Nov 2026, 9:00 am EST`."""
        return f"{self.day(ms)}, {self.clock(ms)} {self.name(ms)}"

    def short(self, moment: datetime) -> str:
        """Such as `23 Nov, 9:00:05 am`, of a moment out of the database."""
        ms = round(moment.timestamp()) * 1000
        local = self.at(ms)
        return f"{local.day} {local:%b}, {self.clock(ms)}"

    def iso(self, ms: int) -> str:
        """For `<time datetime>`: in UTC, which every browser reads alike."""
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")

    def field(self, ms: int) -> str:
        """For `<input type="datetime-local">`."""
        local = self.at(ms)
        return f"{local:%Y-%m-%dT%H:%M:%S}" if local.second else f"{local:%Y-%m-%dT%H:%M}"

    def moment(self, text: str, *, second: bool | None = None) -> int:
        """The ms of a local time as a form sends it; `second` picks one that comes twice.

        Raises ValueError where it is no time, NotOnTheClock or TwiceOnTheClock.
        """
        naive = datetime.fromisoformat(text)
        if naive.tzinfo is not None:
            raise ValueError("A local time has no zone of its own.")
        first, later = (self._ms(naive, fold) for fold in (0, 1))
        if first == later:
            return first
        if first > later:  # the offset before the jump puts it after, and the other way round
            raise NotOnTheClock
        if second is None:
            raise TwiceOnTheClock((first, later))
        return later if second else first

    def jump(self, text: str) -> tuple[int, int]:
        """Around a skipped time: the last minute before and the first minute after the jump."""
        naive = datetime.fromisoformat(text)
        minute = timedelta(minutes=1)
        before = naive
        while self._skipped(before):
            before -= minute
        last = self._ms(before, 0)
        return last, last + 60_000

    def _skipped(self, naive: datetime) -> bool:
        return self._ms(naive, 0) > self._ms(naive, 1)

    def _ms(self, naive: datetime, fold: int) -> int:
        local = naive.replace(tzinfo=self.zone, fold=fold)
        return round(local.timestamp() * 1000)
