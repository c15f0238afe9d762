"""What happened in a section, event by event, in words."""

from typing import Any

from portal.core.db import transaction
from portal.core.i18n import _
from portal.core.moments import milliseconds
from portal.recorder import participants
from portal.recorder.events import Event
from portal.recorder.receipt_texts import outcome
from portal.recorder.receipts import code


def history(term: int, section: int, before: int | None) -> tuple[list[dict[str, Any]], bool]:
    """Return a page of the section's events, and whether there are more."""
    with transaction() as session:
        events, more = participants.happened(session, term, section, before)
        names = participants.names(session, events)
    return [_in_words(term, each, names) for each in events], more


def _in_words(term: int, event: Event, names: dict[str, str]) -> dict[str, Any]:
    """Return what happened, the student, the actor, and an admin's reason."""
    student, facts = event.payload.get("student", 0), event.payload
    actor = names.get(event.context.get("actor", ""), "")
    what, tone = outcome(event)
    if event.name == "section_set":
        seats = {"seats": facts["capacity"], "places": facts["waitlist"]}
        what, actor = _("Seats: %(seats)s, waitlist: %(places)s", **seats), ""
        if facts["status"] == "CANCELED":
            what = _("The section was canceled")
    return {
        "seq": event.seq,
        "at": milliseconds(event.at),
        "what": what,
        "tone": tone,
        "student": student,
        "name": names.get(f"student:{student}", ""),
        "by": actor,
        "reason": event.context.get("reason", ""),
        "code": code(term, event.seq) if student else "",
    }
