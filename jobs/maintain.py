"""Jobs of the queue `maintain`."""

from portal.windows import warmup


def warm_up(term: int) -> None:
    """Tell the ledger of the sections of a term."""
    warmup.warm_up(term)
