"""The mechanisms: pure functions from a problem and a seed to who has which seats.

The draw order comes from SHA-256 of seed and pseudonym, so the same ballots, settings and seed give
the same result on every machine. docs/allocation.md explains the mechanisms and what holds for
each.
"""

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from portal.allocation.compact import REFUSED, Compact, compact, without_collector
from portal.allocation.problem import Problem
from portal.allocation.result import Held, Result
from portal.allocation.seats import Seats

Dead = AbstractSet[str]  # joint choices that are taken out
Outcome = tuple[list[Held], Seats]
Move = list[tuple[int, int]]  # students, each with the place of the option to take


def allocate(problem: Problem, seed: str) -> Result:
    """Return the result of a round under the mechanism of its settings."""
    return run(compact(problem), seed, problem.settings.mechanism)


@without_collector()
def run(table: Compact, seed: str, mechanism: str) -> Result:
    """Return the result of a mechanism on a problem in integers.

    If only some of a group get their joint choice, the round is computed again without it. The
    result is as if no group that failed had ranked its joint choice, but for the final pass.
    """
    order = draw_order(table.problem, seed)
    dead: set[str] = set()
    held, seats = MECHANISMS[mechanism](table, order, dead)
    while parted := _parted(table, held):
        dead |= _last_of(table, order, parted)
        held, seats = MECHANISMS[mechanism](table, order, dead)
    _FinalPass(table, order, held, seats, by_priority=mechanism == "deferred").give_what_is_left()
    return Result(table, mechanism, order, held, seats.taken)


def draw_order(problem: Problem, seed: str) -> list[int]:
    """Return the students in the order of their best tickets.

    Each unmet first choice of earlier rounds is one more ticket, up to the most of the settings.
    """
    most = problem.settings.tickets

    def best(student: int) -> tuple[str, str]:
        ballot = problem.ballots[student]
        tickets = range(min(1 + ballot.unmet, most))
        return min(ticket(seed, ballot.pseudonym, each) for each in tickets), ballot.pseudonym

    return sorted(range(len(problem.ballots)), key=best)


def ticket(seed: str, pseudonym: str, number: int = 0) -> str:
    """Return a student's ticket of a draw: the smaller, the earlier."""
    return hashlib.sha256(f"{seed}:{pseudonym}:{number}".encode()).hexdigest()


def draft(table: Compact, order: Sequence[int], dead: Dead = frozenset()) -> Outcome:
    """Let students take turns, one choice a turn; every second turn is in the reverse order.

    A bundle uses as many turns as it has courses.
    """
    picker = _Picker(table, dead)
    active, turn = list(order), 1
    busy_until = [0] * len(table.options)
    while active:
        going_on = []
        for student in active if turn % 2 else reversed(active):
            if busy_until[student] < turn:
                used = picker.pick(student, turn)
                if not used:
                    continue
                busy_until[student] = turn + used - 1
            going_on.append(student)
        active = going_on if turn % 2 else going_on[::-1]
        turn += 1
    return picker.held, picker.seats


def serial(table: Compact, order: Sequence[int], dead: Dead = frozenset()) -> Outcome:
    """Let each student in the draw order take everything at once: random serial dictatorship."""
    picker = _Picker(table, dead)
    for turn, student in enumerate(order, start=1):
        while picker.pick(student, turn):
            pass
    return picker.held, picker.seats


def deferred(table: Compact, order: Sequence[int], dead: Dead = frozenset()) -> Outcome:
    """Let students apply and sections turn away those of the lowest priority, until none is.

    In each step, every student applies for what they would take of the options not crossed out.
    The seats of every section go to its applicants of the highest priority; the draw order breaks
    ties. Those who find no seat cross out that option. Of a bundle, the lowest priority counts.
    The result does not depend on the order in which a step goes through students or sections.
    """
    return _Deferred(table, order, dead).outcome()


MECHANISMS: dict[str, Callable[[Compact, Sequence[int], Dead], Outcome]] = {
    "draft": draft,
    "serial": serial,
    "deferred": deferred,
}


