"""How ready a term is for its next opening, as the page of the windows says it."""

from dataclasses import dataclass

from portal.people import profile
from portal.windows import readiness, warmth


@dataclass(frozen=True)
class Ready:
    """Sections that the ledger was told of, and web processes that have read; times in ms.

    `since` is 0 until all is done.
    """

    sections: int
    told: int
    processes: int
    warm: int
    profiles: int
    students: int
    since: int

    @property
    def parts(self) -> tuple[int, int]:
        """How much of how much is done: sections and profiles."""
        of = self.sections + self.processes * self.students
        return self.told + self.profiles, of


def ready(term: int, students: int) -> Ready | None:
    """How ready the term is for so many students; None where nothing was begun."""
    found = readiness.readiness(term)
    if found is None:
        return None
    there = warmth.processes()
    warm = [each for each in there if each.wish >= found.wanted]
    students = min(students, profile.most())
    done = bool(found.told) and len(warm) == len(there)
    return Ready(
        sections=found.sections,
        told=found.done,
        processes=len(there),
        warm=len(warm),
        profiles=sum(min(each.profiles, students) for each in warm),
        students=students,
        since=max([found.told, *(each.read for each in warm)]) if done else 0,
    )
