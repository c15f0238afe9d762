"""Catalogue facts as people say them: days, times, dates, credits, kinds of meeting."""

from datetime import date, time
from decimal import Decimal

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
TBA = "TBA"

KINDS = {
    "LEC": "Lecture",
    "LAB": "Lab",
    "REC": "Recitation",
    "SEM": "Seminar",
    "STU": "Studio",
    "TES": "Test block",
}


def kind(code: str) -> str:
    """The name of a kind of meeting; codes that we don't know stand as they are."""
    return KINDS.get(code, code)


def days(mask: int) -> str:
    """`Mon Thu` for the days of `mask`; blank for none."""
    return " ".join(name for bit, name in enumerate(DAYS) if mask >> bit & 1)


def clock(moment: time) -> str:
    """`2:05 pm`."""
    return f"{moment.hour % 12 or 12}:{moment.minute:02} {half(moment)}"


def half(moment: time) -> str:
    return "am" if moment.hour < 12 else "pm"


def times(starts: time | None, ends: time | None) -> str:
    """`2:00–3:50 pm`, `11:00 am–12:50 pm`, or `TBA`."""
    if starts is None or ends is None:
        return TBA
    first = clock(starts)
    if half(starts) == half(ends):
        first = first.rsplit(" ", 1)[0]
    return f"{first}–{clock(ends)}"


def day(when: date, *, year: bool = False) -> str:
    """`Aug 31`, or `Aug 31, 2020` with the year."""
    return f"{when:%b} {when.day}" + (f", {when.year}" if year else "")


def dates(first: date, last: date, term: tuple[date, date]) -> str:
    """`Aug 31 – Oct 16` where they differ from the term's dates, else blank."""
    if (first, last) == term:
        return ""
    year = any(end.year not in (term[0].year, term[1].year) for end in (first, last))
    if first == last:
        return day(first, year=year)
    return f"{day(first, year=year)} – {day(last, year=year)}"


def number(amount: Decimal) -> str:
    """`4`, `1.5`: without needless zeros."""
    return f"{amount.normalize():f}"


def credit_words(least: Decimal, most: Decimal) -> str:
    """`1 credit`, `4 credits`, `1–15 credits`."""
    if least == most:
        return f"{number(least)} credit{'' if least == 1 else 's'}"
    return f"{number(least)}–{number(most)} credits"
