"""Jobs of the queue `promote`."""

from portal.ops.correlation import correlation
from portal.record import promote as promoter


def promote(term: int) -> None:
    """Give the free seats of a term to those who wait."""
    promoter.promote(term, correlation())
