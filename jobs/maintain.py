"""Jobs of the queue `maintain`."""

from portal.reports import closeout
from portal.windows import readiness


def maintain(term: int) -> None:
    """Make a term ready for what opens, and close out the windows that have ended."""
    readiness.make_ready(term)
    closeout.close_out(term)
