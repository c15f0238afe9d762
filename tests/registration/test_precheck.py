"""Likely refusals before a claim is sent."""

from datetime import date
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest

from portal.ledger.types import HeldSeat, Reason, Registrations, SeatCounts, WaitlistPosition
from portal.people.student_profile import PermissionView
from portal.registration import precheck
from portal.registration.precheck import Precheck
from tests.registration.makers import a_catalog, a_meeting, a_profile, a_view, course, some

LIMIT = 2100


def holding(*views: Any) -> Registrations:
    return Registrations(enrolled=tuple(HeldSeat(view.id, 400, 1, 0) for view in views))


def foreseen(
    view: Any, registrations: Registrations, *others: Any, limit: int = LIMIT, swap_out: int = 0
) -> list[Reason]:
    offered = a_catalog(view, *others)
    return Precheck(a_profile(), offered, registrations, limit).refusals(view, swap_out=swap_out)


def planned(
    *views: Any, registrations: Registrations | None = None, others: Any = (), limit: int = LIMIT
) -> list[list[str]]:
    """Return the codes for a plan of these sections, 4 credits each, section by section."""
    choice = [(view, 400) for view in views]
    offered = a_catalog(*views, *others)
    refusals = Precheck(
        a_profile(), offered, registrations or Registrations(), limit
    ).refusals_together(choice)
    return [codes(refusals[view.id]) for view in views]


def codes(reasons: list[Reason]) -> list[str]:
    return [reason.code for reason in reasons]


def test_precheck_finds_nothing_for_a_student_without_seats() -> None:
    assert foreseen(a_view(), Registrations()) == []


def test_precheck_of_a_held_section_has_one_reason() -> None:
    view = a_view(prerequisites=course("A-1"))
    assert foreseen(view, holding(view)) == [Reason("already_enrolled")]


def test_precheck_of_a_waitlisted_section_has_the_position() -> None:
    view = a_view()
    waiting = Registrations(waiting=(WaitlistPosition(view.id, 400, 1, 0, 2, 5),))
    assert foreseen(view, waiting) == [Reason("already_waiting", {"position": 2})]


def test_precheck_refuses_another_section_of_a_held_course() -> None:
    view, sibling = a_view(), a_view(number="02")
    assert Reason("same_course", {"section": sibling.id}) in foreseen(
        view, holding(sibling), sibling
    )


def test_precheck_refuses_a_section_at_the_same_time() -> None:
    view = a_view(meetings=(a_meeting(mask=1, start=660, end=720),))
    other = a_view("MAT-1010", meetings=(a_meeting(),))
    assert foreseen(view, holding(other), other) == [Reason("time_conflict", {"section": other.id})]


def test_precheck_allows_a_section_that_ends_when_another_begins() -> None:
    view = a_view(meetings=(a_meeting(start=710, end=800),))
    other = a_view("MAT-1010", meetings=(a_meeting(),))
    assert foreseen(view, holding(other), other) == []


def test_exam_block_has_no_conflict() -> None:
    view = a_view(meetings=(a_meeting(mask=127, start=480, end=1310, clashes=False),))
    other = a_view("MAT-1010", meetings=(a_meeting(),))
    assert foreseen(view, holding(other), other) == []


def test_sections_of_different_term_halves_do_not_conflict() -> None:
    view = a_view(meetings=(a_meeting(last=date(2030, 10, 16)),))
    other = a_view("MAT-1010", meetings=(a_meeting(first=date(2030, 10, 17)),))
    assert foreseen(view, holding(other), other) == []


def test_sections_with_overlapping_dates_conflict() -> None:
    view = a_view(meetings=(a_meeting(last=date(2030, 10, 16)),))
    other = a_view("MAT-1010", meetings=(a_meeting(first=date(2030, 9, 2)),))
    assert codes(foreseen(view, holding(other), other)) == ["time_conflict"]


def test_precheck_reports_credits_beyond_the_limit_as_a_sum() -> None:
    view, other = a_view(), a_view("MAT-1010")
    (reason,) = foreseen(view, holding(other), other, limit=700)
    assert reason == Reason("credit_limit", {"held": 400, "adds": 400, "limit": 700})


def test_precheck_reports_credits_that_the_section_does_not_allow() -> None:
    view = a_view(credits_min=Decimal(1), credits_max=Decimal(3))
    checks = Precheck(a_profile(), a_catalog(view), Registrations(), LIMIT)
    assert checks.refusals_together([(view, 300)])[view.id] == []
    assert checks.refusals_together([(view, 400)])[view.id] == [
        Reason("credit_range", {"min": 100, "max": 300})
    ]


