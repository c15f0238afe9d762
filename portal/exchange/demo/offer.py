"""The demo's courses and sections as rows, with the quirks that real catalogues have."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import cycle

from portal.catalog import formatting
from portal.catalog.models import Course, CrossList, Department, Restriction, Section, Subject, Term
from portal.exchange.demo import letters, sciences
from portal.exchange.demo.plans import Plan
from portal.exchange.demo.timetable import FORMS, Timetable
from portal.people.models import Instructor

PLANS = sciences.COURSES + letters.COURSES
SEATS_BY_LEVEL = {1: 72, 2: 40, 3: 28, 4: 20, 5: 15}
FIRST_CRN = 20_001

# By code and number of the section: what is odd about it.
STATUS = {
    ("CHE-100", 3): "NEW",
    ("PHY-100", 4): "NEW",
    ("ENG-120", 4): "NEW",
    ("HIS-115", 3): "CANCELED",
    ("ECO-120", 3): "CANCELED",
}
CAPACITY = {("CSC-499", 1): 0, ("BIO-240", 2): 0, ("ART-150", 1): 1, ("CSC-190", 2): 1}
# Seats that are left of those taken before; below zero: over capacity.
LEFT = {
    ("CSC-110", 1): 2,
    ("CSC-310", 1): 1,
    ("MAT-120", 1): 3,
    ("PSY-110", 1): 1,
    ("ECO-110", 2): 2,
    ("BIO-110", 1): 0,
    ("ENG-101", 1): 1,
    ("ART-160", 1): 1,
    ("HIS-195", 1): 2,
    ("CHE-110", 1): -4,
    ("MAT-110", 1): -2,
    ("BIO-240", 2): -3,
}
NOTES = {
    "CSC-190": "Bring a laptop; robots are lent.",
    "HIS-190": "The archive has one reading desk.",
    "ART-150": "Wear something that may meet ink.",
    "CSC-499": "Agree on a subject with a teacher first.",
}
TINY = 2  # seats of the workshops that the first teacher of a department gives

Departments = dict[str, tuple[Department, Subject]]


def courses(departments: Departments) -> dict[str, Course]:
    """Every course, by code."""
    return {plan.code: course(plan, departments) for plan in PLANS}


def course(plan: Plan, departments: Departments) -> Course:
    department, subject = departments[plan.subject]
    return Course(
        code=plan.code,
        subject=subject,
        department=department,
        title=plan.title,
        description=plan.description,
        offered="Every term.",
        credits_min=Decimal(plan.credits),
        credits_max=Decimal(plan.most or plan.credits),
        categories=list(plan.categories),
        public=not (plan.majors or plan.levels or plan.years),
        levels=list(plan.levels),
        years=list(plan.years),
        restricted_to=[departments[code][1] for code in plan.majors],
    )


def sections(
    term: Term, made: dict[str, Course], teachers: dict[str, list[Instructor]], timetable: Timetable
) -> Iterator[Section]:
    """Every section with its meetings, restrictions and teacher."""
    turns = {code: cycle(people[1:] + people[:1]) for code, people in teachers.items()}
    crn = FIRST_CRN
    # Workshops first: their few slots must not be taken by what could be at any time.
    for plan in sorted(PLANS, key=lambda plan: plan.form != "workshop"):
        for number in range(1, plan.sections + 1):
            tiny = 0 < plan.seats <= TINY
            teacher = teachers[plan.subject][0] if tiny else next(turns[plan.subject])
            offered = section(plan, number, term, made[plan.code])
            offered.crn = str(crn)
            offered.meetings = timetable.meetings(plan, number, teacher.name, offered.capacity)
            if plan.form != "tba":
                teacher.sections.append(offered)
            crn += 1
            yield offered


def section(plan: Plan, number: int, term: Term, of: Course) -> Section:
    """One section with its seats and rules."""
    key = (plan.code, number)
    capacity = CAPACITY.get(key, plan.seats or SEATS_BY_LEVEL[plan.level])
    prior = max(0, capacity - LEFT[key]) if key in LEFT else 0
    return Section(
        term=term,
        course=of,
        number=f"{number:02}",
        title=plan.title,
        kind=formatting.kind(FORMS[plan.form][0][0]) or "Independent study",
        credits_min=of.credits_min,
        credits_max=of.credits_max,
        capacity=capacity,
        waitlist_capacity=waitlist(capacity),
        prior_enrolled=prior,
        status=STATUS.get(key, "OPEN"),
        campus="Main",
        method="By arrangement" if plan.form == "tba" else "In person",
        note=NOTES.get(plan.code, ""),
        prerequisites=plan.needs,
        corequisites=plan.along,
        restrictions=[
            Restriction(rule=rule, kind=kind, value=value) for rule, kind, value in plan.rules
        ],
        cross_lists=[CrossList(course_code=plan.also)] if plan.also else [],
    )


def waitlist(capacity: int) -> int:
    """How many may wait: more for the smallest, for which everybody races."""
    if capacity == 0:
        return 0
    return 25 if capacity <= TINY else 10
