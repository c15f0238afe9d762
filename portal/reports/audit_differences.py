"""What an admin action changed, field by field, in words."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from portal.applications.kinds import KINDS
from portal.applications.listing import READY, STAGES
from portal.catalog import cohort_names, formatting, terms
from portal.catalog.local_time import LocalClock
from portal.core.audit_trail import AuditEntry
from portal.core.i18n import _
from portal.core.queue import QUEUE_LABELS
from portal.exchange.importing.findings import RECORD_NAMES
from portal.exchange.importing.headings import COLUMNS, Column
from portal.exchange.importing.models import Meanings
from portal.people.roles import ROLES
from portal.registration import reasons
from portal.reports import subscriptions, term_reports
from portal.reports.audit_labels import CHANGED, FIELDS, LAYOUTS, OPTIONS, VALUES, label
from portal.reports.audit_subjects import AuditSubject, Key, with_names

NONE = "–"
# Fields for programs only; the receipt shows the event.
TECHNICAL = frozenset({"event", "seq", "version"})
SHOWN = 2  # differences shown in a line of the list
LONGEST = 40  # characters of a value there
# Fields that contain a code, with the labels of its values; a field may have other values, too.
LABELS: dict[str, Mapping[str, str]] = {
    "days": subscriptions.DAY_LABELS,
    "kind": {name: kind.title for name, kind in KINDS.items()},
    "queue": QUEUE_LABELS,
    "ready": READY,
    "report": term_reports.LABELS,
    "stage": STAGES,
    "state": VALUES,
    "status": VALUES,
    "stopped": subscriptions.RESULTS,
    "term_state": terms.STATES,
}
# Fields that contain the id of something.
SUBJECTS = {
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


def names_in(entries: Iterable[AuditEntry]) -> dict[Key, AuditSubject]:
    """Return the things that entries are about, and those that their fields refer to."""
    return with_names(key for entry in entries for key in (*entry.subjects, *_mentioned(entry)))


def changes(entry: AuditEntry, names: dict[Key, AuditSubject], times: LocalClock) -> list[Change]:
    """Return every field of the entry that means something, in order."""
    before, after = entry.before or {}, entry.after or {}
    found = [
        Change(
            label(FIELDS, name),
            _in_words(name, before.get(name), names, times),
            _in_words(name, after.get(name), names, times),
            before.get(name) != after.get(name),
        )
        for name in dict.fromkeys([*after, *before])
        if name not in TECHNICAL
    ]
    return [each for each in found if {each.before, each.after} != {NONE}]


def short(entry: AuditEntry, names: dict[Key, AuditSubject], times: LocalClock) -> str:
    """Return the changes of existing fields in short; most of them as a number."""
    if not (entry.before and entry.after):
        return ""
    parts = [each.brief for each in changes(entry, names, times) if each.moved]
    if len(parts) > SHOWN:
        parts[SHOWN:] = [_("%(count)s more", count=len(parts) - SHOWN)]
    return ", ".join(parts)


def _mentioned(entry: AuditEntry) -> Iterator[Key]:
    for facts in (entry.before or {}, entry.after or {}):
        for name, kind in SUBJECTS.items():
            if _is_number(facts.get(name)):
                yield kind, str(facts[name])


def _in_words(name: str, value: Any, names: dict[Key, AuditSubject], times: LocalClock) -> str:  # noqa: C901, PLR0911, PLR0912  one for each kind
    """Return a value as the page that set it shows it; any other value as stored."""
    if name == "cohort" and isinstance(value, dict):
        return cohort_names.describe(value)
    if value is None or value in ("", [], {}):
        return NONE
    match name, value:
        case _, bool():
            return _("Yes") if value else _("No")
        case _, int() if name in SUBJECTS:
            thing = names.get((SUBJECTS[name], str(value)))
            return thing.name if thing else str(value)
        case "opens" | "closes" | "public_at", int():
            return times.full(value)
        case "until" | "revoked", str():
            return _date(value, times)
        case _, str() if name in LABELS:
            return str(LABELS[name].get(value, value))
        case "counts", dict() if all(isinstance(each, dict) for each in value.values()):
            return "\n".join(_counts(value)) or NONE
        case "options", dict():
            return "\n".join(_options(value)) or NONE
        case "columns", dict():
            return _columns(value)
        case "waives" | "overrides" | "permitted", list() if all(
            isinstance(each, str) for each in value
        ):
            return "\n".join(
                str(reasons.PERMISSIONS.get(each) or reasons.label(each)) for each in value
            )
        case "roles", list():
            return "\n".join(str(ROLES[each].label) if each in ROLES else each for each in value)
        case _, list():
            return "\n".join(map(_plain, value))
    return _plain(value)


def _plain(value: Any) -> str:
    if _is_number(value):
        return formatting.number(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return str(value)


def _date(text: str, times: LocalClock) -> str:
    try:
        return times.full(round(datetime.fromisoformat(text).timestamp() * 1000))
    except ValueError:
        return text


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _counts(counts: dict[str, dict[str, int]]) -> Iterator[str]:
    """Yield what an import changed, kind by kind: "Courses: 3 added, 1 removed"."""
    for kind in _ordered(RECORD_NAMES, counts):
        moved = counts[kind]
        if parts := [
            str(how) % {"count": moved[name]} for name, how in CHANGED.items() if moved.get(name)
        ]:
            yield f"{_(RECORD_NAMES.get(kind, kind))}: {', '.join(parts)}"


def _options(options: dict[str, Any]) -> Iterator[str]:
    """Yield the options of an import, without those that mean nothing."""
    for name in _ordered(OPTIONS, options):
        value = options[name]
        if value is None or value is False or value in ("", {}):
            continue
        if name == "columns":
            value = _columns(value)
        if name == "layout":
            value = LAYOUTS.get(value, value)
        yield f"{label(OPTIONS, name)}: {_('Yes') if value is True else value}"


def _columns(meanings: Meanings) -> str:
    """Return what the columns of files mean, those that are left out at last."""
    pairs = [pair for columns in meanings.values() for pair in columns]
    used = [
        f"{heading} → {COLUMNS.get(column, Column(column)).label}"
        for heading, column in pairs
        if column
    ]
    left_out = ", ".join(heading for heading, column in pairs if heading and not column)
    return "; ".join([*used, _("Left out: %(names)s", names=left_out)] if left_out else used)


def _ordered(known: Iterable[str], stored: dict[str, Any]) -> list[str]:
    """Return the names in their usual order; the database stores none."""
    return [name for name in dict.fromkeys([*known, *stored]) if name in stored]