class _Picker:
    """The seats of students while they take turns. An option once impossible stays impossible."""

    def __init__(self, table: Compact, dead: Dead) -> None:
        self.table, self.dead = table, dead
        self.seats = Seats(table)
        self.held: list[Held] = [{} for _ in table.options]
        self.next = [0] * len(table.options)
        self.busy = [0] * len(table.options)
        self.credits = [ballot.most_credits for ballot in table.problem.ballots]
        self.load = [ballot.credit_limit for ballot in table.problem.ballots]
        self.courses = [ballot.most_courses for ballot in table.problem.ballots]

    def pick(self, student: int, turn: int) -> int:
        """Take the student's best possible option; return the turns that it uses, 0 for none."""
        table, options, place = self.table, self.table.options[student], self.next[student]
        for option in options[place:]:
            place += 1
            bundle = option.bundle
            if (
                bundle == REFUSED
                or table.needs[bundle] & self.busy[student]
                or table.credits[bundle] > self.credits[student]
                or table.loads[bundle] > self.load[student]
                or table.sizes[bundle] > self.courses[student]
                or option.joint in self.dead
                or not self.seats.take(student, table.bundles[bundle])
            ):
                continue
            self.held[student][place - 1] = turn
            self.busy[student] |= table.blocks[bundle]
            self.credits[student] -= table.credits[bundle]
            self.load[student] -= table.loads[bundle]
            self.courses[student] -= table.sizes[bundle]
            while place < len(options) and options[place].choice == option.choice:
                place += 1
            self.next[student] = place
            return table.sizes[bundle]
        self.next[student] = place
        return 0


class _Deferred:
    """The state of deferred acceptance: who has crossed out what, and who applies where.

    A venue is a section, or a pool of sections. A step decides only on venues where something has
    changed, and on those that bundles link to them; the others would decide as before. An
    application is a number made of priority level, position in the draw and place in the ballot:
    the smaller, the better.
    """

    def __init__(self, table: Compact, order: Sequence[int], dead: Dead) -> None:
        self.table, self.seats, self.order = table, Seats(table), order
        self.position = [0] * len(order)
        for at, student in enumerate(order):
            self.position[student] = at
        self.places = max(map(len, table.options), default=0)
        self.left = [  # the options of each student that are not crossed out
            [place for place, option in enumerate(options) if option.joint not in dead]
            for options in table.options
        ]
        self.applied: list[list[int]] = [[] for _ in table.options]
        venues = [
            pool - len(self.seats.in_pool) if pool >= 0 else section
            for section, pool in enumerate(self.seats.pool)
        ]
        self.venues = [{venues[section] for section in bundle} for bundle in table.bundles]
        self.plain = {  # venues where the best applicants are those that come first
            section
            for section, reserved in enumerate(self.seats.reserved)
            if venues[section] == section and not reserved
        }
        self.applicants: dict[int, set[int]] = {venue: set() for venue in venues}
        self.linking: dict[int, set[int]] = {venue: set() for venue in venues}

    def outcome(self) -> Outcome:
        changed = dict.fromkeys(range(len(self.table.options)), 0)  # the first place crossed out
        while changed:
            turned_away = self._turned_away(self._apply_again(changed))
            changed = {}
            for student, place in turned_away:
                self.left[student].remove(place)
                changed[student] = min(place, changed.get(student, place))
        self._give_seats(self.applicants)
        return [dict.fromkeys(places, 0) for places in self.applied], self.seats

    def _apply_again(self, changed: Mapping[int, int]) -> set[int]:
        """Send the applications of students; return the venues where something changed.

        Those before the first place that was crossed out stay.
        """
        found: set[int] = set()
        for student, first in changed.items():
            before, left = self.applied[student], self.left[student]
            same = [place for place in before if place < first]
            after = self.table.chosen(student, same + left[bisect_left(left, first) :])
            self.applied[student] = after
            for place in before[len(same) :]:
                if place not in after:
                    found |= self._change(student, place, set.remove)
            for place in after[len(same) :]:
                if place not in before:
                    found |= self._change(student, place, set.add)
        return found

    def _change(
        self, student: int, place: int, change: Callable[[set[int], int], None]
    ) -> set[int]:
        """Add or remove an application; return its venues."""
        bundle = self.table.options[student][place].bundle
        level = max([self.table.level(student, each) for each in self.table.bundles[bundle]])
        at = level * len(self.order) + self.position[student]
        application, venues = at * self.places + place, self.venues[bundle]
        for venue in venues:
            change(self.applicants[venue], application)
            if len(venues) > 1:
                change(self.linking[venue], application)
        return venues

    def _turned_away(self, venues: set[int]) -> Move:
        """Return the applications that find no seat, of some venues and those linked to them."""
        todo = list(venues)
        while todo:
            for application in self.linking[todo.pop()]:
                student, place = self._who(application)
                linked = self.venues[self.table.options[student][place].bundle]
                todo += linked - venues
                venues |= linked
        alone = {venue for venue in venues & self.plain if not self.linking[venue]}
        away = [
            self._who(application)
            for venue in alone
            if len(self.applicants[venue]) > self.seats.open[venue]
            for application in sorted(self.applicants[venue])[self.seats.open[venue] :]
        ]
        seated, more = self._give_seats(venues - alone)
        for student, place in seated:
            self.seats.give_back(student, self._sections(student, place))
        return away + more

    def _give_seats(self, venues: Iterable[int]) -> tuple[Move, Move]:
        """Give seats to applicants by priority; return those with a seat, and those without."""
        seated: Move = []
        away: Move = []
        for application in sorted({each for at in venues for each in self.applicants[at]}):
            student, place = self._who(application)
            found = self.seats.take(student, self._sections(student, place))
            (seated if found else away).append((student, place))
        return seated, away

    def _who(self, application: int) -> tuple[int, int]:
        """Return the student and the place of an application."""
        at, place = divmod(application, self.places)
        return self.order[at % len(self.order)], place

    def _sections(self, student: int, place: int) -> tuple[int, ...]:
        return self.table.bundles[self.table.options[student][place].bundle]


