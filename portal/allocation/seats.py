"""The free seats of a round: open ones, reserved ones, and those of pools.

As in the ledger, a student takes a reserved seat before an open one, from the first reserve in
order that has one; and a seat must be free in the section and in its pool.
"""

from collections.abc import Sequence

from portal.allocation.compact import Compact

OPEN = -1  # in the place of a reserve


class Seats:
    """Counts of free seats, which change with each seat that is taken or given back."""

    def __init__(self, table: Compact) -> None:
        sections = table.problem.settings.sections
        pools = list(table.problem.settings.pools.items())
        number = {name: at for at, (name, _) in enumerate(pools)}
        self.open = [each.capacity - sum(seats for _, seats in each.reserves) for each in sections]
        self.reserved = [[seats for _, seats in each.reserves] for each in sections]
        self.pool = [number.get(each.pool, -1) for each in sections]
        self.in_pool = [capacity for _, capacity in pools]
        self._cohorts = [[cohort for cohort, _ in each.reserves] for each in sections]
        self._ballots = table.problem.ballots
        self.taken: dict[tuple[int, int], int] = {}  # student, section: the reserve

    def may_be_free(self, section: int) -> bool:
        """Return whether some student could find a seat, apart from the pool."""
        return self.open[section] > 0 or any(self.reserved[section])

    def take(self, student: int, sections: Sequence[int]) -> bool:
        """Take a seat in each section, or none at all."""
        for at, section in enumerate(sections):
            reserve = self._find(student, section)
            if reserve is None:
                self.give_back(student, sections[:at])
                return False
            self._count(student, section, reserve, 1)
        return True

    def give_back(self, student: int, sections: Sequence[int]) -> list[int]:
        """Free a student's seats; return where they were, for `put_back`."""
        found = [self.taken[student, section] for section in sections]
        for section, reserve in zip(sections, found, strict=True):
            self._count(student, section, reserve, -1)
        return found

    def put_back(self, student: int, sections: Sequence[int], found: Sequence[int]) -> None:
        """Take the seats again that `give_back` freed."""
        for section, reserve in zip(sections, found, strict=True):
            self._count(student, section, reserve, 1)

    def _find(self, student: int, section: int) -> int | None:
        pool = self.pool[section]
        if pool >= 0 and self.in_pool[pool] <= 0:
            return None
        for at, left in enumerate(self.reserved[section]):
            if left and self._cohorts[section][at] in self._ballots[student].cohorts:
                return at
        return OPEN if self.open[section] > 0 else None

    def _count(self, student: int, section: int, reserve: int, by: int) -> None:
        if reserve == OPEN:
            self.open[section] -= by
        else:
            self.reserved[section][reserve] -= by
        if self.pool[section] >= 0:
            self.in_pool[self.pool[section]] -= by
        if by > 0:
            self.taken[student, section] = reserve
        else:
            del self.taken[student, section]
