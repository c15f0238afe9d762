"""Jobs of the queue `promote`."""

from portal.recorder import promotion


def promote(term: int) -> None:
    """Give the free seats of a term to waiting students."""
    promotion.promote_waiting(term)
