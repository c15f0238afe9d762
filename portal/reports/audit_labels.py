"""Labels of the audit trail's actions, things and fields; a new one shows its code."""

from collections.abc import Iterable, Iterator
from typing import Any

from portal.catalog.section_fields import FIELDS as SECTION_FIELDS
from portal.core.i18n import _, _l
from portal.core.labels import QUEUES
from portal.exchange.importing.findings import RECORD_NAMES
from portal.people.audit_actions import AUDIT_ACTIONS

THINGS = {
    "account": _l("Account"),
    "course": _l("Course"),
    "flag": _l("Part of the portal"),
    "export": _l("Export"),
    "hold": _l("Hold"),
    "import": _l("Import"),
    "job": _l("Job"),
    "mail": _l("Mail"),
    "override": _l("Override"),
    "request": _l("Request"),
    "run": _l("Audit"),
    "section": _l("Section"),
    "student": _l("Student"),
    "teacher": _l("Teacher"),
    "term": _l("Term"),
    "token": _l("Access token"),
    "webhook": _l("Webhook"),
    "window": _l("Window"),
}
# Fields of sections have the labels of `catalog.section_fields`.
FIELDS = {
    **{name: each.label for name, each in SECTION_FIELDS.items()},
    "account": _l("Account"),
    "admin": _l("Registrar’s office"),
    "all": _l("Students"),
    "asked": _l("Students who tried"),
    "at_once": _l("Inside at once"),
    "closes": _l("Ends"),
    "cohort": _l("For"),
    "counts": _l("Changes"),
    "course": _l("Course"),
    "credit_limit": _l("Credit limit"),
    "deleted": _l("Deleted"),
    "deliveries": _l("Deliveries"),
    "dropped": _l("Seats given up"),
    "drops_per_day": _l("Seats given up a day"),
    "ends_at": _l("Ends"),
    "enrolled": _l("Seats given"),
    "error": _l("What went wrong"),
    "event": _l("Event"),
    "file": _l("File"),
    "fingerprint": _l("Fingerprint"),
    "grade": _l("Grade"),
    "left": _l("Places given up"),
    "lifted_at": _l("Lifted"),
    "mails": _l("Mails"),
    "name": _l("Name"),
    "names": _l("Events"),
    "number": _l("Number"),
    "off": _l("Switched off"),
    "office": _l("Office"),
    "on": _l("On"),
    "opens": _l("Begins"),
    "options": _l("Settings"),
    "overrides": _l("Put aside"),
    "pass_codes": _l("Reasons for which a place is lost"),
    "pass_limit": _l("Passes"),
    "per_minute": _l("New ones per minute"),
    "private": _l("Privacy"),
    "promoted": _l("Seats given from waitlists"),
    "queue": _l("Queue"),
    "reason": _l("Reason"),
    "refused": _l("Refusals"),
    "request": _l("Request"),
    "revoked": _l("Revoked"),
    "scopes": _l("Scopes"),
    "seated": _l("Students with a seat"),
    "section": _l("Section"),
    "sections": _l("Sections"),
    "seq": _l("Event"),
    "sha256": _l("Fingerprint of the file"),
    "starts_at": _l("Begins"),
    "shares": _l("Shares seats"),
    "state": _l("State"),
    "status": _l("Status"),
    "student": _l("Student"),
    "term": _l("Term"),
    "term_name": _l("Term"),
    "until": _l("Valid until"),
    "url": _l("Address"),
    "username": _l("User name"),
    "version": _l("Version"),
    "waitlisted": _l("Places taken in line"),
    "waives": _l("Rules"),
    "wanted": _l("Seats asked for"),
}

# How many records of a kind an import changed, and how.
CHANGED = {
    "added": _l("%(count)s added"),
    "restored": _l("%(count)s restored"),
    "changed": _l("%(count)s changed"),
    "removed": _l("%(count)s removed"),
}
LAYOUTS = {"semester": _l("A semester"), "oneroster": "OneRoster"}
OPTIONS = {
    "credit_limit": _l("Credit limit"),
    "ends": _l("Last day"),
    "layout": _l("Files"),
    "leave_out": _l("Seats that are refused are left out"),
    "past": _l("Past rules and capacity"),
    "remove": _l("What the files do not name is removed"),
    "starts": _l("First day"),
    "term": _l("Term"),
    "update": _l("A term that is there may be changed"),
    "waitlist": _l("Places on the waitlist"),
}

VALUES = {
    "CANCELED": _l("Canceled"),
    "CONFIRMED": _l("Confirmed"),
    "NEW": _l("New"),
    "OPEN": _l("Open"),
    "approved": _l("Approved"),
    "canceled": _l("Canceled"),
    "closed": _l("Closed"),
    "declined": _l("Declined"),
    "open": _l("Open"),
    "scheduled": _l("Scheduled"),
    "withdrawn": _l("Withdrawn"),
}


def action(code: str) -> str:
    """Return the label of an action."""
    return str(AUDIT_ACTIONS.get(code) or code.replace(".", ": ").replace("_", " "))


def thing(kind: str) -> str:
    """Return the label of a kind of thing."""
    return str(THINGS.get(kind) or kind.replace("_", " ").capitalize())


def value(text: str) -> str:
    """Return the label of a stored state."""
    return str(VALUES.get(text, text))


def option(name: str) -> str:
    """Return the label of an import's option."""
    return str(OPTIONS.get(name) or name.replace("_", " ").capitalize())


def field(name: str) -> str:
    """Return the label of a changed field."""
    return str(FIELDS.get(name) or name.replace("_", " ").capitalize())


# Audit fields whose values have a structure of their own, in words.


def in_words(name: str, value: Any) -> str | None:
    """Return the value as lines.

    Return None for another structure, as earlier versions may have stored.
    """
    match name, value:
        case "queue", str():
            return str(QUEUES.get(value, value))
        case "counts", dict() if all(isinstance(each, dict) for each in value.values()):
            return "\n".join(_counts(value))
        case "options", dict():
            return "\n".join(_options(value))
    return None


def _counts(kept: dict[str, dict[str, int]]) -> Iterator[str]:
    """Yield what an import changed, kind by kind: "Courses: 3 added, 1 removed"."""
    for kind in _ordered(RECORD_NAMES, kept):
        moved = kept[kind]
        if said := [
            str(how) % {"count": moved[name]} for name, how in CHANGED.items() if moved.get(name)
        ]:
            yield f"{RECORD_NAMES.get(kind, kind)}: {', '.join(said)}"


def _options(kept: dict[str, Any]) -> Iterator[str]:
    """Yield the options of an import, without those that mean nothing."""
    for name in _ordered(OPTIONS, kept):
        value = kept[name]
        if value is not None and value is not False and value != "":
            yield f"{option(name)}: {_choice(name, value)}"


def _choice(name: str, value: Any) -> str:
    if name == "layout":
        return str(LAYOUTS.get(value, value))
    return _("Yes") if value is True else str(value)


def _ordered(known: Iterable[str], kept: dict[str, Any]) -> list[str]:
    """Return the names in their usual order; the database stores none."""
    return [name for name in dict.fromkeys([*known, *kept]) if name in kept]
