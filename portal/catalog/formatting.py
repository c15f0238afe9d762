"""Catalog facts in words: days, times, dates, credits and kinds of meeting."""

from collections.abc import Callable
from datetime import date, time
from decimal import Decimal
from functools import lru_cache, wraps
from typing import ParamSpec

from babel import Locale
from babel.dates import format_date, format_skeleton, format_time, get_day_names
from babel.numbers import format_currency, format_decimal, get_currency_precision

from portal.core.i18n import ENGLISH, _, _k, _l, _n, current_locale

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")  # as addresses have them
TBA = _l("TBA")

# English names, as sections are stored with them, by the codes of registrars' files.
KINDS = {
    "LEC": _k("Lecture"),
    "LAB": _k("Lab"),
    "REC": _k("Recitation"),
    "SEM": _k("Seminar"),
    "STU": _k("Studio"),
    "TES": _k("Test block"),
    "Independent study": _k("Independent study"),
}
NAMES = frozenset(KINDS.values())
Facts = ParamSpec("Facts")


def _remembered(size: int) -> Callable[[Callable[Facts, str]], Callable[Facts, str]]:
    """Remember the last texts of a function in each language: pages ask for the same ones."""

    def remember(write: Callable[Facts, str]) -> Callable[Facts, str]:
        @lru_cache(maxsize=size)
        def known(_locale: Locale, *args: Facts.args, **options: Facts.kwargs) -> str:
            return write(*args, **options)

        @wraps(write)
        def text(*args: Facts.args, **options: Facts.kwargs) -> str:
            return known(current_locale(), *args, **options)  # type: ignore[arg-type]  # hashable

        return text

    return remember


def kind(code: str) -> str:
    """Return the name of a kind of meeting, for its code or English name; others are unchanged."""
    name = KINDS.get(code, code)
    return _(name) if name in NAMES else name


def day_names() -> list[str]:
    """`Mon` to `Sun`, beside `DAYS`."""
    names = get_day_names("abbreviated", "stand-alone", current_locale())
    return [str(names[bit]) for bit in range(7)]


@_remembered(1024)
def days(mask: int) -> str:
    """`Mon Thu` for the days of `mask`; blank for none."""
    return " ".join(name for bit, name in enumerate(day_names()) if mask >> bit & 1)


def clock(moment: time, *, seconds: bool = False) -> str:
    """`2:05 pm`; seconds where there are some, or in any case."""
    whole = moment.replace(microsecond=0, tzinfo=None)
    return _clock(whole, exact=seconds or whole.second > 0)


@_remembered(4096)
def _clock(moment: time, *, exact: bool) -> str:
    locale = current_locale()
    if locale == ENGLISH:
        return format_time(moment, "h:mm:ss a" if exact else "h:mm a", locale=locale).lower()
    return format_time(moment, "medium" if exact else "short", locale=locale)


@_remembered(4096)
def times(starts: time | None, ends: time | None) -> str:
    """`2:00–3:50 pm`, `11:00 am–12:50 pm`, or `TBA`."""
    if starts is None or ends is None:
        return str(TBA)
    first, last = clock(starts), clock(ends)
    half = last.partition(" ")[2]
    return f"{first.removesuffix(f' {half}') if half else first}–{last}"


@_remembered(4096)
def day(when: date, *, year: bool = False) -> str:
    """`Aug 31`, or `Aug 31, 2020` with the year."""
    locale = current_locale()
    if locale == ENGLISH:
        return format_date(when, "MMM d, y" if year else "MMM d", locale=locale)
    return format_skeleton("yMMMd" if year else "MMMd", when, locale=locale)


def dates(first: date, last: date, term: tuple[date, date]) -> str:
    """`Aug 31 – Oct 16` where they differ from the term's dates, else blank."""
    if (first, last) == term:
        return ""
    year = any(end.year not in (term[0].year, term[1].year) for end in (first, last))
    if first == last:
        return day(first, year=year)
    return f"{day(first, year=year)} – {day(last, year=year)}"


@_remembered(4096)
def number(amount: Decimal | int) -> str:
    """`4`, `1.5`, `1,250`: without needless zeros."""
    return format_decimal(amount, locale=current_locale())


def money(amount: int, currency: str) -> str:
    """Return an amount in minor units of a currency, such as $50.00."""
    units = Decimal(amount).scaleb(-get_currency_precision(currency))
    return str(format_currency(units, currency, locale=current_locale()))


def plain_number(amount: Decimal) -> str:
    """Return `4` or `1.5`, as forms and addresses have it in any language."""
    return f"{amount.normalize():f}"


@_remembered(1024)
def credit_range(least: Decimal, most: Decimal) -> str:
    """`1 credit`, `4 credits`, `1–15 credits`."""
    if least == most:
        one = 1 if least == 1 else 2  # half a credit is no single one
        return _n("%(amount)s credit", "%(amount)s credits", one, amount=number(least))
    return _("%(least)s–%(most)s credits", least=number(least), most=number(most))
