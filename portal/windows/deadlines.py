"""The deadlines of a term: its last days to add, drop and withdraw, as the ledger decides by them.

A deadline passes at the end of its day in the institution's time zone.
"""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from portal.backend import backend
from portal.catalog import formatting
from portal.catalog.models import Term
from portal.catalog.term_fields import TERM_RULES
from portal.catalog.views import TermView
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.core.queue import enqueue
from portal.ledger.types import DEADLINES


def days(term: Term | TermView) -> dict[str, date]:
    """Return the deadlines that the term has, in their order."""
    found = {name: getattr(term, name) for name in DEADLINES}
    return {name: day for name, day in found.items() if day}


def in_words(term: Term | TermView) -> list[tuple[str, str]]:
    """Return each deadline with its day: `Last day to add`, `Sep 12`."""
    return [(str(TERM_RULES[name].label), formatting.day(day)) for name, day in days(term).items()]


def moments(term: Term | TermView, zone: ZoneInfo) -> dict[str, int]:
    """Return the first moment (ms) after each deadline."""
    return {name: _end(day, zone) for name, day in days(term).items()}


def _end(day: date, zone: ZoneInfo) -> int:
    midnight = datetime.combine(day + timedelta(days=1), time.min, zone)
    return round(midnight.timestamp() * 1000)


def send(term_id: int, actor: str | None = None) -> None:
    """Send the deadlines as they are stored now to the ledger.

    The ledger ignores them if it has newer ones, by the version of the catalog. Raises
    LedgerUnavailable, or LedgerBehind if the ledger has lost recorded events.
    """
    with transaction() as session:
        term = session.get_one(Term, term_id)
        version, found = term.catalog_version, moments(term, backend().settings.zone)
    change = backend().ledger.put_deadlines(
        term_id, found, version, actor=actor, recorded=checkpoint(term_id)
    )
    enqueue(term_id, change.wake)
