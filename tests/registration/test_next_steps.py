"""Every refusal leads on: to a swap, a waitlist, or the page where something can be done."""

from dataclasses import replace
from typing import Any

import pytest

from portal.ledger.types import Reason
from portal.registration.next_steps import NextStep, RefusalContext
from portal.registration.reasons import explain
from tests.registration.makers import a_board, a_card, course
from tests.registration.refusals import CARD, CASE, FACTS, OTHER, THIRD, one, swap


def steps(case: RefusalContext, *reasons: Reason) -> list[str]:
    """Where the next steps lead, blank where there is none."""
    return [each.step.url if each.step else "" for each in explain(reasons, case)]


def drop(held: Any) -> str:
    return f"/terms/7/sections/{held.id}/drop"


def clashing(held: Any) -> Reason:
    return Reason("time_conflict", {"section": held.id})


def over(held: int) -> Reason:
    """The limit is 12 credits, and the section has 4."""
    return Reason("credit_limit", {"held": held, "adds": 400, "limit": 1200})


def test_a_corequisite_leads_to_its_sections() -> None:
    step = one("corequisite").step
    assert step
    assert step.url == "/terms/7?q=MAT+1010"


def test_a_full_section_leads_to_its_waitlist() -> None:
    step = one("full").step
    assert step
    assert step.label == "Join waitlist"


def test_a_full_section_whose_list_is_full_does_not() -> None:
    step = one("full", waiting=5).step
    assert step
    assert step.label == "Back to the sections"


def test_who_swaps_waits_with_the_seat_kept() -> None:
    case = replace(CASE, instead=OTHER.id)
    assert steps(case, Reason("full", FACTS["full"])) == [swap(OTHER)]


def test_the_course_that_is_had_already_can_be_swapped() -> None:
    assert steps(CASE, Reason("same_course", {"section": OTHER.id})) == [swap(OTHER)]


def test_no_step_is_offered_twice() -> None:
    both = Reason("same_course", {"section": OTHER.id}), clashing(OTHER)
    assert steps(CASE, *both) == [swap(OTHER), ""]


def test_a_swap_is_offered_only_where_it_is_enough() -> None:
    assert steps(CASE, clashing(OTHER), clashing(THIRD)) == [drop(OTHER), drop(THIRD)]


def test_within_a_swap_no_other_is_offered() -> None:
    case = replace(CASE, instead=OTHER.id)
    assert steps(case, clashing(THIRD)) == [drop(THIRD)]


@pytest.mark.parametrize(
    ("held", "leads"),
    [
        ({OTHER.id: 400, THIRD.id: 800}, ["/terms/7/mine"]),  # either would do
        ({OTHER.id: 300, THIRD.id: 900}, [swap(THIRD)]),
        ({OTHER.id: 300, THIRD.id: 300}, ["/terms/7/mine"]),  # neither would
    ],
)
def test_credits_make_room_by_a_swap_where_one_seat_alone_is_enough(
    held: dict[int, int], leads: list[str]
) -> None:
    assert steps(replace(CASE, held=held), over(1200)) == leads


def test_a_swap_for_a_clash_must_leave_room_for_the_credits() -> None:
    much, little = {OTHER.id: 400, THIRD.id: 800}, {OTHER.id: 300, THIRD.id: 900}
    mine = "/terms/7/mine"
    case = replace(CASE, held=much)
    assert steps(case, clashing(OTHER), over(1200)) == [swap(OTHER), ""]
    case = replace(CASE, held=little)
    assert steps(case, clashing(OTHER), over(1200)) == [drop(OTHER), mine]


def test_a_linked_course_is_picked_together_with_its_partner() -> None:
    lab = a_card("PHY-2", corequisites=course("PHY-1"))
    lecture = a_card("PHY-1", corequisites=course("PHY-2"))
    case = RefusalContext(a_board(lecture, lab), lecture, CASE.zone)
    (found,) = explain([Reason("corequisite", {"missing": [lab.course_id]})], case)
    assert found.text == "Must be taken together with PHY 2."
    url = f"/terms/7/sections/{lecture.id}/pick?with={lab.course_id}"
    assert found.step == NextStep("Add both together", url)
    assert found.step.opens_form


def test_what_another_seat_needs_can_be_given_up_with_it() -> None:
    found = one("needed_by")
    assert found.text == "MAT 1010-01 requires CSC 2200, which you would drop."
    assert found.step == NextStep("Drop both", f"{drop(CARD)}?along={OTHER.id}")


def test_in_a_swap_it_is_the_old_seat_that_is_given_up_with_it() -> None:
    case = replace(CASE, instead=THIRD.id)
    needed = Reason("needed_by", FACTS["needed_by"])
    assert steps(case, needed) == [f"{drop(THIRD)}?along={OTHER.id}"]


LASTING = ("prerequisite", "restriction", "hold", "not_for_you", "window_ended", "waitlist_full")


@pytest.mark.parametrize("code", LASTING)
@pytest.mark.parametrize("mended", ["time_conflict", "same_course", "full", "needed_by"])
def test_no_form_is_offered_beside_a_reason_that_stays(code: str, mended: str) -> None:
    found = explain([Reason(mended, FACTS[mended]), Reason(code, FACTS[code])], CASE)
    assert not [each.step for each in found if each.step and each.step.opens_form]


@pytest.mark.parametrize("code", ["time_conflict", "credit_limit", "same_course"])
def test_no_waitlist_is_offered_that_would_refuse_as_well(code: str) -> None:
    found = explain([Reason("full", FACTS["full"]), Reason(code, FACTS[code])], CASE)
    assert "Join waitlist" not in [each.step.label for each in found if each.step]


def test_who_lacks_a_course_is_not_sent_to_sections_that_need_it_too() -> None:
    lacking = Reason("prerequisite", FACTS["prerequisite"])
    needs = {"prerequisites": FACTS["prerequisite"]["missing"]}
    card, alike = a_card("BIO-1", **needs), a_card("BIO-1", number="02", **needs)
    other = a_card("BIO-1", number="03")
    assert steps(RefusalContext(a_board(card, alike), card, CASE.zone), lacking) == ["/terms/7"]
    assert steps(RefusalContext(a_board(card, other), card, CASE.zone), lacking) == [
        "/terms/7?q=BIO+1"
    ]


def test_what_is_only_planned_is_no_seat_to_give_up() -> None:
    planned = {"section": OTHER.id, "planned": True}
    reasons = [Reason(code, planned) for code in ("same_course", "time_conflict")]
    assert steps(CASE, *reasons) == ["", ""]
    assert (
        "Your plan already has another section of this course: MAT 1010-01."
        in explain(reasons, CASE)[0].text
    )


@pytest.mark.parametrize("act", ["pick", "drop?along=2", "leave", "swap?instead=2", "pick?with=3"])
def test_a_step_to_a_form_fits_into_a_dialog(act: str) -> None:
    assert NextStep("", CASE.url(1, act)).opens_form


@pytest.mark.parametrize("url", ["/terms/7", "/terms/7?q=/pick", "/terms/7/mine"])
def test_a_step_to_a_page_does_not(url: str) -> None:
    assert not NextStep("", url).opens_form
