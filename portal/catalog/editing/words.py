"""What may be set of a section, field by field, as people read it; and what differs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from portal.backend import backend
from portal.catalog import formatting, requisites, restrictions
from portal.catalog.editing.details import Details
from portal.catalog.views import MeetingView, ReserveView
from portal.core.i18n import _, _l
from portal.recorder.events import milliseconds
from portal.windows import cohorts
from portal.windows.localtime import Clockface

Lines = list[str]
EVERY = 10_000  # names: two long lists must not read alike


@dataclass(frozen=True)
class Field:
    """A field: what it is called, and its lines in the reader's language."""

    label: str
    lines: Callable[[Details], Lines]


@dataclass(frozen=True)
class Difference:
    """A field that differs between two versions of a section."""

    name: str
    label: str
    old: Lines
    new: Lines


def _text(name: str) -> Callable[[Details], Lines]:
    return lambda it: [text] if (text := str(getattr(it, name))) else []


FIELDS = {
    "number": Field(_l("Section number"), _text("number")),
    "title": Field(_l("Title"), _text("title")),
    "kind": Field(_l("Kind"), lambda it: [formatting.kind(it.kind)] if it.kind else []),
    "credits": Field(_l("Credits"), lambda it: [formatting.credit_words(*it.credits)]),
    "capacity": Field(_l("Seats"), _text("capacity")),
    "waitlist": Field(_l("Places on the waitlist"), _text("waitlist")),
    "teachers": Field(_l("Teachers"), lambda it: [each.name for each in it.teachers]),
    "meetings": Field(_l("Meetings"), lambda it: [meeting(each) for each in it.meetings]),
    "campus": Field(_l("Campus"), _text("campus")),
    "method": Field(_l("Method"), _text("method")),
    "note": Field(_l("Note"), _text("note")),
    "prerequisites": Field(
        _l("Prerequisites"), lambda it: _one(requisites.shown(requisites.write(it.prerequisites)))
    ),
    "corequisites": Field(
        _l("Corequisites"), lambda it: _one(requisites.shown(requisites.write(it.corequisites)))
    ),
    "restrictions": Field(
        _l("Restrictions"), lambda it: restrictions.write(it.restrictions).splitlines()
    ),
    "cross_lists": Field(
        _l("Also offered as"), lambda it: [requisites.shown(each) for each in it.cross_lists]
    ),
    "reserves": Field(_l("Kept seats"), lambda it: [reserve(each) for each in it.reserves]),
}


def differences(old: Details, new: Details) -> list[Difference]:
    """The fields that differ, in the order of the form."""
    return [
        Difference(name, str(field.label), field.lines(old), field.lines(new))
        for name, field in FIELDS.items()
        if getattr(old, name) != getattr(new, name)
    ]


def facts(details: Details) -> dict[str, Any]:
    """Every field in words, for the audit trail."""
    return {name: _fact(field.lines(details)) for name, field in FIELDS.items()}


def meeting(view: MeetingView) -> str:
    """One meeting in a line, such as `Lecture, Mon Thu 10:00–11:50 am, Hall 1`."""
    parts = [view.kind, f"{view.days} {view.times}".strip(), view.dates, view.room]
    if not view.clashes:
        parts.append(_("clashes with nothing"))
    return ", ".join(part for part in parts if part)


def reserve(view: ReserveView) -> str:
    """One reserve in a line and in full, such as `5 for Senior, until Mon, Nov 23, …`."""
    facts = {"seats": view.seats, "whom": cohorts.describe(view.cohort, EVERY)}
    if view.until is None:
        return _("%(seats)s for %(whom)s", **facts)
    until = Clockface(backend().settings.zone).full(milliseconds(view.until))
    return _("%(seats)s for %(whom)s, until %(until)s", until=until, **facts)


def _one(text: str) -> Lines:
    return [text] if text else []


def _fact(lines: Lines) -> Any:
    return lines if len(lines) > 1 else "".join(lines)
