"""Whether PostgreSQL gives no answers, so that not every request has to find out for itself."""

from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

REST = 5.0  # seconds for which PostgreSQL is left alone after it has failed to answer


@dataclass
class Outage:
    """While it lasts, one asks every few seconds and the others make do with what they know.

    It may be away, or `crowded`: then it is there, but all connections to it are in use.
    """

    lasts: bool = False
    crowded: bool = False
    rest_ends: float = 0.0
    lock: Lock = field(default_factory=Lock)

    def spares(self) -> bool:
        """Whether who knows an older value should take it; if not, the caller is the one to ask."""
        with self.lock:
            if not self.lasts:
                return False
            if monotonic() < self.rest_ends:
                return True
            self.rest_ends = monotonic() + REST
            return False

    @property
    def away(self) -> bool:
        """Whether PostgreSQL itself does not answer."""
        return self.lasts and not self.crowded

    def begin(self, *, crowded: bool = False) -> None:
        """PostgreSQL has just failed to answer, or there was no free connection to it."""
        with self.lock:
            self.lasts, self.crowded, self.rest_ends = True, crowded, monotonic() + REST

    def end(self) -> None:
        """PostgreSQL has just answered."""
        self.lasts = False


postgresql = Outage()
