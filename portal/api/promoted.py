"""What becomes of a seat that was given up, as far as that is known within a moment."""

import time
from contextlib import suppress

from portal.backend import backend
from portal.core.cache import AWAY
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Decision
from portal.recorder import event_log, journal
from portal.recorder.events import Event

PATIENCE = (0.02, 0.04, 0.08, 0.16)  # seconds between looks: a worker takes some ms as a rule
WITHIN = 50  # events after the drop


def processed(term: int, dropped: Decision) -> bool | None:
    """True once the waitlist has been gone through, False where nobody waits, None if unknown."""
    counts = dropped.seats
    if counts is None or counts.status != "OPEN" or not (counts.open and counts.waiting):
        return False
    with suppress(LedgerUnavailable):  # the seat is given up, and that is told in any case
        for pause in PATIENCE:
            time.sleep(pause)
            counts = backend().ledger.seats_of(term, [dropped.section])[dropped.section]
            if not counts.open or counts.waiting == counts.passed:
                return True
    return None


def next_in(term: int, dropped: Decision) -> int | None:
    """The student who came in for the drop, if that has happened."""
    known: list[Event] = []
    with suppress(LedgerUnavailable, *AWAY):
        known += journal.latest(backend().redis, term, WITHIN, dropped.seq)
        with transaction() as session:
            known += event_log.read_events(session, term, dropped.seq, dropped.seq + WITHIN)
    came = [fact for fact in known if _came(fact, dropped)]
    return int(min(came, key=lambda fact: fact.seq).payload["student"]) if came else None


def _came(fact: Event, dropped: Decision) -> bool:
    about = fact.name == "promoted" and fact.payload.get("section") == dropped.section
    return about and fact.seq > dropped.seq
