"""Values of the fields of records, in words."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from portal.catalog import formatting, requisites, restrictions
from portal.catalog.section_fields import meeting_line, reserve_line
from portal.catalog.term_fields import TERM_RULES
from portal.catalog.views import MeetingView, ReserveView, minutes
from portal.core.i18n import _, _l

LONGEST = 160
NOTHING = "–"
HUNDREDTHS = {"completed", "credits", "credit_limit"}
HUNDREDTHS |= {name for name, each in TERM_RULES.items() if each.kind == "credits"}
STATUSES = {
    "NEW": _l("Draft"),
    "OPEN": _l("Open"),
    "CONFIRMED": _l("Confirmed"),
    "CANCELED": _l("Canceled"),
}


def value_text(name: str, fields: dict[str, Any]) -> str:
    """Return the value of a field in readable form, shortened."""
    text = whole_text(name, fields.get(name))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def change_texts(name: str, before: Any, after: Any) -> tuple[str, str]:
    """Return both values of a changed field in readable form.

    Lists that are too long to show whole are reduced to their differences; an ellipsis stands for
    the rest.
    """
    whole = max(len(whole_text(name, each)) for each in (before, after)) <= LONGEST
    if whole or not (isinstance(before, list) and isinstance(after, list)):
        return value_text(name, {name: before}), value_text(name, {name: after})
    return _text_without(name, before, after), _text_without(name, after, before)


def _text_without(name: str, items: list[Any], others: list[Any]) -> str:
    """Return the items of a list that the other one lacks, in readable form."""
    own = [each for each in items if each not in others]
    text = value_text(name, {name: own}) if own or not items else ""
    return text if len(own) == len(items) else f"… {text}".strip()


def whole_text(name: str, value: Any) -> str:
    """Return a value of a field in readable form."""
    match value:
        case None | "" | []:
            found = NOTHING
        case list() | str() if name in WORDS:
            found = WORDS[name](value)
        case bool():
            found = _("yes") if value else _("no")
        case int() if name in HUNDREDTHS:
            found = f"{value / 100:g}"
        case dict():
            found = requisites.write(value)
        case list():
            inner = ", " if all(not isinstance(each, list) for each in value) else "; "
            found = inner.join(dict.fromkeys(whole_text(name, each) for each in value))
        case _:
            found = str(value)
    return found


def _credits(hundredths: list[int]) -> str:
    least, most = (Decimal(each) / 100 for each in hundredths)
    return formatting.credit_range(least, most)


def _meetings(meetings: list[list[Any]]) -> str:
    return "; ".join(meeting_line(_meeting_view(each)) for each in meetings)


def _meeting_view(meeting: list[Any]) -> MeetingView:
    """Return a meeting with its dates, whatever those of the term are."""
    kind, days, starts, ends, first, last, room, clashes = meeting
    start, end = (minutes(time.fromisoformat(each)) if each else None for each in (starts, ends))
    known = MeetingView(kind, room or "", clashes, days, start, end)
    if not (first and last):
        return known
    dates = date.fromisoformat(first), date.fromisoformat(last)
    return replace(known, first=dates[0], last=dates[1], term=(date.min, date.max))


def _restrictions(rules: list[list[str]]) -> str:
    return "; ".join(
        restrictions.write((rule, kind, value) for rule, kind, value in rules).splitlines()
    )


def _reserves(reserves: list[list[Any]]) -> str:
    views = (
        ReserveView(0, seats, cohort, datetime.fromisoformat(until) if until else None)
        for seats, cohort, until in reserves
    )
    return "; ".join(map(reserve_line, views))


def _status(status: str) -> str:
    return str(STATUSES.get(status, status))


# By field, how its value is written in words.
WORDS: dict[str, Callable[[Any], str]] = {
    "credits": _credits,
    "meetings": _meetings,
    "reserves": _reserves,
    "restrictions": _restrictions,
    "status": _status,
}
