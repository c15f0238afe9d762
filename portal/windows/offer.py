"""Tells the ledger of sections that have just been changed."""

from portal.backend import backend
from portal.catalog import term_catalog
from portal.core.db import transaction
from portal.ledger.errors import LedgerBehind, LedgerUnavailable
from portal.recorder.event_log import checkpoint
from portal.recorder.wake import wake
from portal.windows.warmup import section_specs


def offer(term_id: int, *section_ids: int) -> bool:
    """Let the ledger decide by the sections as they are stored now, and call who is to act on it.

    False where it could not be told: the clock makes good for that, as the catalogue has moved.
    """
    term_catalog.expire(term_id)
    with transaction() as session:
        told = section_specs(session, term_id, *section_ids)
    known = checkpoint(term_id)
    try:
        changes = backend().ledger.put_sections(term_id, told, recorded=known)
    except (LedgerBehind, LedgerUnavailable):
        return False
    wake(term_id, sorted({worker for change in changes for worker in change.wake}))
    return True
