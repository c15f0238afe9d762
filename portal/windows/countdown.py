"""What remains until a window opens or closes, in words: for pages, and for their own countdown."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Literal

from babel import Locale

from portal.core.i18n import _, _n, current_locale

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


def words() -> dict[str, Any]:
    """What the browser's countdown says (static/js/countdown.js), in the reader's language."""
    return _words(current_locale())


@lru_cache(maxsize=16)
def _words(locale: Locale) -> dict[str, Any]:
    kinds = ("before", "open")
    return {
        "answers": {
            kind: {unit: forms(locale, partial(sentence, kind, unit)) for unit in UNITS}
            for kind in kinds
        },
        "until": {kind: forms(locale, partial(until, kind)) for kind in kinds},
        "long": _("%(days)s d %(hours)s h"),
        "agrees": _("Your clock agrees with ours"),
        "ahead": _("Your clock is %(amount)s ahead of ours"),
        "behind": _("Your clock is %(amount)s behind ours"),
        "seconds": _("%(count)s s"),
        "minutes": _("%(count)s min"),
    }


def forms(locale: Locale, say: Callable[[int, str], str]) -> dict[str, str]:
    """A sentence by the name of each plural form, as `Intl.PluralRules` has them."""
    return {locale.plural_form(number): say(number, COUNT) for number in SAMPLES}
