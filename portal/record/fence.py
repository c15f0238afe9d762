"""A fence before a term of the ledger: as long as it stands, nothing is decided there.

Whoever asks is told that the ledger can't be asked. What it holds can be read and written past
its functions, which is how it is restored.
"""

from portal.backend import backend
from portal.seats.library import prefix, reached


def put_up(term: int, why: str) -> None:
    """Let nothing be decided from here on."""
    with reached():
        backend().redis.set(key(term), why)


def take_down(term: int) -> None:
    """Let the term go on."""
    with reached():
        backend().redis.delete(key(term))


def why(term: int) -> str:
    """Why it stands; blank where there is none."""
    with reached():
        found = backend().redis.get(key(term))
    return found.decode() if isinstance(found, bytes) else ""


def key(term: int) -> str:
    """Where it stands."""
    return f"{prefix(term)}:fence"
