"""Changes that wait for each other: who goes round in a ring, and who waits in vain."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from portal.exchange.importing.seating.moves import Move

Shut = set[tuple[int, int]]  # rows of whom the first can't have the seat of the second


@dataclass(frozen=True)
class Found:
    """Rings, in which each gets the seat that the next one leaves; and those who wait in vain."""

    rings: list[list[Move]]
    vain: list[Move]


def find(waiting: Sequence[Move], shut: Shut) -> Found:
    """As many rings as there are side by side, and all to whom nobody will leave a seat."""
    search = _Search(waiting, shut)
    for move in waiting:
        search.follow(move)
    return Found(search.rings, search.vain)


@dataclass
class _Search:
    waiting: Sequence[Move]
    shut: Shut
    rings: list[list[Move]] = field(default_factory=list)
    vain: list[Move] = field(default_factory=list)
    done: set[int] = field(default_factory=set)  # rows that have been looked at
    # By section and by pool: changes out of it that have not, and whether others may free a seat.
    leaving: dict[str, dict[int, Move]] = field(init=False)
    hopeful: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.leaving = defaultdict(dict)
        for move in self.waiting:
            for place in _left(move):
                self.leaving[place][move.id] = move

    def follow(self, start: Move) -> None:
        """Walk from a change to one that would leave it a seat, and on, until nothing is open."""
        path = [start] if start.id not in self.done else []
        while path:
            if ring := self._closed(path):
                self.rings.append(ring)
                del path[-len(ring) :]
                self._look_away(ring, hopeful=True)
            elif follower := self._follower(path):
                path.append(follower)
            else:
                last = path.pop()
                hope = self._hopes(last)
                self._look_away([last], hopeful=hope)
                if not hope:
                    self.vain.append(last)

    def _closed(self, path: list[Move]) -> list[Move]:
        """The end of the path, where its last one can have the seat of one before."""
        last = path[-1]
        for start in range(len(path) - 2, -1, -1):
            if self._may(last, path[start]) and set(_left(path[start])) & set(_entered(last)):
                return path[start:]
        return []

    def _follower(self, path: list[Move]) -> Move | None:
        students = {move.student for move in path}
        found = self._leavers(path[-1])
        return next((each for each in found if each.student not in students), None)

    def _leavers(self, move: Move) -> Iterator[Move]:
        for place in _entered(move):
            yield from (each for each in self.leaving[place].values() if self._may(move, each))

    def _may(self, move: Move, leaver: Move) -> bool:
        return move is not leaver and (move.id, leaver.id) not in self.shut

    def _hopes(self, move: Move) -> bool:
        """Whether a seat may yet come free for it."""
        if not self.hopeful.isdisjoint(_entered(move)):
            return True
        return next(self._leavers(move), None) is not None

    def _look_away(self, moves: list[Move], *, hopeful: bool) -> None:
        for move in moves:
            self.done.add(move.id)
            for place in _left(move):
                del self.leaving[place][move.id]
                if hopeful:
                    self.hopeful.add(place)


def _entered(move: Move) -> list[str]:
    return _places(move.section, move.pool)


def _left(move: Move) -> list[str]:
    return _places(move.old.section, move.old.pool) if move.old else []


def _places(section: int | None, pool: int | None) -> list[str]:
    """A section, and the pool that it shares seats with others in."""
    return [f"section {section}", *([f"pool {pool}"] if pool else [])] if section else []
