"""What remains until a window opens or closes, in words: for pages, and for their own countdown."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

from babel import Locale

from portal.core.i18n import _, _n, current_locale
from portal.ledger.types import WindowView
from portal.people.student_profile import StudentProfile

Unit = Literal["seconds", "minutes", "hours", "days"]
UNITS: tuple[Unit, ...] = ("seconds", "minutes", "hours", "days")
COUNT = "%(count)s"  # left for the script to fill in
SAMPLES = range(100, -1, -1)  # numbers of every plural form


def sentence(kind: str, unit: Unit, amount: int, count: object) -> str:
    """Such as `Begins in 5 minutes`, or `Ends in …` of an open window; `count` is what it shows."""
    return {
        "before": {
            "seconds": _n(
                "Begins in %(count)s second", "Begins in %(count)s seconds", amount, count=count
            ),
            "minutes": _n(
                "Begins in %(count)s minute", "Begins in %(count)s minutes", amount, count=count
            ),
            "hours": _n(
                "Begins in %(count)s hour", "Begins in %(count)s hours", amount, count=count
            ),
            "days": _n("Begins in %(count)s day", "Begins in %(count)s days", amount, count=count),
        },
        "open": {
            "seconds": _n(
                "Ends in %(count)s second", "Ends in %(count)s seconds", amount, count=count
            ),
            "minutes": _n(
                "Ends in %(count)s minute", "Ends in %(count)s minutes", amount, count=count
            ),
            "hours": _n("Ends in %(count)s hour", "Ends in %(count)s hours", amount, count=count),
            "days": _n("Ends in %(count)s day", "Ends in %(count)s days", amount, count=count),
        },
    }[kind][unit]


def until(kind: str, amount: int, count: object) -> str:
    """What is said aloud when so many minutes are left."""
    return {
        "before": _n(
            "%(count)s minute until it opens",
            "%(count)s minutes until it opens",
            amount,
            count=count,
        ),
        "open": _n(
            "%(count)s minute until it closes",
            "%(count)s minutes until it closes",
            amount,
            count=count,
        ),
    }[kind]


def brief(amount: int, unit: Unit) -> str:
    """Such as `5 min`, `3 h`, `2 d`."""
    return {
        "seconds": _("%(count)s s", count=amount),
        "minutes": _("%(count)s min", count=amount),
        "hours": _("%(count)s h", count=amount),
        "days": _("%(count)s d", count=amount),
    }[unit]


def countdown_texts() -> dict[str, Any]:
    """What the browser's countdown says (static/js/countdown.js), in the reader's language."""
    return _words(current_locale())


@lru_cache(maxsize=16)
def _words(locale: Locale) -> dict[str, Any]:
    kinds = ("before", "open")
    return {
        "answers": {
            kind: {unit: plural_forms(locale, partial(sentence, kind, unit)) for unit in UNITS}
            for kind in kinds
        },
        "until": {kind: plural_forms(locale, partial(until, kind)) for kind in kinds},
        "long": _("%(days)s d %(hours)s h"),
        "agrees": _("Your clock agrees with ours"),
        "ahead": _("Your clock is %(amount)s ahead of ours"),
        "behind": _("Your clock is %(amount)s behind ours"),
        "seconds": _("%(count)s s"),
        "minutes": _("%(count)s min"),
    }


def plural_forms(locale: Locale, say: Callable[[int, str], str]) -> dict[str, str]:
    """A sentence by the name of each plural form, as `Intl.PluralRules` has them."""
    return {locale.plural_form(number): say(number, COUNT) for number in SAMPLES}


# The four answers about selection windows; every page and the API say them in these words.

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
            return sentence(self.kind, unit, amount, amount)
        return _("Not scheduled") if self.kind == "unscheduled" else _("Has ended")

    @property
    def brief(self) -> str:
        """What remains, in few letters; blank where nothing is to come."""
        return brief(*span(self.seconds)) if self.turns else ""


def span(seconds: int) -> tuple[int, Unit]:
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


def sections_visible(found: Phase, *, to_register: bool = False) -> bool:
    """Whether students see the sections of a term, other than those they hold or wait for.

    The one rule for lists, searches, forms, live counts and the API: students may plan until
    selection ends, and are offered sections to register for only while it is open.
    """
    return found.kind == "open" if to_register else found.kind != "ended"


def open_to(profile: StudentProfile, windows: Iterable[WindowView]) -> list[WindowView]:
    """The windows whose cohort the student is in."""
    return [window for window in windows if in_cohort(profile, window.cohort)]


def in_cohort(profile: StudentProfile, cohort: Mapping[str, Any]) -> bool:
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
