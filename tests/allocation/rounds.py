"""Small rounds for the tests: made by hand, or by hypothesis."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from portal.allocation.problem import (
    MECHANISMS,
    Ballot,
    Bundle,
    Choice,
    Meeting,
    Problem,
    Section,
    Settings,
    make,
)

SEED = "0" * 64
COHORTS = ("majors", "seniors")
HOURS = 4  # in which sections of drawn rounds meet, so that many clash


def at(hour: int, days: int = 1, first: int = 0, last: int = 100) -> tuple[Meeting, ...]:
    """Return the one meeting of a section: an hour that begins then."""
    return ((days, 60 * hour, 60 * hour + 60, first, last),)


def section(name: str, capacity: int = 1, **more: object) -> Section:
    """Return a section of its own course with 4 credits."""
    return Section(
        **{"id": name, "course": f"course of {name}", "capacity": capacity, "credits": 4} | more
    )  # type: ignore[arg-type]


def choices(asked: str) -> tuple[Choice, ...]:
    """Return the choices of a text such as `A|B C+D`: A or else B, then C together with D."""
    return tuple(
        Choice(tuple(tuple(bundle.split("+")) for bundle in choice.split("|")))
        for choice in asked.split()
    )


def ballot(name: str, asked: str | Sequence[Choice], **more: object) -> Ballot:
    """Return a ballot with ample limits."""
    ranked = choices(asked) if isinstance(asked, str) else tuple(asked)
    given = {"pseudonym": name, "choices": ranked, "most_credits": 99, "most_courses": 9}
    return Ballot(**given | more)  # type: ignore[arg-type]


def a_round(sections: Iterable[Section], ballots: Iterable[Ballot], **more: object) -> Problem:
    """Return a round of the draft."""
    return make(Settings(tuple(sections), **more), ballots)  # type: ignore[arg-type]


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    mechanism: str = "",
    most: int = 5,
    bundles: bool = True,
    joint: bool = True,
    cohorts: bool = True,
    clashes: bool = True,
    limits: bool = True,
) -> Problem:
    """Draw a small round with everything that is not switched off."""
    names = "ABCDE"[: draw(st.integers(1, 5))]
    pools = {"P": draw(st.integers(0, 3))} if draw(st.booleans()) else {}
    sections = [draw(_sections(name, pools, cohorts=cohorts, clashes=clashes)) for name in names]
    one = st.sampled_from(names).map(lambda name: (name,))
    two = st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True).map(tuple)
    bundle: st.SearchStrategy[Bundle] = (
        st.one_of(one, one, two) if bundles and len(names) > 1 else one
    )
    alternatives = st.lists(bundle, min_size=1, max_size=2 if bundles else 1, unique=True).map(
        tuple
    )
    ballots = [
        Ballot(
            pseudonym=f"s{number}",
            choices=tuple(map(Choice, draw(st.lists(alternatives, max_size=4, unique=True)))),
            most_credits=draw(st.integers(0, 16)) if limits else 99,
            most_courses=draw(st.integers(0, 4)) if limits else 9,
            cohorts=tuple(sorted(draw(st.sets(st.sampled_from(COHORTS))))) if cohorts else (),
            refused=tuple(sorted(draw(st.sets(st.sampled_from(names), max_size=1))))
            if limits
            else (),
            unmet=draw(st.integers(0, 2)),
            credit_limit=draw(st.integers(0, 16)) if limits else 99,
            own=draw(_own(names)) if limits else {},
        )
        for number in range(draw(st.integers(1, most)))
    ]
    if joint and len(ballots) > 1 and draw(st.booleans()):
        ballots = draw(_with_joint(ballots, names))
    return a_round(
        sections,
        ballots,
        mechanism=mechanism or draw(st.sampled_from(MECHANISMS)),
        tickets=draw(st.integers(1, 3)),
        pools=pools,
    )


# One or two hours: a section of two can clash with two others that do not clash.
_meetings = st.lists(st.integers(0, HOURS), min_size=1, max_size=2, unique=True).map(
    lambda hours: sum(map(at, hours), ())
)


@st.composite
def _own(draw: st.DrawFn, names: str) -> dict[str, dict[str, object]]:
    """Draw what differs for a student in at most one section."""
    name = draw(st.sampled_from(names))
    fields = {"course": name.lower(), "credits": 2, "load": 0, "meetings": []}
    chosen = draw(st.sets(st.sampled_from(sorted(fields))))
    return {name: {each: fields[each] for each in sorted(chosen)}} if chosen else {}


@st.composite
def _sections(
    draw: st.DrawFn, name: str, pools: dict[str, int], *, cohorts: bool, clashes: bool
) -> Section:
    capacity = draw(st.integers(0, 3))
    reserves: list[tuple[str, int]] = []
    for cohort in COHORTS if cohorts else ():
        left = capacity - sum(seats for _, seats in reserves)
        reserves.append((cohort, draw(st.integers(0, left))))
    return Section(
        id=name,
        course=draw(st.sampled_from([name, name, "X"])) if clashes else name,
        capacity=capacity,
        credits=draw(st.sampled_from([0, 4, 4, 6])) if clashes else 1,
        meetings=draw(_meetings) if clashes else (),
        pool=draw(st.sampled_from(["", *pools])),
        reserves=tuple(each for each in reserves if each[1]),
        priority=tuple(draw(st.permutations(COHORTS)))[: draw(st.integers(0, 2))],
    )


@st.composite
def _with_joint(draw: st.DrawFn, ballots: list[Ballot], names: str) -> list[Ballot]:
    """Give some students one or two joint choices."""
    for joint in ("J1", "J2")[: draw(st.integers(1, 2))]:
        size = draw(st.integers(2, min(4, len(ballots))))
        members = draw(st.permutations(range(len(ballots))))[:size]
        shared = Choice(((draw(st.sampled_from(names)),),), joint)
        for member in members:
            before = list(ballots[member].choices)
            before.insert(draw(st.integers(0, len(before))), shared)
            ballots[member] = replace(ballots[member], choices=tuple(before))
    return ballots
