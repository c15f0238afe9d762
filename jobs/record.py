"""Jobs of the queue `record`."""

from portal.recorder import recorder


def drain(term: int) -> None:
    """Record what is new in the journal of a term."""
    recorder.drain(term)
