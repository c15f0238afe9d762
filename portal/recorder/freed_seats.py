"""The next student in a seat that another has just dropped."""

import time
from contextlib import suppress

from portal.backend import backend
from portal.core.cache import AWAY
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Decision
from portal.recorder import event_log, journal

PAUSES = (0.02, 0.04, 0.08, 0.16)  # seconds between polls: a promotion takes a worker some ms
EVENTS_AFTER = 50  # events after a drop in which to search for its promotion


def waitlist_processed(term: int, dropped: Decision) -> bool | None:
    """Return True once the waitlist is processed, False if it can't move, else None."""
    counts = dropped.seats
    if counts is None or counts.status != "OPEN" or not (counts.open and counts.waiting):
        return False
    with suppress(LedgerUnavailable):  # the drop is done, and the response says so in any case
        for pause in PAUSES:
            time.sleep(pause)
            counts = backend().ledger.seats_of(term, [dropped.section])[dropped.section]
            if not counts.open or counts.waiting == counts.skipped:
                return True
    return None


def promoted_student(term: int, dropped: Decision) -> int | None:
    """Return the student who got the seat, if the promotion has been written yet."""
    events = []
    with suppress(LedgerUnavailable, *AWAY):
        events += journal.latest(term, EVENTS_AFTER, dropped.seq)
        with transaction() as session:
            events += event_log.read_events(session, term, dropped.seq, dropped.seq + EVENTS_AFTER)
    promoted = [
        each
        for each in events
        if each.name == "promoted"
        and each.payload.get("section") == dropped.section
        and each.seq > dropped.seq
    ]
    return min(promoted, key=lambda each: each.seq).payload["student"] if promoted else None
