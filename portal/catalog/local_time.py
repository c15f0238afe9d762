"""Between the ledger's moments (ms since 1970) and the clocks on the institution's walls."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_skeleton

from portal.backend import backend
from portal.catalog import formatting
from portal.core.i18n import ENGLISH, _, current_locale


class SkippedTime(ValueError):  # noqa: N818 - a fact about a clock, not a mistake
    """A time that was skipped when clocks went forward."""


class AmbiguousTime(ValueError):  # noqa: N818 - a fact about a clock, not a mistake
    """A time that comes twice when clocks go back; `choices` has both moments."""

    def __init__(self, choices: tuple[int, int]) -> None:
        super().__init__("This time comes twice.")
        self.choices = choices


@dataclass(frozen=True)
class LocalClock:
    """Moments as people of one time zone read and write them, each in their own language."""

    zone: ZoneInfo

    def at(self, ms: int) -> datetime:
        """The local time of a moment."""
        return datetime.fromtimestamp(ms / 1000, self.zone)

    def day(self, ms: int) -> str:
        """Such as `Mon, Nov 23, 2026`."""
        return self._date(ms, "yMMMEd")

    def weekday(self, ms: int) -> str:
        """Such as `Mon, Nov 23`, where the year is plain."""
        return self._date(ms, "MMMEd")

    def date(self, ms: int) -> str:
        """Such as `Nov 23`, where the weekday is of no matter."""
        return self._date(ms, "MMMd")

    def clock(self, ms: int, *, seconds: bool = False) -> str:
        """Such as `9:00 am`; seconds where there are some, or in any case."""
        return formatting.clock(self.at(ms).time(), seconds=seconds)

    def name(self, ms: int) -> str:
        """The zone's short name at that moment, such as `EST`."""
        return self.at(ms).tzname() or str(self.zone)

    def full(self, ms: int) -> str:
        """Such as `Mon, Nov 23, 2026, 9:00 am EST`."""
        return f"{self.day(ms)}, {self.clock(ms)} {self.name(ms)}"

    def short(self, moment: datetime) -> str:
        """Such as `Nov 23, 9:00:05 am`, of a moment out of the database."""
        ms = int(moment.timestamp()) * 1000
        return f"{self.date(ms)}, {self.clock(ms)}"

    def exact(self, moment: datetime) -> str:
        """The same with its seconds in any case, where many stand below one another."""
        ms = int(moment.timestamp()) * 1000
        return f"{self.date(ms)}, {self.clock(ms, seconds=True)}"

    def first(self, begin: datetime) -> str:
        """Such as `Nov 23, 2026`, of a beginning out of the database; the time if not midnight."""
        return self._day_of(begin, begin)

    def last(self, end: datetime) -> str:
        """The same of an end: the day before a midnight is the last one."""
        return self._day_of(end, end - timedelta(seconds=1))

    def soon(self, ms: int, now: int) -> str:
        """As briefly as it is clear: the clock if it is today, else the day, such as `Nov 23`."""
        return self.clock(ms) if self._same_day(ms, now) else formatting.day(self.at(ms).date())

    def moment_at(self, ms: int, now: int) -> str:
        """Such as `9:00 am`, or `Mon, Nov 23, 9:00 am` on another day than `now`."""
        clock = self.clock(ms)
        return clock if self._same_day(ms, now) else f"{self.weekday(ms)}, {clock}"

    def when(self, ms: int, now: int) -> str:
        """The same as a part of a sentence: `at 9:00 am`, `on Mon, Nov 23, 9:00 am`."""
        if self._same_day(ms, now):
            return _("at %(time)s", time=self.clock(ms))
        return _("on %(day)s, %(time)s", day=self.weekday(ms), time=self.clock(ms))

    def spoken(self, ms: int) -> str:
        """The same in full: `9:00 am on Thursday, September 3`."""
        day = format_date(
            self.at(ms), "EEEE, MMMM d" if current_locale() == ENGLISH else "full", current_locale()
        )
        return _("%(time)s on %(day)s", time=self.clock(ms), day=day)

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
            raise SkippedTime
        if second is None:
            raise AmbiguousTime((first, later))
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

    def _day_of(self, moment: datetime, within: datetime) -> str:
        local = moment.astimezone(self.zone)
        if local.time() != time.min:
            return self.full(int(moment.timestamp()) * 1000)
        return self._date(int(within.timestamp()) * 1000, "yMMMd")

    def _date(self, ms: int, skeleton: str) -> str:
        return format_skeleton(skeleton, self.at(ms), locale=current_locale())

    def _same_day(self, ms: int, now: int) -> bool:
        return self.at(ms).date() == self.at(now).date()

    def _skipped(self, naive: datetime) -> bool:
        return self._ms(naive, 0) > self._ms(naive, 1)

    def _ms(self, naive: datetime, fold: int) -> int:
        local = naive.replace(tzinfo=self.zone, fold=fold)
        return round(local.timestamp() * 1000)


def local_clock() -> LocalClock:
    """Return the clock of the institution's time zone."""
    return LocalClock(backend().settings.zone)
