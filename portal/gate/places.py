"""What the waiting room says: a student's place, and how the room stands."""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["none", "early", "waiting", "called", "gone"]


@dataclass(frozen=True)
class Room:
    """How the waiting room of a window stands at `at` (ms)."""

    at: int
    opens: int  # when its window does (ms)
    phase: str  # unknown, before, open or ended
    per_minute: int
    at_once: int
    off: bool
    line: int  # all who ever came
    called: int  # number of the last one called
    waiting: int
    inside: int
    pace: tuple[tuple[int, int], ...]  # from when on (ms), how far the line came in half a minute
    right: int  # waits within the range that was shown, and those that were not
    wrong: int
    free: int = 0  # how many more could come in now, were nobody to wait

    @property
    def paused(self) -> bool:
        """Whether an admin has paused the line."""
        return not self.off and not self.per_minute

    @property
    def full(self) -> bool:
        """Whether whoever comes now has to wait."""
        return self.phase == "open" and (self.waiting > 0 or self.free == 0)


@dataclass(frozen=True)
class Place:
    """A student's place: `early` until the order is drawn, then `waiting`, `called` or `gone`."""

    kind: Kind
    room: Room
    request: str = ""
    since: int = 0  # when it was taken (ms)
    number: int = 0  # in the line of all who ever came, from 1; it stays
    ahead: int = 0  # how many are called before
    ends: int = 0  # until when to come in, or to stay (ms)

    @property
    def position(self) -> int:
        """The number in line as everyone is told it: 1 is next, 0 waits no more or not yet."""
        return self.ahead + 1 if self.kind == "waiting" else 0


def room_of(state: dict[str, Any]) -> Room:
    """How a room stands, as its functions say it."""
    facts = {name: state[name] for name in Room.__dataclass_fields__ if name in state}
    facts.pop("pace")
    return Room(**facts, pace=tuple(sorted((at, count) for at, count in state["pace"] or ())))


def place_of(facts: Any, room: Room) -> Place:
    """A place in a room that stands so, as its functions say it."""
    return Place(**{"kind": "none", **dict(facts or {})}, room=room)
