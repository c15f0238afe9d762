"""What a page asks to be shown, as it says so over its socket."""

from dataclasses import dataclass
from time import monotonic
from typing import Any

import orjson

MOST_SECTIONS = 400
MOST_ID = 2**31


@dataclass(frozen=True)
class Wish:
    """The sections of a term that a page shows, and those where the student has a part."""

    term: int
    sections: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    mark: str = ""  # of the student's panel as the page shows it
    roster: int | None = None
    room: int | None = None  # the window in whose waiting room it waits
    student: int | None = None  # whose record an admin looks at
    operations: bool = False  # how the portal runs, which is of no term


def parse(message: str | bytes) -> Wish | None:
    """The wish in a message, None for a sign of life; raises ValueError where it makes no sense."""
    wish = orjson.loads(message)  # which refuses what is nested too deep like other nonsense
    if wish == {}:
        return None
    if not isinstance(wish, dict):
        raise ValueError("A wish is an object.")  # noqa: TRY004 - one error for all nonsense
    if wish.get("operations") is True:
        return Wish(term=0, operations=True)
    roster, room, student = (wish.get(name) for name in ("roster", "room", "student"))
    return Wish(
        term=number(wish.get("term")),
        sections=_numbers(wish.get("sections", [])),
        held=_numbers(wish.get("held", [])),
        mark=str(wish.get("mark", "")),
        roster=None if roster is None else number(roster),
        room=None if room is None else number(room),
        student=None if student is None else number(student),
    )


def listed(text: str) -> tuple[int, ...]:
    """The ids in a list such as `12,13`, as an address has them."""
    return _numbers([int(each) for each in text.split(",") if each])


def number(value: Any) -> int:
    """An id; raises ValueError for all else."""
    if type(value) is not int or not 0 < value < MOST_ID:
        raise ValueError(f"{value!r} is no id.")
    return value


def _numbers(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) > MOST_SECTIONS:
        raise ValueError(f"At most {MOST_SECTIONS} sections can be watched.")
    return tuple(dict.fromkeys(number(value) for value in values))


class Allowance:
    """How many messages a page may still send: a burst, then a steady trickle."""

    __slots__ = ("_a_second", "_at", "_burst", "_left")

    def __init__(self, burst: float = 60, a_second: float = 2) -> None:
        self._burst = self._left = burst
        self._a_second = a_second
        self._at = monotonic()

    def take(self) -> bool:
        """Whether one more message is within the allowance."""
        now = monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._a_second)
        self._at = now
        self._left -= 1
        return self._left >= 0
