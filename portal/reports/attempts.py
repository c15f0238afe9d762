"""What each student of a window asked for and got, out of the events between its two turns."""

from collections import Counter
from dataclasses import dataclass, field

from portal.recorder.events import Event, milliseconds

ASKS = {"enrolled", "waitlisted", "refused"}
SEATS = {"enrolled", "promoted"}


@dataclass
class Attempts:
    """One student's: times in ms; `got_at` is when the seat came that was asked for first."""

    first: int = 0  # the section that was asked for first
    first_at: int = 0
    got_at: int = 0
    asks: int = 0
    seats: set[int] = field(default_factory=set)  # given in the window and not given up in it
    refusals: Counter[str] = field(default_factory=Counter)

    def hear(self, fact: Event) -> None:
        """Take in an event of the student's."""
        told, section, at = fact.payload, fact.payload["section"], milliseconds(fact.at)
        if fact.name in ASKS and told.get("act", "claim") == "claim":
            self.asks += 1
            # What others come before is told with its rank, and may be refused before those.
            if not self.first and not told.get("rank"):
                self.first, self.first_at = section, at
        if fact.name in SEATS:
            self.seats.add(section)
            if section == self.first and not self.got_at:
                self.got_at = at
        if fact.name == "dropped":
            self.seats.discard(section)
        if fact.name == "refused" and told["act"] == "claim":
            self.refusals.update({reason["code"] for reason in told["reasons"]})

    @property
    def wait(self) -> int | None:
        """From the first ask to that seat (ms), None where it never came."""
        return self.got_at - self.first_at if self.got_at else None
