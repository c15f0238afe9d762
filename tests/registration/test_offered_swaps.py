"""A swap that is offered beside a refusal of a plan is one that the ledger accepts."""

from collections.abc import Iterator
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from portal.backend import Backend
from portal.catalog.views import SectionView
from portal.ledger.types import HeldSeat, Outcome, Registrations
from portal.registration.credits import hundredths
from portal.registration.next_steps import RefusalContext
from portal.registration.plans import Plan
from portal.registration.precheck import Precheck
from portal.registration.reasons import explain
from portal.registration.requests import Choice, SectionRequest, for_ledger
from tests.ledger.requests import Desk
from tests.registration.makers import a_catalog, a_meeting, a_profile, a_view, course, every, some
from tests.registration.plan_makers import line

LIMIT = 800
STUDENT = 501
CODES = ("PHY-1", "PHY-2", "MAT-1", "ART-1")
WHO = a_profile(student=STUDENT)


@st.composite
def sections(draw: st.DrawFn) -> list[SectionView]:
    """Draw sections of few courses, which meet at few times and need one another."""
    needs = {
        code: draw(st.sampled_from([None, None, *(course(one) for one in CODES if one != code)]))
        for code in CODES
    }
    if draw(st.booleans()):
        needs |= {"PHY-1": every("PHY-2", "MAT-1"), "PHY-2": course("PHY-1")}
    return [
        a_view(
            code,
            meetings=(a_meeting(1, start, start + 60),),
            corequisites=needs[code],
            credits_min=amount,
            credits_max=amount,
        )
        for code in draw(st.permutations([*CODES, draw(st.sampled_from(CODES))]))
        for start in [draw(st.sampled_from([600, 660, 720]))]
        for amount in [draw(st.integers(1, 4))]
    ]


@pytest.fixture
def desk(backend: Backend) -> Iterator[Desk]:
    desk = Desk(backend.settings.redis_url)
    yield desk
    desk.redis.close()


def ready(desk: Desk, views: list[SectionView]) -> None:
    """Give the ledger these sections and an open window, and nothing else."""
    desk.redis.flushall()
    desk.open_window()
    for view in views:
        credits_ = hundredths(view.credits_min)
        [when] = view.meetings
        desk.section(
            view.id,
            course=view.course_id,
            times=((when.mask, when.start or 0, when.end or 0, 0, 100),),
            credits_min=credits_,
            credits_max=credits_,
        )


def register(desk: Desk, views: list[SectionView], choice: Choice) -> bool:
    """Submit a choice; return whether the student has it."""
    wanted = for_ledger(choice, WHO, a_catalog(*views))
    return desk.submit(STUDENT, wanted, credit_limit=LIMIT).decisions[0].outcome == Outcome.ENROLLED


@given(views=sections(), data=st.data())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_offered_swap_is_accepted(desk: Desk, views: list[SectionView], data: Any) -> None:
    ready(desk, views)
    order = data.draw(st.permutations(views))
    for each in order:
        register(desk, views, line(each.id))
    register(desk, views, line((order[0].id, order[1].id)))
    mine = desk.ledger.registrations(7, STUDENT)
    held = {each.section: each.credits for each in mine.enrolled}
    left = [each for each in order if each.id not in held]
    assume(left)
    plan = Plan(tuple(line(each.id) for each in left[: data.draw(st.integers(1, 3))]))
    checks = Precheck(WHO, a_catalog(*views), mine, LIMIT)
    for reasons in checks.refusals_of_plan(plan):
        for section, against in reasons[0].items():
            view = checks.catalog.section(section)
            case = RefusalContext(
                checks.catalog,
                view,
                ZoneInfo("UTC"),
                held=held,
                can_swap=lambda seat, view=view: checks.can_swap(view, seat, lambda _: True),
            )
            for each in explain(against, case):
                if each.step and "swap?" in each.step.url:
                    seat = int(each.step.url.partition("swap_out=")[2])
                    assert swaps(desk, views, checks, section, seat), (view, seat, against)
                    return


def swaps(desk: Desk, views: list[SectionView], checks: Precheck, section: int, seat: int) -> bool:
    """Return whether the ledger swaps the seat for the section, with what its form can add."""
    view = checks.catalog.section(section)
    assert view
    for together in product(*checks.without([seat]).linked_choices(view, lambda _: True)):
        parts = tuple(SectionRequest(each) for each in (section, *(one.id for one in together)))
        if register(desk, views, Choice((parts,), swap_out=seat)):
            return True
    return False


@pytest.mark.parametrize("alike", [False, True], ids=["prerequisite", "labs clash"])
def test_swap_that_nothing_allows_is_seen_after_few_checks(
    monkeypatch: pytest.MonkeyPatch, *, alike: bool
) -> None:
    noon = (a_meeting(1, 720, 780),) if alike else ()
    parts = [
        a_view(code, meetings=noon, corequisites=course("PHY-9"))
        for code in ("LAB-1", "REC-1")
        for _ in range(30)
    ]
    mine = a_view("ART-1")
    needed = None if alike else course("MAT-9")
    wanted = a_view("PHY-9", corequisites=every("LAB-1", "REC-1"), prerequisites=needed)
    seat = HeldSeat(mine.id, 400, 1, 0)
    checks = Precheck(WHO, a_catalog(mine, wanted, *parts), Registrations((seat,), ()), 10_000)
    counted = []
    check = Precheck.refusals_together

    def count(*about: Any, **more: Any) -> Any:
        counted.append(about)
        return check(*about, **more)

    monkeypatch.setattr(Precheck, "refusals_together", count)
    assert not checks.can_swap(wanted, mine.id, lambda _: True)
    assert len(counted) < 150


def test_swap_needs_no_linked_section_if_an_alternative_is_held() -> None:
    lab = a_view("LAB-3", corequisites=course("PHY-8"), prerequisites=course("MAT-9"))
    mine, other = a_view("ART-1"), a_view("MAT-8")
    wanted = a_view("PHY-8", corequisites=some("LAB-3", "MAT-8"))
    seats = tuple(HeldSeat(each.id, 400, 1, 0) for each in (mine, other))
    checks = Precheck(WHO, a_catalog(mine, other, lab, wanted), Registrations(seats), LIMIT * 3)
    assert checks.can_swap(wanted, mine.id, lambda _: True)


def test_seat_that_is_given_up_is_no_linked_section() -> None:
    lab = a_view("LAB-4", corequisites=course("PHY-7"))
    wanted = a_view("PHY-7", corequisites=course("LAB-4"))
    seats = (HeldSeat(lab.id, 400, 1, 0),)
    checks = Precheck(WHO, a_catalog(lab, wanted), Registrations(seats), LIMIT * 3)
    assert not checks.can_swap(wanted, lab.id, lambda _: True)
