"""Texts about the queue, for pages and their script (static/js/room.js)."""

from datetime import timedelta
from functools import lru_cache, partial
from typing import Any, Literal

from babel import Locale
from babel.dates import format_timedelta
from babel.numbers import format_decimal

from portal.core.i18n import _, _n, current_locale
from portal.waiting_room.room import RULES
from portal.waiting_room.wait_estimates import MINUTE, NEVER, WaitRange
from portal.windows.phases import plural_forms

Unit = Literal["minutes", "hours"]
LONG = 120  # minutes; a longer wait is shown in hours


def title(number: object) -> str:
    """Return the queue position as a title."""
    return _("You are number %(number)s in the queue", number=number)


def before(count: int, shown: object) -> str:
    """Return how many students are ahead; `shown` is the number in the reader's format."""
    return _n(
        "%(count)s person is ahead of you.",
        "%(count)s people are ahead of you.",
        count,
        count=shown,
    )


def ahead(count: int, *, paused: bool = False) -> str:
    """Return how many students are ahead, that you are next, or that the queue is paused."""
    if paused:
        return _("The registrar has paused the queue. You keep your position.")
    return before(count, grouped(count)) if count else _("You are next.")


def wait(long: WaitRange, *, paused: bool = False) -> str:
    """Return the expected wait as a part of a sentence."""
    if paused:
        return _("unknown while the queue is paused")
    if long.most >= NEVER:
        return _("not known yet")
    least, most, unit = _rounded(long)
    if most <= 1 and unit == "minutes":
        return _("less than a minute")
    if least == 0:
        return _lasts("most", unit, most, most)
    return _lasts("about", unit, most, _span(least, most))


def admitted(count: int, shown: object) -> str:
    """Return why a queue position has moved."""
    return _n(
        "%(count)s person was admitted.", "%(count)s people were admitted.", count, count=shown
    )


def lasting(rule: str) -> str:
    """Return one of the room's constants (RULES) as text, such as `4 minutes`."""
    return str(format_timedelta(timedelta(milliseconds=RULES[rule]), locale=current_locale()))


def script_texts() -> dict[str, Any]:
    """Return the texts that the page's script uses, in the reader's language."""
    return _script_texts(current_locale())


def grouped(count: float) -> str:
    """Return a number in the reader's format, such as `1,250`."""
    return str(format_decimal(count, locale=current_locale()))


def _rounded(long: WaitRange) -> tuple[int, int, Unit]:
    least, most = long.minutes
    if most < LONG:
        return least, most, "minutes"
    return least // 60, -(-most // 60), "hours"


def _span(least: object, most: object) -> str:
    return _("%(least)s to %(most)s", least=least, most=most)


def _lasts(kind: str, unit: Unit, most: int, count: object) -> str:
    return {
        "about": {
            "minutes": _n("about %(count)s minute", "about %(count)s minutes", most, count=count),
            "hours": _n("about %(count)s hour", "about %(count)s hours", most, count=count),
        },
        "most": {
            "minutes": _n(
                "at most %(count)s minute", "at most %(count)s minutes", most, count=count
            ),
            "hours": _n("at most %(count)s hour", "at most %(count)s hours", most, count=count),
        },
    }[kind][unit]


@lru_cache(maxsize=16)
def _script_texts(locale: Locale) -> dict[str, Any]:
    units: tuple[Unit, ...] = ("minutes", "hours")
    return {
        "title": title("%(number)s"),
        "next": ahead(0),
        "paused": {
            "ahead": ahead(0, paused=True),
            "wait": wait(WaitRange(0, NEVER), paused=True),
        },
        "before": plural_forms(locale, before),
        "admitted": plural_forms(locale, admitted),
        "moment": wait(WaitRange(0, MINUTE)),
        "unknown": wait(WaitRange(0, NEVER)),
        "span": _span("%(least)s", "%(most)s"),
        **{
            kind: {unit: plural_forms(locale, partial(_lasts, kind, unit)) for unit in units}
            for kind in ("about", "most")
        },
    }
