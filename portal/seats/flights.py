"""Flights: of several requests under one key one is decided at a time, and none that came late."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex

from portal.backend import backend
from portal.seats.errors import LedgerUnavailable, Overtaken

# For which whoever asks again waits for the first, whose process may have died. It is shorter than
# a request can take: the ledger tells which of two may be decided.
LONGEST = 2000  # ms
LOOKS = 0.1  # seconds until the next, of who waits


@contextmanager
def alone(term: int, student: int, key: str, patience: float = 0.0) -> Iterator[str]:
    """A block to decide a request in, under the flight that it gives: one at a time for a key.

    While another is being decided it waits, for so many seconds at most. Raises Overtaken where
    another still is, LedgerUnavailable.
    """
    flight = token_hex(8)
    _take_off(term, student, key, flight, time.monotonic() + patience)
    try:
        yield flight
    except Overtaken:
        raise
    except BaseException:
        with suppress(LedgerUnavailable):  # its time is up soon
            backend().ledger.land(term, student, key, flight)
        raise


def _take_off(term: int, student: int, key: str, flight: str, until: float) -> None:
    while True:
        try:
            backend().ledger.take_off(term, student, key, flight, LONGEST)
        except Overtaken:
            if time.monotonic() > until:
                raise
            time.sleep(LOOKS)
        else:
            return
