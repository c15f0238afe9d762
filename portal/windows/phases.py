"""Phases of windows: not scheduled, before, open or ended, with a countdown in words."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

from babel import Locale

from portal.core.i18n import _, _n, current_locale
from portal.ledger.types import WindowView

Unit = Literal["seconds", "minutes", "hours", "days"]
UNITS: tuple[Unit, ...] = ("seconds", "minutes", "hours", "days")
COUNT = "%(count)s"  # static/js/countdown.js fills it in
SAMPLES = range(100, -1, -1)  # includes a number of every plural form
SECOND, MINUTE = 1000, 60_000  # ms

Kind = Literal["unscheduled", "before", "open", "ended"]


def sentence(kind: str, unit: Unit, amount: int, count: object) -> str:
    """Return a sentence such as `Begins in 5 minutes` or, for an open window, `Ends in …`."""
    return {
        "before": {
            "seconds": _n(
                "Opens in %(count)s second", "Opens in %(count)s seconds", amount, count=count
            ),
            "minutes": _n(
                "Opens in %(count)s minute", "Opens in %(count)s minutes", amount, count=count
            ),
            "hours": _n("Opens in %(count)s hour", "Opens in %(count)s hours", amount, count=count),
            "days": _n("Opens in %(count)s day", "Opens in %(count)s days", amount, count=count),
        },
        "open": {
            "seconds": _n(
                "Closes in %(count)s second", "Closes in %(count)s seconds", amount, count=count
            ),
            "minutes": _n(
                "Closes in %(count)s minute", "Closes in %(count)s minutes", amount, count=count
            ),
            "hours": _n(
                "Closes in %(count)s hour", "Closes in %(count)s hours", amount, count=count
            ),
            "days": _n("Closes in %(count)s day", "Closes in %(count)s days", amount, count=count),
        },
    }[kind][unit]


def until(kind: str, amount: int, count: object) -> str:
    """Return the text for screen readers when so many minutes are left."""
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
        "turn": _n(
            "%(count)s minute until your turn ends",
            "%(count)s minutes until your turn ends",
            amount,
            count=count,
        ),
    }[kind]


def days(kind: str, amount: int, count: object) -> str:
    """Return the days until a window opens or closes, as its countdown shows them."""
    return {
        "before": _n("in %(count)s day", "in %(count)s days", amount, count=count),
        "open": _n("%(count)s day left", "%(count)s days left", amount, count=count),
    }[kind]


def brief(kind: str, seconds: int) -> str:
    """Return a short form such as `5 min`, `3 h` or `2 days left`."""
    amount, unit = span(seconds)
    return {
        "seconds": _("%(count)s s", count=amount),
        "minutes": _("%(count)s min", count=amount),
        "hours": _("%(count)s h", count=amount),
        "days": days(kind, amount, amount),
    }[unit]


def countdown_texts() -> dict[str, Any]:
    """Return the texts of the browser's countdown (static/js/countdown.js), in its language."""
    return _countdown_texts(current_locale())


@lru_cache(maxsize=16)
def _countdown_texts(locale: Locale) -> dict[str, Any]:
    kinds = ("before", "open")
    return {
        "answers": {
            kind: {unit: plural_forms(locale, partial(sentence, kind, unit)) for unit in UNITS}
            for kind in kinds
        },
        "until": {kind: plural_forms(locale, partial(until, kind)) for kind in (*kinds, "turn")},
        "days": {kind: plural_forms(locale, partial(days, kind)) for kind in kinds},
        "agrees": _("Your clock is correct"),
        "ahead": _("Your clock is %(amount)s fast"),
        "behind": _("Your clock is %(amount)s slow"),
        "seconds": _("%(count)s s"),
        "minutes": _("%(count)s min"),
    }


def plural_forms(locale: Locale, text_of: Callable[[int, str], str]) -> dict[str, str]:
    """Return a sentence for each plural form, by its name in `Intl.PluralRules`."""
    return {locale.plural_form(number): text_of(number, COUNT) for number in SAMPLES}


@dataclass(frozen=True)
class Phase:
    """The phase of a window at `now` (ms by the ledger's clock)."""

    kind: Kind
    window: WindowView | None
    now: int

    @property
    def turns(self) -> int | None:
        """Return the moment (ms) at which this phase ends."""
        if self.window is None:
            return None
        return {"before": self.window.opens, "open": self.window.closes}.get(self.kind)

    @property
    def seconds(self) -> int:
        """Return the seconds until it ends, rounded up; 0 if it does not end."""
        return -(-(self.turns - self.now) // SECOND) if self.turns else 0

    @property
    def sentence(self) -> str:
        """Return the phase in words."""
        if self.kind in {"before", "open"}:
            amount, unit = span(self.seconds)
            return sentence(self.kind, unit, amount, amount)
        return _("Not scheduled") if self.kind == "unscheduled" else _("Ended")


def span(seconds: int) -> tuple[int, Unit]:
    """Return an amount and its unit: minutes from one minute on, hours and days from two on."""
    if seconds < 60:
        return seconds, "seconds"
    minutes = -(-seconds // 60)  # rounded up
    if minutes >= 2 * 24 * 60:
        return minutes // (24 * 60), "days"
    return (minutes // 60, "hours") if minutes >= 2 * 60 else (minutes, "minutes")


def phase(windows: Iterable[WindowView], now: int) -> Phase:
    """Return the phase of several windows: of an open one, else the next, else the last."""
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
    """Return whether students see sections of a term other than their own.

    This one rule serves lists, searches, forms, live counts and the API: students may plan until
    selection ends, and see sections `to_register` for only while a window is open.
    """
    return found.kind == "open" if to_register else found.kind != "ended"


def _kind(window: WindowView, now: int) -> Kind:
    if window.state == "closed" or now >= window.closes:
        return "ended"
    return "open" if now >= window.opens else "before"
