"""Actions on a waiting room besides its limits; the audit trail has each of them."""

from typing import Any

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.waiting_room import room

MOST_LET_IN = 500  # students in one step: the ledger answers others meanwhile


def let_in(  # noqa: PLR0913  the room, how many, who and why, the key
    term: int, window: int, count: int, *, by: int, reason: str, key: str
) -> int:
    """Admit the next students whatever the limits; return how many.

    With the same key it happens once. Raises WindowEnded, LedgerUnavailable, and ValueError for a
    count out of range.
    """
    if not 0 < count <= MOST_LET_IN:
        raise ValueError(f"A count is a number from 1 to {MOST_LET_IN}.")
    admitted = room.let_in(term, window, count, key)
    after = {"wanted": count, "admitted": admitted}
    _record("room.admit", term, window, by=by, reason=reason, after=after)
    return admitted


def expire(  # noqa: PLR0913  the room, the student, who and why, the key
    term: int, window: int, student: int, *, by: int, reason: str, key: str
) -> bool:
    """End the visit of an admitted student, who may queue again; return whether there was one.

    With the same key it happens once. Raises LedgerUnavailable.
    """
    ended = room.expire(term, window, student, key)
    if ended:
        _record("room.expire", term, window, f" student:{student}", by=by, reason=reason)
    return ended


def reset(term: int, window: int, *, by: int, reason: str, key: str) -> dict[str, int]:
    """Empty the queue and end all visits; return how many waited and were inside.

    With the same key it happens once. Raises WindowEnded and LedgerUnavailable.
    """
    emptied = room.reset(term, window, key)
    _record("room.reset", term, window, by=by, reason=reason, before=emptied)
    return emptied


def _record(  # noqa: PLR0913  the columns of an entry
    action: str, term: int, window: int, about: str = "", *, by: int, reason: str, **facts: Any
) -> None:
    subject = f"term:{term} window:{window}{about}"
    with transaction() as session:
        add_audit_entry(session, action, subject, by=by, reason=reason, **facts)
