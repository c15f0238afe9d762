"""The four answers about selection windows; every page and the API say them in these words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from portal.core.i18n import _
from portal.ledger.types import WindowView
from portal.people.profile import Profile
from portal.windows import countdown

SECOND, MINUTE = 1000, 60_000

Kind = Literal["unscheduled", "before", "open", "ended"]


@dataclass(frozen=True)
class Phase:
    """Where one stands with a window at `now` (ms by the ledger's clock)."""

    kind: Kind
    window: WindowView | None
    now: int

    @property
    def turns(self) -> int | None:
        """The moment (ms) at which this answer ceases to be true."""
        if self.window is None:
            return None
        return {"before": self.window.opens, "open": self.window.closes}.get(self.kind)

    @property
    def seconds(self) -> int:
        """Seconds until then, a begun one counted in full; 0 where nothing is to come."""
        return -(-(self.turns - self.now) // SECOND) if self.turns else 0

    @property
    def sentence(self) -> str:
        """The answer."""
        if self.kind in {"before", "open"}:
            amount, unit = span(self.seconds)
            return countdown.sentence(self.kind, unit, amount, amount)
        return _("Not scheduled") if self.kind == "unscheduled" else _("Has ended")

    @property
    def brief(self) -> str:
        """What remains, in few letters; blank where nothing is to come."""
        return countdown.brief(*span(self.seconds)) if self.turns else ""


def span(seconds: int) -> tuple[int, countdown.Unit]:
    """So many seconds, in minutes from one on, and in hours and in days from two on."""
    if seconds < 60:
        return seconds, "seconds"
    minutes = -(-seconds // 60)  # a begun one counts in full
    if minutes >= 2 * 24 * 60:
        return minutes // (24 * 60), "days"
    return (minutes // 60, "hours") if minutes >= 2 * 60 else (minutes, "minutes")


def phase(windows: Iterable[WindowView], now: int) -> Phase:
    """The answer for several windows: an open one counts first, then the next, then the last."""
    live = [window for window in windows if window.state != "canceled"]
    now_open = [window for window in live if _kind(window, now) == "open"]
    if now_open:
        return Phase("open", max(now_open, key=lambda window: window.closes), now)
    coming = [window for window in live if _kind(window, now) == "before"]
    if coming:
        return Phase("before", min(coming, key=lambda window: window.opens), now)
    if live:
        return Phase("ended", max(live, key=lambda window: window.closes), now)
    return Phase("unscheduled", None, now)


def shows(found: Phase, *, to_register: bool = False) -> bool:
    """Whether students see the sections of a term, other than those they hold or wait for.

    The one rule for lists, searches, forms, live counts and the API: students may plan until
    selection ends, and are offered sections to register for only while it is open.
    """
    return found.kind == "open" if to_register else found.kind != "ended"


def open_to(profile: Profile, windows: Iterable[WindowView]) -> list[WindowView]:
    """The windows whose cohort the student is in."""
    return [window for window in windows if in_cohort(profile, window.cohort)]


def in_cohort(profile: Profile, cohort: Mapping[str, Any]) -> bool:
    """Whether the student is among those named, by every kind of name that is given."""
    names: dict[str, frozenset[str]] = {
        "years": frozenset({profile.year}),
        "levels": frozenset({profile.level}),
        "subjects": profile.majors | profile.minors,
        "students": frozenset({profile.number}),
    }
    kept = cohort.get("list")
    if kept and kept["id"] not in profile.lists:
        return False
    return all(not cohort.get(kind) or mine & set(cohort[kind]) for kind, mine in names.items())


def _kind(window: WindowView, now: int) -> Kind:
    if window.state == "closed" or now >= window.closes:
        return "ended"
    return "open" if now >= window.opens else "before"