def test_precheck_reports_a_corequisite_until_it_is_held() -> None:
    lab = a_view("PHY-2")
    view = a_view("PHY-1", corequisites=course("PHY-2"))
    assert foreseen(view, Registrations(), lab) == [
        Reason("corequisite", {"missing": [lab.course_id]})
    ]
    assert foreseen(view, holding(lab), lab) == []


def test_precheck_reports_a_full_waitlist() -> None:
    full = SeatCounts(1, capacity=2, taken=2, waiting=5, waitlist_capacity=5, status="OPEN", seq=1)
    assert [reason.code for reason in precheck.waitlist_full(full)] == ["waitlist_full"]


def test_free_seat_or_waitlist_position_is_no_refusal() -> None:
    assert precheck.waitlist_full(SeatCounts(1, 2, 1, 0, 0, "OPEN", 1)) == []
    assert precheck.waitlist_full(SeatCounts(1, 2, 2, 4, 5, "OPEN", 1)) == []


def test_swapped_section_causes_no_refusal() -> None:
    view, other = a_view(meetings=(a_meeting(),)), a_view("MAT-1010", meetings=(a_meeting(),))
    assert foreseen(view, holding(other), other, limit=400, swap_out=other.id) == []


def test_section_that_is_not_held_cannot_be_swapped() -> None:
    view, other = a_view(), a_view("MAT-1010")
    (reason,) = foreseen(view, Registrations(), other, swap_out=other.id)
    assert reason == Reason("not_enrolled", {"section": other.id})


def test_needed_corequisite_cannot_be_swapped() -> None:
    lab = a_view("PHY-2")
    lecture, view = a_view("PHY-1", corequisites=course("PHY-2")), a_view()
    (reason,) = foreseen(view, holding(lecture, lab), lecture, lab, swap_out=lab.id)
    facts = {"section": lecture.id, "missing": [lab.course_id]}
    assert reason == Reason("needed_by", facts)


def test_corequisite_may_be_swapped_for_another_section_of_its_course() -> None:
    one, other = a_view("PHY-2"), a_view("PHY-2", number="02")
    lecture = a_view("PHY-1", corequisites=course("PHY-2"))
    assert foreseen(other, holding(lecture, one), lecture, one, swap_out=one.id) == []


def test_corequisite_may_be_swapped_if_another_choice_is_held() -> None:
    lab, studio = a_view("PHY-2"), a_view("PHY-3")
    lecture = a_view("PHY-1", corequisites=some("PHY-2", "PHY-3"))
    offered, held = a_catalog(lecture, lab, studio), holding(lecture, lab, studio)
    assert Precheck(a_profile(), offered, held, LIMIT).needed_by([lab.id]) == []
    both = Precheck(a_profile(), offered, held, LIMIT).needed_by([lab.id, studio.id])
    assert codes(both) == ["needed_by"]


def test_dropping_both_linked_sections_needs_nothing() -> None:
    lecture, lab = a_view("PHY-1", corequisites=course("PHY-2")), a_view("PHY-2")
    offered, held = a_catalog(lecture, lab), holding(lecture, lab)
    assert Precheck(a_profile(), offered, held, LIMIT).needed_by([lab.id, lecture.id]) == []


@pytest.mark.parametrize(("joined", "found"), [(0, ["needed_by"]), (5, [])])
def test_seat_needs_only_the_position_that_came_with_it(joined: int, found: list[str]) -> None:
    lecture, lab = a_view("PHY-1", corequisites=course("PHY-2")), a_view("PHY-2")
    position = WaitlistPosition(lab.id, 400, 1, joined, 1, 1)
    registrations = Registrations(holding(lecture).enrolled, (position,))
    offered = a_catalog(lecture, lab)
    checks = Precheck(a_profile(), offered, registrations, LIMIT)
    assert codes(checks.needed_by_while_waiting(lab.id)) == found


@pytest.mark.parametrize("born", list(permutations(("lecture", "lab", "discussion"))))
def test_pair_and_its_dependents_are_one_drop(
    born: tuple[str, ...],
) -> None:
    """A seat that depends on a dropped one does not count as a drop of its own."""
    needs = {"lecture": course("PHY-2"), "lab": course("PHY-1"), "discussion": course("PHY-1")}
    names = {"lecture": "PHY-1", "lab": "PHY-2", "discussion": "PHY-3"}
    views = [a_view(names[each], corequisites=needs[each]) for each in born]
    offered, held = a_catalog(*views), holding(*views)
    checks = Precheck(a_profile(), offered, held, LIMIT)
    assert checks.count_drops([view.id for view in views]) == 1


