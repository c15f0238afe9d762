"""Plans for hypothesis, and counts of their parts."""

from collections import Counter

from hypothesis import strategies as st

from portal.registration.plans import (
    MOST_ALTERNATIVES,
    MOST_CHOICES,
    MOST_SECTIONS,
    MOST_TOGETHER,
    CannotPlan,
    Plan,
    checked,
)
from portal.registration.requests import Alternative, Choice, SectionRequest

SECTIONS = st.integers(1, 60)
CREDITS = st.none() | st.integers(0, 1500)


@st.composite
def options(draw: st.DrawFn, sections: st.SearchStrategy[int] = SECTIONS) -> Alternative:
    """Draw an alternative of a few sections."""
    chosen = draw(st.lists(sections, min_size=1, max_size=MOST_TOGETHER, unique=True))
    return tuple(SectionRequest(section, draw(CREDITS)) for section in chosen)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw a valid plan; each choice has other sections."""
    lines = []
    for at in range(draw(st.integers(0, MOST_CHOICES))):
        own = st.integers(at * 10 + 1, at * 10 + 10)
        some = draw(st.lists(options(own), min_size=1, max_size=MOST_ALTERNATIVES, unique_by=named))
        if sum(map(len, some)) + sum(parts(Plan(tuple(lines))).values()) > MOST_SECTIONS:
            break
        lines.append(Choice(tuple(some), draw(st.booleans())))
    return checked(Plan(tuple(lines), draw(st.integers(0, 9))))


def named(option: Alternative) -> frozenset[int]:
    """Return the sections of an alternative, unordered."""
    return frozenset(part.section for part in option)


def parts(plan: Plan) -> Counter[SectionRequest]:
    """Count every part of a plan."""
    return Counter(part for line in plan.choices for option in line.alternatives for part in option)


def sound(plan: Plan) -> bool:
    """Return whether a plan is valid."""
    try:
        return checked(plan) is plan
    except CannotPlan:
        return False


def line(*options: int | tuple[int, ...], wait: bool = True) -> Choice:
    """Return a choice of these sections by rank; those in a tuple are taken together."""
    each = (option if isinstance(option, tuple) else (option,) for option in options)
    return Choice(tuple(tuple(SectionRequest(section) for section in one) for one in each), wait)
