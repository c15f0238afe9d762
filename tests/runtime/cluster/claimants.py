"""Students who claim seats all the time, and what each of them was told."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

from portal.backend import backend
from portal.ledger.errors import LedgerUnavailable
from tests.recorder.rush import Rush, claim


@dataclass
class Told:
    """The seats that students were told they have, in order, and when it was (monotonic)."""

    rush: Rush
    seats: list[tuple[int, int]] = field(default_factory=list)
    last: float = 0.0
    ended: Event = field(default_factory=Event)

    def claim_on(self) -> None:
        """Claim seat after seat, each until it is answered."""
        pairs = [(student, each) for each in self.rush.sections for student in self.rush.students]
        for student, section in pairs:
            while not self.ended.is_set():
                try:
                    answer = claim(self.rush, student, section, f"{student}-{section}")
                except LedgerUnavailable:
                    time.sleep(0.1)
                    continue
                assert answer.outcome == "enrolled"
                self.seats.append((student, section))
                self.last = time.monotonic()
                break
            self.ended.wait(0.01)

    def lost(self) -> set[tuple[int, int]]:
        """Seats that the ledger knows nothing of."""
        held = {
            (student, seat.section)
            for student in {student for student, _ in self.seats}
            for seat in backend().ledger.registrations(self.rush.term, student).enrolled
        }
        return set(self.seats) - held


@contextmanager
def claiming(rush: Rush) -> Iterator[Told]:
    """A block during which somebody claims."""
    told = Told(rush)
    thread = Thread(target=told.claim_on)
    thread.start()
    try:
        yield told
    finally:
        told.ended.set()
        thread.join()