@pytest.mark.parametrize("code", ["same_course", "time_conflict", "credit_limit", "corequisite"])
def test_precheck_respects_permissions(code: str) -> None:
    facts = {"corequisites": course("PHY-2"), "meetings": (a_meeting(),)}
    view, sibling = a_view(**facts), a_view(number="02", meetings=(a_meeting(),))
    offered, who = a_catalog(view, sibling, a_view("PHY-2")), a_profile()
    free = a_profile(permits=(PermissionView(view.id, frozenset({code})),))
    result, left = (
        codes(Precheck(each, offered, holding(sibling), 700).refusals(view)) for each in (who, free)
    )
    assert left == [each for each in result if each != code]
    assert len(result) == 4


def test_plan_without_problems_has_no_reasons() -> None:
    assert planned(a_view(), a_view("MAT-1010")) == [[], []]


def test_conflicting_planned_sections_both_get_a_reason() -> None:
    one, other = (a_view(code, meetings=(a_meeting(),)) for code in ("A-1", "B-1"))
    assert planned(one, other) == [["time_conflict"], ["time_conflict"]]


def test_course_planned_twice_gets_a_reason_at_both() -> None:
    assert planned(a_view(), a_view(number="02")) == [["same_course"], ["same_course"]]


def test_reason_distinguishes_planned_from_held_sections() -> None:
    held, one, other = a_view(), a_view(number="02"), a_view(number="03")
    offered, choice = a_catalog(held, one, other), [(one, 400), (other, 400)]
    refusals = Precheck(a_profile(), offered, holding(held), LIMIT).refusals_together(choice)
    assert [reason.facts for reason in refusals[one.id]] == [
        {"section": held.id},
        {"section": other.id, "planned": True},
    ]


def test_credits_of_a_plan_add_up_in_order() -> None:
    views = [a_view(f"A-{number}") for number in range(3)]
    assert planned(*views, limit=800) == [[], [], ["credit_limit"]]
    held = a_view("B-1")
    refusals = planned(*views, registrations=holding(held), others=(held,), limit=800)
    assert refusals == [[], ["credit_limit"], ["credit_limit"]]


def test_reason_distinguishes_planned_from_held_credits() -> None:
    held, one, other = a_view(), a_view("A-1"), a_view("B-1")
    offered, choice = a_catalog(held, one, other), [(one, 400), (other, 400)]
    refusals = Precheck(a_profile(), offered, holding(held), 700).refusals_together(choice)
    facts = [refusals[view.id][0].facts for view in (one, other)]
    assert facts == [
        {"held": 400, "adds": 400, "limit": 700},
        {"held": 800, "adds": 400, "limit": 700, "planned": True},
    ]


def test_limit_that_seats_alone_exceed_is_not_put_down_to_the_plan() -> None:
    held, other = a_view(), a_view("B-1")
    free = a_view("A-1", credits_min=Decimal(0), credits_max=Decimal(0))
    offered, choice = a_catalog(held, free, other), [(free, 0), (other, 400)]
    refusals = Precheck(a_profile(), offered, holding(held), 700).refusals_together(choice)
    assert refusals == {
        free.id: [],
        other.id: [Reason("credit_limit", {"held": 400, "adds": 400, "limit": 700})],
    }


def test_planned_sections_meet_each_others_corequisites() -> None:
    lecture = a_view("PHY-1", corequisites=course("PHY-2"))
    lab = a_view("PHY-2", corequisites=course("PHY-1"))
    assert planned(lecture, lab) == [[], []]
    assert planned(lecture, others=(lab,)) == [["corequisite"]]


def test_held_section_counts_once_in_a_plan() -> None:
    view, other = a_view(), a_view("MAT-1010")
    refusals = planned(view, other, registrations=holding(view), limit=800)
    assert refusals == [["already_enrolled"], []]


def test_precheck_can_be_limited_to_some_sections() -> None:
    """Checking all sections takes the square of the plan's length."""
    views = [a_view(f"CSC-{number}", meetings=(a_meeting(),)) for number in (1, 2, 3)]
    choice, offered = [(view, 1000) for view in views], a_catalog(*views)
    every = Precheck(a_profile(), offered, Registrations(), LIMIT).refusals_together(choice)
    last = views[2].id
    checks = Precheck(a_profile(), offered, Registrations(), LIMIT)
    refusals = checks.refusals_together(choice, about=[last])
    assert refusals == {last: every[last]}
    assert "credit_limit" in codes(refusals[last])


def test_plan_is_checked_against_the_rules() -> None:
    assert planned(a_view(prerequisites=course("A-1"))) == [["prerequisite"]]