class _FinalPass:
    """The pass that leaves no seat empty that a student would take.

    A student takes an option for which there are seats, and gives up what can't be held with it
    and ranks lower, never a joint choice. A group takes its joint choice together. Each move helps
    its students and harms no other student, so the moves come to an end. The draft and serial
    dictatorship leave moves for joint choices alone.
    """

    def __init__(
        self,
        table: Compact,
        order: Sequence[int],
        held: list[Held],
        seats: Seats,
        *,
        by_priority: bool,
    ) -> None:
        self.table, self.held, self.seats = table, held, seats
        self.by_priority = by_priority
        self.position = {student: at for at, student in enumerate(order)}
        self.freed: set[int] = set()  # sections where moves have freed seats

    def give_what_is_left(self) -> None:
        """Make the moves that are possible, by priority and draw order, until there are none.

        Another move becomes possible only for those of the last ones, or where a seat was freed.
        """
        students: Iterable[int] = range(len(self.held))
        while moves := sorted(self._moves(students), key=self._key):
            self.freed.clear()
            for move in moves:
                self.make(move, keep=True)
            movers = {student for move in moves for student, _ in move}
            students = sorted(movers | self._wanting())

    def _wanting(self) -> set[int]:
        """Return the students with an option where a seat was freed."""
        freed = {self._venue(section) for section in self.freed}
        bundles = {each for venue in freed for each in self._bundles[venue]}
        return {student for bundle in bundles for student in self._students[bundle]}

    @cached_property
    def _bundles(self) -> dict[tuple[bool, int], list[int]]:
        """Return the bundles of each section without a pool, and of each pool."""
        found: dict[tuple[bool, int], list[int]] = defaultdict(list)
        for bundle, sections in enumerate(self.table.bundles):
            for section in sections:
                found[self._venue(section)].append(bundle)
        return found

    @cached_property
    def _students(self) -> list[list[int]]:
        """Return the students with an option on each bundle."""
        found: list[list[int]] = [[] for _ in self.table.bundles]
        for student, options in enumerate(self.table.options):
            for _, _, bundle, _ in options:
                if bundle != REFUSED:
                    found[bundle].append(student)
        return found

    def _venue(self, section: int) -> tuple[bool, int]:
        pool = self.seats.pool[section]
        return (True, pool) if pool >= 0 else (False, section)

    def _moves(self, students: Iterable[int]) -> Iterator[Move]:
        """Yield the possible moves: of each of these students alone, then of each group."""
        table, bundles = self.table, self.table.bundles
        may_be_free, surely_free = self._vacant()
        in_groups = {student for members in table.groups.values() for student, _ in members}
        for student in students:
            mine = set(self._sections(student, self.held[student]))
            for place, bundle in self._not_excluded(student):
                if (bundle in surely_free and student not in in_groups) or (
                    (bundle in may_be_free or not mine.isdisjoint(bundles[bundle]))
                    and self.make([(student, place)], keep=False)
                ):
                    yield [(student, place)]
        for members in table.groups.values():
            student, place = members[0]
            if place not in self.held[student] and self.make(members, keep=False):
                yield members

    def _vacant(self) -> tuple[set[int], set[int]]:
        """Return the bundles that may have free seats, and those that have some for everyone."""
        seats, sections = self.seats, range(len(self.seats.open))
        may_be = {section for section in sections if seats.may_be_free(section)}
        surely = {section for section in may_be if seats.open[section] > 0 > seats.pool[section]}
        bundles = list(enumerate(self.table.bundles))
        return (
            {number for number, parts in bundles if may_be.issuperset(parts)},
            {number for number, parts in bundles if surely.issuperset(parts)},
        )

    def _not_excluded(self, student: int) -> Iterator[tuple[int, int]]:
        """Yield the options, with their bundles, that nothing above them in the ballot excludes."""
        table, held, ballot = self.table, self.held[student], self.table.problem.ballots[student]
        busy, credits_left, courses_left = 0, ballot.most_credits, ballot.most_courses
        last, load_left = -1, ballot.credit_limit
        for place, (choice, _, bundle, joint) in enumerate(table.options[student]):
            if place in held:
                last = choice
                busy |= table.blocks[bundle]
                credits_left -= table.credits[bundle]
                load_left -= table.loads[bundle]
                courses_left -= table.sizes[bundle]
                if not courses_left:
                    return
            elif not (
                bundle == REFUSED
                or joint
                or choice == last
                or table.needs[bundle] & busy
                or table.credits[bundle] > credits_left
                or table.loads[bundle] > load_left
                or table.sizes[bundle] > courses_left
            ):
                yield place, bundle

    def _key(self, move: Move) -> tuple[int, int, int]:
        level = max(
            self.table.level(student, section) if self.by_priority else 0
            for student, place in move
            for section in self.table.bundles[self.table.options[student][place].bundle]
        )
        return level, *max((self.position[student], place) for student, place in move)

    def make(self, move: Move, *, keep: bool) -> bool:
        """Make a move if it is possible; return whether it is. Without `keep`, undo it."""
        table, after = self.table, {}
        for student, place in move:
            mine = self.held[student]
            after[student] = table.chosen(student, sorted((*mine, place)))
            dropped = mine.keys() - after[student]
            if place not in after[student] or any(
                table.options[student][each].joint for each in dropped
            ):
                return False
        freed = [
            (student, sections, self.seats.give_back(student, sections))
            for student, places in after.items()
            for sections in [tuple(self._sections(student, self.held[student].keys() - places))]
        ]
        taken = []
        for student, place in move:
            sections = table.bundles[table.options[student][place].bundle]
            if self.seats.take(student, sections):
                taken.append((student, sections))
        possible = len(taken) == len(move)
        if possible and keep:
            self.freed.update(section for _, sections, _ in freed for section in sections)
            for student, places in after.items():
                self.held[student] = {each: self.held[student].get(each, 0) for each in places}
            return True
        for student, sections in taken:
            self.seats.give_back(student, sections)
        for student, sections, found in freed:
            self.seats.put_back(student, sections, found)
        return possible

    def _sections(self, student: int, places: Iterable[int]) -> Iterator[int]:
        options = self.table.options[student]
        return (each for place in places for each in self.table.bundles[options[place].bundle])


def _parted(table: Compact, held: Sequence[Held]) -> set[str]:
    """Return the joint choices that some of their group have, but not all."""
    return {
        joint
        for joint, members in table.groups.items()
        if 0 < sum(place in held[student] for student, place in members) < len(members)
    }


def _last_of(table: Compact, order: Sequence[int], parted: AbstractSet[str]) -> set[str]:
    """Return the parted groups to take out: of those that want the same seats, the last one.

    A group comes where its last member comes in the draw, then by that member's ballot. Those
    before it may succeed once it is out. A section has its seats, or a pool has those of several.
    """
    position = {student: at for at, student in enumerate(order)}

    def key(joint: str) -> tuple[int, int]:
        return max((position[student], place) for student, place in table.groups[joint])

    last = {}
    for joint in sorted(parted, key=key):
        student, place = table.groups[joint][0]
        for number in table.bundles[table.options[student][place].bundle]:
            section = table.problem.settings.sections[number]
            last[section.pool or section.id] = joint
    return set(last.values())
