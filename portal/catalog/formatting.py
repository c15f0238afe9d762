"""Catalog facts in words: days, times, dates, credits and kinds of meeting."""

from datetime import date, time
from decimal import Decimal
from functools import lru_cache

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


def kind(code: str) -> str:
    """Return the name of a kind of meeting, for its code or English name; others are unchanged."""
    name = KINDS.get(code, code)
    return _(name) if name in NAMES else name


def day_names() -> list[str]:
    """`Mon` to `Sun`, beside `DAYS`."""
    return [_day_name(bit, current_locale()) for bit in range(7)]


def days(mask: int) -> str:
    """`Mon Thu` for the days of `mask`; blank for none."""
    return _days(mask, current_locale())


def clock(moment: time, *, seconds: bool = False) -> str:
    """`2:05 pm`; seconds where there are some, or in any case."""
    exact = seconds or moment.second > 0
    return _clock(moment.replace(microsecond=0, tzinfo=None), current_locale(), exact)


def times(starts: time | None, ends: time | None) -> str:
    """`2:00–3:50 pm`, `11:00 am–12:50 pm`, or `TBA`."""
    return str(TBA) if starts is None or ends is None else _times(starts, ends, current_locale())


def day(when: date, *, year: bool = False) -> str:
    """`Aug 31`, or `Aug 31, 2020` with the year."""
    return _day(when, current_locale(), year)


def dates(first: date, last: date, term: tuple[date, date]) -> str:
    """`Aug 31 – Oct 16` where they differ from the term's dates, else blank."""
    if (first, last) == term:
        return ""
    year = any(end.year not in (term[0].year, term[1].year) for end in (first, last))
    if first == last:
        return day(first, year=year)
    return f"{day(first, year=year)} – {day(last, year=year)}"


def number(amount: Decimal | int) -> str:
    """`4`, `1.5`, `1,250`: without needless zeros."""
    return _number(amount, current_locale())


def money(amount: int, currency: str) -> str:
    """Return an amount in minor units of a currency, such as $50.00."""
    units = Decimal(amount).scaleb(-get_currency_precision(currency))
    return str(format_currency(units, currency, locale=current_locale()))


def plain_number(amount: Decimal) -> str:
    """Return `4` or `1.5`, as forms and addresses have it in any language."""
    return f"{amount.normalize():f}"


def credit_words(least: Decimal, most: Decimal) -> str:
    """`1 credit`, `4 credits`, `1–15 credits`."""
    return _credit_words(least, most, current_locale())


@lru_cache(maxsize=4096)
def _number(amount: Decimal | int, locale: Locale) -> str:
    return format_decimal(amount, locale=locale)


@lru_cache(maxsize=1024)
def _credit_words(least: Decimal, most: Decimal, _locale: Locale) -> str:
    if least == most:
        one = 1 if least == 1 else 2  # half a credit is no single one
        return _n("%(amount)s credit", "%(amount)s credits", one, amount=number(least))
    return _("%(least)s–%(most)s credits", least=number(least), most=number(most))


@lru_cache(maxsize=1024)
def _days(mask: int, locale: Locale) -> str:
    return " ".join(_day_name(bit, locale) for bit in range(7) if mask >> bit & 1)


def _day_name(bit: int, locale: Locale) -> str:
    return str(get_day_names("abbreviated", "stand-alone", locale)[bit])


@lru_cache(maxsize=4096)
def _clock(moment: time, locale: Locale, exact: bool) -> str:  # noqa: FBT001 - a key of the cache
    if locale == ENGLISH:
        return format_time(moment, "h:mm:ss a" if exact else "h:mm a", locale=locale).lower()
    return format_time(moment, "medium" if exact else "short", locale=locale)


@lru_cache(maxsize=4096)
def _times(starts: time, ends: time, locale: Locale) -> str:
    first, last = (_clock(each, locale, each.second > 0) for each in (starts, ends))
    half = last.partition(" ")[2]
    return f"{first.removesuffix(f' {half}') if half else first}–{last}"


@lru_cache(maxsize=4096)
def _day(when: date, locale: Locale, year: bool) -> str:  # noqa: FBT001 - a key of the cache
    if locale == ENGLISH:
        return format_date(when, "MMM d, y" if year else "MMM d", locale=locale)
    return format_skeleton("yMMMd" if year else "MMMd", when, locale=locale)
