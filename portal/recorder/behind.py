"""Record, as far as possible, the decisions that PostgreSQL does not have yet."""

from collections.abc import Iterator

from portal.backend import backend
from portal.catalog.term_catalog import terms_named
from portal.core.checkpoints import checkpoint
from portal.ledger.errors import LedgerUnavailable
from portal.recorder.consistency.audit import catch_up
from portal.recorder.journal import JournalGap, last_seq
from portal.recorder.projections import UnknownEvent

SLOW = "PostgreSQL is too slow, or another recorder holds the semester. Try again"


def record_all() -> Iterator[str]:
    """Record all decisions of every term; yield a sentence for each term where that fails."""
    for number, name in terms_named():
        try:
            why = "" if catch_up(number) else SLOW
        except (JournalGap, UnknownEvent, ValueError) as wrong:
            why = str(wrong)
        except LedgerUnavailable as away:
            yield f"The ledger does not answer, so its latest decisions are unknown: {away}."
            return
        if why:
            yield f"{_count(number)} of {name} are not recorded: {why}."


def _count(term: int) -> str:
    """Return how many decisions are unrecorded, and which."""
    known, last = checkpoint(term), last_seq(backend().redis, term)
    if last <= known:  # the ledger is older than the record
        return "Decisions"
    return f"{last - known} decisions (events {known + 1} to {last})"
