"""Convert between the ledger's moments (ms since 1970) and the institution's local time."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_skeleton, get_timezone_name

from portal.backend import backend
from portal.catalog import formatting
from portal.core.i18n import ENGLISH, _, current_locale
from portal.core.moments import milliseconds, moment


class SkippedTime(ValueError):
    """A time that was skipped when clocks went forward."""


class AmbiguousTime(ValueError):
    """A time that comes twice when clocks go back; `choices` has both moments."""

    def __init__(self, choices: tuple[int, int]) -> None:
        super().__init__("This time comes twice.")
        self.choices = choices


@dataclass(frozen=True)
class LocalClock:
    """Moments in one time zone, written in the reader's language and read from forms."""

    zone: ZoneInfo

    def at(self, ms: int) -> datetime:
        return datetime.fromtimestamp(ms / 1000, self.zone)

    def day(self, ms: int) -> str:
        """Return such as `Mon, Nov 23, 2026`."""
        return self._date(ms, "yMMMEd")

    def weekday(self, ms: int) -> str:
        """Return such as `Mon, Nov 23`, where the year is obvious."""
        return self._date(ms, "MMMEd")

    def date(self, ms: int) -> str:
        """Return such as `Nov 23`, where the weekday does not matter."""
        return self._date(ms, "MMMd")

    def clock(self, ms: int, *, seconds: bool = False) -> str:
        """Return a time such as `9:00 am`, with seconds if there are any or if `seconds` is set."""
        return formatting.clock(self.at(ms).time(), seconds=seconds)

    def name(self, ms: int) -> str:
        """Return the zone's short name at that moment, such as `EST`."""
        return self.at(ms).tzname() or str(self.zone)

    def elsewhere(self, ms: int, zone: ZoneInfo | None) -> str:
        """Return the time in another zone, with its day if that differs; blank if clocks agree."""
        if zone is None:
            return ""
        own = LocalClock(zone)
        here, there = own.at(ms), self.at(ms)
        if here.utcoffset() == there.utcoffset():
            return ""
        time = own.clock(ms)
        return time if here.date() == there.date() else f"{own.weekday(ms)}, {time}"

    @property
    def zone_name(self) -> str:
        """Return such as `Eastern Time`; the key of a zone that belongs to no region."""
        if self.zone.key.partition("/")[0] in {"Etc", "GMT", "UTC", "Universal", "Zulu"}:
            return self.zone.key.rpartition("/")[2]
        return get_timezone_name(self.zone, locale=current_locale())

    def full(self, ms: int) -> str:
        """Return such as `Mon, Nov 23, 2026, 9:00 am EST`."""
        return f"{self.day(ms)}, {self.clock(ms)} {self.name(ms)}"

    def short(self, moment: datetime) -> str:
        """Return such as `Nov 23, 9:00:05 am` for a moment from the database."""
        ms = int(moment.timestamp()) * 1000
        return f"{self.date(ms)}, {self.clock(ms)}"

    def exact(self, moment: datetime) -> str:
        """Return the time with seconds, for columns of times."""
        ms = int(moment.timestamp()) * 1000
        return f"{self.date(ms)}, {self.clock(ms, seconds=True)}"

    def first(self, begin: datetime) -> str:
        """Return a start such as `Nov 23, 2026`, with the time unless it is midnight."""
        return self._day_of(begin, begin)

    def last(self, end: datetime) -> str:
        """Return an end in the same way; midnight counts as the day before."""
        return self._day_of(end, end - timedelta(seconds=1))

    def soon(self, ms: int, now: int) -> str:
        """Return the time if it is today, else the day, such as `Nov 23`."""
        return self.clock(ms) if self._same_day(ms, now) else formatting.day(self.at(ms).date())

    def moment_at(self, ms: int, now: int) -> str:
        """Return such as `9:00 am`, or `Mon, Nov 23, 9:00 am` if not on the day of `now`."""
        clock = self.clock(ms)
        return clock if self._same_day(ms, now) else f"{self.weekday(ms)}, {clock}"

    def when(self, ms: int, now: int) -> str:
        """Return the same for a sentence: `at 9:00 am`, `on Mon, Nov 23, 9:00 am`."""
        if self._same_day(ms, now):
            return _("at %(time)s", time=self.clock(ms))
        return _("on %(day)s, %(time)s", day=self.weekday(ms), time=self.clock(ms))

    def spoken(self, ms: int) -> str:
        """Return it in full: `9:00 am EDT on Thursday, September 3`."""
        day = format_date(
            self.at(ms), "EEEE, MMMM d" if current_locale() == ENGLISH else "full", current_locale()
        )
        return _("%(time)s on %(day)s", time=f"{self.clock(ms)} {self.name(ms)}", day=day)

    def iso(self, ms: int) -> str:
        """Return the value for `<time datetime>`, in UTC."""
        return moment(ms).isoformat(timespec="seconds")

    def field(self, ms: int) -> str:
        """Return the value for `<input type="datetime-local">`."""
        local = self.at(ms)
        return f"{local:%Y-%m-%dT%H:%M:%S}" if local.second else f"{local:%Y-%m-%dT%H:%M}"

    def moment(self, text: str, *, second: bool | None = None) -> int:
        """Return the ms of a local time as a form sends it; `second` picks one that comes twice.

        Raises ValueError if it is not a time, SkippedTime or AmbiguousTime.
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
        """Return the last minute before and the first minute after a skipped time."""
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
        return milliseconds(local)


def today() -> date:
    """Return the day in the institution's time zone."""
    return datetime.now(backend().settings.zone).date()


def local_clock() -> LocalClock:
    """Return the clock of the institution's time zone."""
    return LocalClock(backend().settings.zone)
