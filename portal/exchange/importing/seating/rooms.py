"""How many seats are left for whom, counted on as an import would take them."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.catalog.models import Reserve
from portal.recorder.models import Enrollment

ROOMS = text("""
    SELECT sections.id, sections.capacity, prior_enrolled + coalesce(seats.taken, 0) AS taken,
        pool_id AS pool, pools.capacity AS pool_capacity, coalesce(lines.students, '{}') AS line
    FROM sections LEFT JOIN pools ON pools.id = pool_id
    LEFT JOIN (
        SELECT section_id, count(*) AS taken FROM enrollments
        WHERE term_id = :term AND state = 'enrolled' GROUP BY section_id
    ) AS seats ON seats.section_id = sections.id
    LEFT JOIN (
        SELECT section_id, array_agg(student_id ORDER BY ticket) AS students FROM waitlist_places
        WHERE term_id = :term AND state = 'waiting' GROUP BY section_id
    ) AS lines ON lines.section_id = sections.id
    WHERE sections.term_id = :term
""")


@dataclass
class Room:
    """A section's seats; `line` are those who wait for one, by turn."""

    capacity: int
    taken: int
    pool: int | None
    pool_capacity: int | None
    line: list[int]
    keeps: dict[int, int] = field(default_factory=dict)  # seats that a reserve keeps yet
    under: dict[int, int] = field(default_factory=dict)  # by student, the reserve of a seat

    @property
    def kept(self) -> int:
        """Seats that are nobody else's."""
        return sum(max(0, seats) for seats in self.keeps.values())


class Rooms:
    """The sections of a term."""

    def __init__(self, session: Session, term: int) -> None:
        self.rooms = {row[0]: Room(*row[1:]) for row in session.execute(ROOMS, {"term": term})}
        self.pools = Counter[int]()
        for room in self.rooms.values():
            self.pools[room.pool or 0] += room.taken
        self._keep(session, term)

    def leave(self, section: int, student: int) -> None:
        """A seat is given up."""
        room = self.rooms[section]
        self._count(room, -1)
        if reserve := room.under.pop(student, None):
            room.keeps[reserve] += 1

    def take(self, section: int, student: int, reserves: tuple[int, ...]) -> bool:
        """Whether there is a seat for the student, who belongs to those reserves; it is taken."""
        room = self.rooms[section]
        open_to = (each for each in room.keeps if each in reserves and room.keeps[each] > 0)
        reserve = next(open_to, 0)
        free = room.taken < room.capacity and (reserve or room.taken + room.kept < room.capacity)
        if room.pool is not None and self.pools[room.pool] >= (room.pool_capacity or 0):
            return False
        if not free or not self._next(room, student):
            return False
        if student in room.line:
            room.line.remove(student)
        if reserve:
            room.keeps[reserve] -= 1
        self._count(room, 1)
        return True

    def _next(self, room: Room, student: int) -> bool:
        """Whether nobody waits who would come before: a free seat belongs to the line."""
        if room.pool is None:
            return not room.line or room.line[0] == student
        shared = [each for each in self.rooms.values() if each.pool == room.pool]
        return all(not each.line or each.line[0] == student for each in shared)

    def _count(self, room: Room, by: int) -> None:
        room.taken += by
        self.pools[room.pool or 0] += by

    def _keep(self, session: Session, term: int) -> None:
        now = datetime.now(UTC)
        found = select(Reserve).where(Reserve.section_id.in_(list(self.rooms))).order_by(Reserve.id)
        for each in session.scalars(found):
            if each.until is None or each.until > now:
                self.rooms[each.section_id].keeps[each.id] = each.seats
        seats = select(Enrollment.section_id, Enrollment.student_id, Enrollment.reserve).where(
            Enrollment.term_id == term,
            Enrollment.state == "enrolled",
            Enrollment.reserve.is_not(None),
        )
        for section, student, reserve in session.execute(seats):
            room = self.rooms[section]
            if reserve in room.keeps:
                room.keeps[reserve] -= 1
                room.under[student] = reserve
