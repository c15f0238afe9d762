"""What an admin action changed, field by field, in words."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from portal.catalog import cohort_names, formatting
from portal.catalog.local_time import LocalClock
from portal.core.i18n import _
from portal.registration.reasons import PERMISSIONS
from portal.reports import audit_labels
from portal.reports.audit_labels import in_words
from portal.reports.audit_subjects import Key, Thing
from portal.reports.audit_trail import Entry

NONE = "–"
MOMENTS = ("opens", "closes")  # in ms
DATES = ("until", "revoked")  # as text
CODES = ("waives", "overrides")
STATES = ("state", "status")
# For programs only: the receipt shows the event.
TECHNICAL = frozenset({"event", "seq", "version"})
SHOWN = 2  # differences shown in a line of the list
LONGEST = 40  # characters of a value there
# Fields that contain the id of something.
THINGS = {
    "account": "account",
    "instead": "section",
    "request": "request",
    "section": "section",
    "student": "student",
}


@dataclass(frozen=True)
class Change:
    """A field before and after; `moved` if they differ."""

    label: str
    before: str
    after: str
    moved: bool

    @property
    def brief(self) -> str:
        """Return text such as `Seats: 1 → 4`; only the field if its values are too long."""
        if max(len(self.before), len(self.after)) > LONGEST:
            return self.label
        return f"{self.label}: {self.before} → {self.after}"


def changes(entry: Entry, names: dict[Key, Thing], times: LocalClock) -> list[Change]:
    """Return every field of the entry that means something, in order."""
    before, after = entry.before or {}, entry.after or {}
    found = [
        Change(
            audit_labels.field(name),
            _told(name, before.get(name), names, times),
            _told(name, after.get(name), names, times),
            before.get(name) != after.get(name),
        )
        for name in dict.fromkeys([*after, *before])
        if name not in TECHNICAL
    ]
    return [each for each in found if {each.before, each.after} != {NONE}]


def short(entry: Entry, names: dict[Key, Thing], times: LocalClock) -> str:
    """Return the changes of existing fields in short; most of them as a number."""
    if not (entry.before and entry.after):
        return ""
    told = [each.brief for each in changes(entry, names, times) if each.moved]
    if len(told) > SHOWN:
        told[SHOWN:] = [_("%(count)s more", count=len(told) - SHOWN)]
    return ", ".join(told)


def mentioned(entry: Entry) -> Iterator[Key]:
    """Yield the things that its fields refer to."""
    for facts in (entry.before or {}, entry.after or {}):
        for name, kind in THINGS.items():
            if _is_id(facts.get(name)):
                yield kind, str(facts[name])


def _told(name: str, value: Any, names: dict[Key, Thing], times: LocalClock) -> str:  # noqa: PLR0911  one for each kind
    if value is None or value in ("", [], {}):
        return _("Everyone") if name == "cohort" and value == {} else NONE
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if name in THINGS and _is_id(value):
        thing = names.get((THINGS[name], str(value)))
        return thing.name if thing else str(value)
    if name in MOMENTS and _is_id(value):
        return times.full(value)
    if name in DATES and isinstance(value, str):
        return _date(value, times)
    if name == "cohort" and isinstance(value, dict):
        return cohort_names.describe(value)
    if name in STATES and isinstance(value, str):
        return audit_labels.value(value)
    if (said := in_words(name, value)) is not None:
        return said or NONE
    if isinstance(value, list):
        known = PERMISSIONS if name in CODES else {}
        return "\n".join(
            _plain(known.get(each, each) if _hashable(each) else each) for each in value
        )
    return _plain(value)


def _plain(value: Any) -> str:
    if _is_id(value):
        return formatting.number(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return str(value)


def _date(text: str, times: LocalClock) -> str:
    try:
        return times.full(round(datetime.fromisoformat(text).timestamp() * 1000))
    except ValueError:
        return text


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _hashable(value: Any) -> bool:
    return isinstance(value, str)
