"""Jobs of the queue `maintain`."""

from portal.reports import closeout
from portal.windows import readiness


def maintain(term: int) -> None:
    """Prepare a term for its openings, and make the reports of windows that have ended."""
    readiness.make_ready(term)
    closeout.close_out(term)
