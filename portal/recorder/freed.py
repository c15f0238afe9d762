"""How many seats were given up lately, of how many: counted from the event log, hour by hour."""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Executable, Integer, case, func, not_, select

from portal.core.cache import AWAY, Cache
from portal.core.db import transaction
from portal.recorder.models import Event

HOUR = 3600.0  # seconds
DAY = 24 * HOUR
FRESH_SECONDS = 45.0


class Moves(NamedTuple):
    """What moved within an hour: seats taken less seats freed, each times its moment (s), freed."""

    net: int = 0
    moments: float = 0.0
    freed: int = 0

    def plus(self, more: "Moves") -> "Moves":
        """Both together."""
        return Moves(self.net + more.net, self.moments + more.moments, self.freed + more.freed)


class Seen(NamedTuple):
    """Seats that were freed, and how long seats were held in which they could have been."""

    freed: int
    seat_days: float


@dataclass(frozen=True)
class Tally:
    """Seats taken and freed, by hour since 1970; those from before the import are not in it."""

    hours: Mapping[int, Moves] = field(default_factory=dict)

    @property
    def seats(self) -> int:
        """Seats that are held."""
        return sum(moves.net for moves in self.hours.values())

    @property
    def begun(self) -> float:
        """When the first seat was taken (s since 1970), to the hour."""
        return min(self.hours, default=0) * HOUR

    def plus(self, hours: Mapping[int, Moves]) -> "Tally":
        """The tally with what has moved since."""
        none = Moves()
        added = {hour: self.hours.get(hour, none).plus(moves) for hour, moves in hours.items()}
        return Tally({**self.hours, **added})

    def since(self, start: float, now: float) -> Seen:
        """What was seen from the hour of `start` on (s since 1970)."""
        first, freed, seconds = start // HOUR, 0, 0.0
        for hour, moves in self.hours.items():
            if hour < first:
                seconds += moves.net * (now - first * HOUR)
            else:
                seconds += moves.net * now - moves.moments
                freed += moves.freed
        return Seen(freed, max(0.0, seconds) / DAY)


@dataclass(frozen=True)
class Freed:
    """The tallies of a term's sections and their sum, as of event `seq`."""

    seq: int = 0
    term: Tally = field(default_factory=Tally)
    sections: Mapping[int, Tally] = field(default_factory=dict)


def refresh(term: int) -> None:
    """Read what has happened since, unless that was done within 45 s or PostgreSQL is away."""
    with suppress(*AWAY):
        _freed.get(term)


def known(term: int) -> Freed:
    """The term's tallies as last read in this process, without a wait."""
    return _freed.peek(term) or Freed()


def read(term: int) -> Freed:
    """The tallies as they are now: those known, and what has happened since."""
    before = known(term)
    added: dict[int, dict[int, Moves]] = defaultdict(dict)
    seq, whole = before.seq, before.term
    with transaction() as session:
        for aggregate, hour, last, net, moments, freed in session.execute(_moves(term, seq)):
            section = int(aggregate.partition(":")[2])
            added[section][hour] = Moves(net, float(moments), freed)
            seq = max(seq, last)
    for hours in added.values():
        whole = whole.plus(hours)
    moved = {key: before.sections.get(key, Tally()).plus(hours) for key, hours in added.items()}
    return Freed(seq, whole, {**before.sections, **moved})


def forget() -> None:
    """Let go of what is known, as tests with a new database must."""
    _freed.clear()


def _moves(term: int, after: int) -> Executable:
    """What moved in each section and hour behind event `after`."""
    moment = func.extract("epoch", Event.occurred_at)
    hour = func.floor(moment / HOUR).cast(Integer)
    sign = case((Event.name == "dropped", -1), else_=1)
    # The seats of a canceled section come to nobody.
    freed = func.count().filter(Event.name == "dropped", not_(Event.payload.has_key("canceled")))
    return (
        select(
            Event.aggregate,
            hour,
            func.max(Event.seq),
            func.sum(sign),
            func.sum(sign * moment),
            freed,
        )
        .where(Event.term_id == term, Event.seq > after)
        .where(Event.name.in_(("enrolled", "promoted", "dropped")))
        .group_by(Event.aggregate, hour)
    )


_freed = Cache(read, FRESH_SECONDS)
