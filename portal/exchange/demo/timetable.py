"""When and where the demo's sections meet: no teacher is in two rooms, no room has two classes."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from random import Random

from portal.catalog.models import Meeting, Room
from portal.exchange.demo.plans import Plan

MON, TUE, WED, THU, FRI, SAT = (1 << day for day in range(6))
MWF, TR, MW = MON | WED | FRI, TUE | THU, MON | WED
DAYS = (MON, TUE, WED, THU, FRI, SAT)

Slot = tuple[int, int, int]  # days, first and last minute


def slots(days: int, length: int, *starts: int) -> list[Slot]:
    """Slots of one pattern; `starts` as clock times, 930 for half past nine."""
    minutes = [start // 100 * 60 + start % 100 for start in starts]
    return [(days, start, start + length) for start in minutes]


CLASSES = [
    *slots(MWF, 50, 800, 900, 1000, 1100, 1300, 1400),
    *slots(TR, 80, 800, 930, 1100, 1230, 1400, 1530),
    *slots(MW, 80, 1500, 1630),
]
AFTERNOONS = [slot for day in DAYS[:5] for slot in slots(day, 170, 1400)]
LABS = [slot for day in DAYS[:5] for slot in slots(day, 110, 1000, 1200, 1600)]
STUDIOS = [
    *slots(MW, 110, 900, 1200, 1400),
    *slots(TR, 110, 900, 1200, 1400),
    *slots(WED, 170, 1800),
]
WORKSHOPS = [*AFTERNOONS, *slots(FRI, 170, 900), *slots(SAT, 170, 1000)]

# Per form: the kind and slots of each meeting.
FORMS = {
    "class": (("LEC", CLASSES),),
    "half": (("LEC", CLASSES),),
    "lab": (("LEC", CLASSES), ("LAB", LABS)),
    "studio": (("STU", STUDIOS),),
    "workshop": (("LAB", WORKSHOPS),),
    "tba": (("", ()),),
}
TESTS = (WED, 18 * 60, 20 * 60 - 10)  # an evening kept free all through the term
FINALS = (WED, 8 * 60, 22 * 60 - 10)  # the last Wednesday, kept free: 8:00 am to 9:50 pm


@dataclass
class Timetable:
    """Fills up as sections are placed."""

    term: tuple[date, date]
    rooms: list[Room]
    chance: Random
    taken: defaultdict[str, list[Slot]] = field(default_factory=lambda: defaultdict(list))

    def meetings(self, plan: Plan, number: int, teacher: str, seats: int) -> list[Meeting]:
        """The meetings of the `number`th section of a course."""
        first, last = self.span(plan, number)
        made = [
            self.meeting(kind, self.slot(choices, teacher), seats)
            for kind, choices in FORMS[plan.form]
        ]
        if plan.exam:
            made.append(Meeting(kind="TES", clashes=False, **when(TESTS)))
        for meeting in made:
            meeting.date_start, meeting.date_end = first, last
        if plan.exam and number == 1:
            made.append(self.final())
        for position, meeting in enumerate(made, 1):
            meeting.position = position
        return made

    def final(self) -> Meeting:
        """The common final exam, in the last week."""
        day = self.term[1] - timedelta(days=(self.term[1].weekday() - 2) % 7)
        final = Meeting(kind="TES", clashes=False, **when(FINALS))
        final.date_start = final.date_end = day
        return final

    def span(self, plan: Plan, number: int) -> tuple[date, date]:
        """The dates of a section; half courses have one half of the term, by turns."""
        first, last = self.term
        middle = first + timedelta(days=7 * ((last - first).days // 14))
        if plan.form != "half":
            return first, last
        return (first, middle - timedelta(days=3)) if number % 2 else (middle, last)

    def slot(self, choices: Iterable[Slot], teacher: str) -> Slot | None:
        """A slot in which the teacher is free; None where there's nothing to choose from."""
        shuffled = self.chance.sample(list(choices), len(list(choices)))
        for slot in shuffled:
            if self.free(teacher, slot):
                self.taken[teacher].append(slot)
                return slot
        return None

    def meeting(self, kind: str, slot: Slot | None, seats: int) -> Meeting:
        if slot is None:
            return Meeting(kind=kind, days=0, clashes=True)
        return Meeting(kind=kind, clashes=True, room=self.room(slot, seats), **when(slot))

    def room(self, slot: Slot, seats: int) -> Room | None:
        """The smallest room that is free and large enough."""
        for room in sorted(self.rooms, key=lambda room: room.seats or 0):
            if (room.seats or 0) >= seats and self.free(room.name, slot):
                self.taken[room.name].append(slot)
                return room
        return None

    def free(self, who: str, slot: Slot) -> bool:
        """Whether a teacher or a room has nothing on at that time."""
        days, start, end = slot
        return not any(
            days & other_days and start < other_end and other_start < end
            for other_days, other_start, other_end in self.taken[who]
        )


def when(slot: Slot) -> dict[str, int | time]:
    """The columns of a meeting in that slot."""
    days, start, end = slot
    return {"days": days, "starts_at": clock(start), "ends_at": clock(end)}


def clock(minutes: int) -> time:
    return time(minutes // 60, minutes % 60)
