"""Jobs of the queue `promote`."""

from contextlib import suppress

from portal.catalog.term_catalog import NoSuchTerm
from portal.core.correlation import correlation
from portal.recorder import promotion as promoter


def promote(term: int) -> None:
    """Give the free seats of a term to waiting students, unless it was deleted meanwhile."""
    with suppress(NoSuchTerm):
        promoter.promote(term, correlation())
