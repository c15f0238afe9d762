"""Admin adjustments, written to the audit trail with the events that follow."""

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.core.audit_trail import AuditEntry
from portal.people.models import Account
from portal.recorder.events import Event

ACTIONS = {"enrolled": "selection.add", "promoted": "selection.add", "dropped": "selection.drop"}
MOVE = "selection.move"


def add_entries(session: Session, term: int, events: Sequence[Event]) -> None:
    """Write each add, drop and move by an admin, a move once; omit what follows from them."""
    adjusted = [event for event in events if event.is_adjustment and "swap" not in event.payload]
    if not adjusted:
        return
    # An unknown account must not block the recording of the term.
    actors = select(Account.id).where(Account.id.in_({_account(event) for event in adjusted}))
    known = set(session.scalars(actors))
    for event in adjusted:
        payload, account = event.payload, _account(event)
        added = None if event.name == "dropped" else payload["section"]
        dropped = payload.get("instead") if added else payload["section"]
        session.add(
            AuditEntry(
                at=event.at,
                account_id=account if account in known else None,
                action=MOVE if added and dropped else ACTIONS[event.name],
                subject=_subject(term, event),
                before={"section": dropped},
                after=_after(event, added),
                reason=event.context["reason"],
            )
        )


def _after(event: Event, added: int | None) -> dict[str, Any]:
    lifted = {"overrides": event.context.get("overrides", [])}
    if "permitted" in event.context:
        lifted["permitted"] = event.context["permitted"]
    return {"section": added, **lifted, "event": event.seq}


def _subject(term: int, event: Event) -> str:
    subject = f"term:{term} section:{event.payload['section']} student:{event.payload['student']}"
    application = event.context.get("application")
    return f"{subject} application:{application}" if application else subject


def _account(event: Event) -> int:
    """Return the account that acted; 0 if there is none."""
    found = re.fullmatch(r"account:(\d+)", event.context["actor"])
    return int(found[1]) if found else 0
