"""Admin adjustments, written to the audit trail with the events that follow."""

import re
from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.people.models import Account, AuditEntry
from portal.recorder.events import Event

ACTIONS = {"enrolled": "selection.add", "promoted": "selection.add", "dropped": "selection.drop"}
MOVE = "selection.move"


def note(session: Session, term: int, facts: Sequence[Event]) -> None:
    """Write each add, drop and move by an admin, a move once; omit what follows from them."""
    noted = [fact for fact in facts if fact.by_hand and "swap" not in fact.payload]
    if noted:
        # An unknown account must not block the recording of the term.
        actors = select(Account.id).where(Account.id.in_({_account(fact) for fact in noted}))
        known = set(session.scalars(actors))
        session.add_all(_entry(term, fact, known) for fact in noted)


def _entry(term: int, fact: Event, known: Collection[int]) -> AuditEntry:
    told, account = fact.payload, _account(fact)
    gone = told["section"] if fact.name == "dropped" else told.get("instead")
    come = None if fact.name == "dropped" else told["section"]
    facts = {"overrides": fact.context.get("overrides", []), "event": fact.seq}
    return AuditEntry(
        at=fact.at,
        account_id=account if account in known else None,
        action=MOVE if come and gone else ACTIONS[fact.name],
        subject=f"term:{term} section:{told['section']} student:{told['student']}",
        before={"section": gone},
        after={"section": come} | facts,
        reason=fact.context["reason"],
    )


def _account(fact: Event) -> int:
    """Return the account that acted; 0 if there is none."""
    found = re.fullmatch(r"account:(\d+)", fact.context["actor"])
    return int(found[1]) if found else 0
