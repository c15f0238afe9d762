"""The demo's students and teachers, with records that fit their years."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from portal.exchange.demo import names, university
from portal.exchange.demo.offer import PLANS
from portal.exchange.demo.plans import Tree

STUDENTS = 2000
# Teachers of a department: about one for four sections.
TEACHERS = {
    "CSC": 5, "MAT": 5, "PHY": 3, "CHE": 4, "BIO": 4,
    "ECO": 4, "PSY": 3, "HIS": 4, "ENG": 4, "ART": 4,
}  # fmt: skip
TITLES = ("Professor", "Associate Professor", "Assistant Professor", "Lecturer")
# Of a hundred students, and what level of courses they have behind them.
YEARS = {
    "Freshman": (30, 0),
    "Sophomore": (25, 1),
    "Junior": (22, 2),
    "Senior": (18, 3),
    "Graduate Student": (5, 4),
}
MINORS = 0.3
HELD = 97  # one student in so many has a hold
FREE_OF_HOLDS = 20  # the first accounts, which newcomers try
HOLDS = (
    ("Bursar", "A bill of last term is unpaid.", "Bursar's Office"),
    ("Advising", "A talk with your adviser is due before you register.", "Advising"),
    ("Health", "The record of vaccinations is missing.", "Health Centre"),
    ("Library", "Three books are four months late.", "Library"),
)
GRADES = ("A", "A", "A-", "B+", "B", "B", "B-", "C+", "C")
BY_CODE = {plan.code: plan for plan in PLANS}


@dataclass(frozen=True)
class Person:
    """A student as the demo invents one; subjects and courses by code."""

    username: str
    name: str
    number: str
    year: str
    level: str
    major: str
    minor: str
    completed: tuple[tuple[str, str], ...]  # course, grade
    hold: tuple[str, str, str] | None


def students(chance: Random) -> Iterator[Person]:
    """Everyone, student0001 first."""
    subjects = [code for code, *_ in university.DEPARTMENTS]
    for number in range(1, STUDENTS + 1):
        year = chance.choices(list(YEARS), [share for share, _ in YEARS.values()])[0]
        major = chance.choice(subjects)
        minor = chance.choice(subjects) if chance.random() < MINORS else ""
        yield Person(
            username=f"student{number:04}",
            name=names.name(chance),
            number=f"D{260_000 + number}",
            year=year,
            level="Graduate" if year == "Graduate Student" else "Undergraduate",
            major=major,
            minor=minor if minor != major else "",
            completed=record(chance, major, YEARS[year][1]),
            hold=HOLDS[number % len(HOLDS)] if is_held(number) else None,
        )


def is_held(number: int) -> bool:
    return number > FREE_OF_HOLDS and number % HELD == 0


def record(chance: Random, major: str, behind: int) -> tuple[tuple[str, str], ...]:
    """Courses passed: most of the major's up to level `behind`, some others, no gap below any."""
    passed: dict[str, str] = {}
    for plan in PLANS:
        own = plan.subject == major and chance.random() < OWN
        if plan.level <= behind and (own or (plan.level == 1 and chance.random() < OTHERS)):
            for code in closure(plan.code):
                passed.setdefault(code, chance.choice(GRADES))
    return tuple(passed.items())


OWN = 0.85
OTHERS = 0.12


def closure(code: str, around: tuple[str, ...] = ()) -> list[str]:
    """A course after all that it needs; of alternatives the first. Two may need each other."""
    if code in around:
        return []
    plan, needing = BY_CODE[code], (*around, code)
    needed = [*first_way(plan.needs), *first_way(plan.along)]
    return [each for need in needed for each in closure(need, needing)] + [code]


def first_way(tree: Tree | None) -> list[str]:
    """Courses that meet a tree, by the first of each choice."""
    if not tree:
        return []
    if "course" in tree:
        return [tree["course"]]
    nodes = tree["all"] if "all" in tree else tree["any"][:1]
    return [code for node in nodes for code in first_way(node)]
