"""Jobs of the queue `record`."""

from portal.recorder import recorder


def drain(term: int) -> None:
    """Record the new journal entries of a term."""
    recorder.drain(term)
