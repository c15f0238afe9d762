"""Every refusal has a next step: a swap, a waitlist, or another page that helps."""

from dataclasses import replace
from typing import Any

import pytest

from portal.ledger.types import Reason
from portal.registration.next_steps import NextStep, RefusalContext
from portal.registration.reasons import explain
from tests.registration.makers import a_catalog, a_view, course, every
from tests.registration.refusals import CARD, CASE, FACTS, OTHER, THIRD, one, swap


def steps(case: RefusalContext, *reasons: Reason) -> list[str]:
    """Return the addresses of the next steps, blank without one."""
    return [each.step.url if each.step else "" for each in explain(reasons, case)]


def drop(held: Any) -> str:
    return f"/terms/7/sections/{held.id}/drop"


def clashing(held: Any) -> Reason:
    return Reason("time_conflict", {"section": held.id})


def over(held: int) -> Reason:
    """The limit is 12 credits, and the section has 4."""
    return Reason("credit_limit", {"held": held, "adds": 400, "limit": 1200})


def test_missing_corequisite_links_to_its_sections() -> None:
    step = one("corequisite").step
    assert step
    assert step.url == "/terms/7?q=MAT+1010"


def test_full_section_links_to_its_waitlist() -> None:
    step = one("full").step
    assert step
    assert step.label == "Join waitlist"


def test_full_section_with_full_waitlist_has_no_link_to_it() -> None:
    step = one("full", waiting=5).step
    assert step
    assert step.label == "Back to the sections"


def test_swap_links_to_the_waitlist_with_the_old_seat_kept() -> None:
    case = replace(CASE, swap_out=OTHER.id)
    assert steps(case, Reason("full", FACTS["full"])) == [swap(OTHER)]


def test_held_section_of_the_course_can_be_swapped() -> None:
    assert steps(CASE, Reason("same_course", {"section": OTHER.id})) == [swap(OTHER)]


def test_no_step_is_offered_twice() -> None:
    both = Reason("same_course", {"section": OTHER.id}), clashing(OTHER)
    assert steps(CASE, *both) == [swap(OTHER), ""]


def test_swap_is_offered_only_if_it_is_enough() -> None:
    assert steps(CASE, clashing(OTHER), clashing(THIRD)) == [drop(OTHER), drop(THIRD)]


def test_no_second_swap_is_offered_within_a_swap() -> None:
    case = replace(CASE, swap_out=OTHER.id)
    assert steps(case, clashing(THIRD)) == [drop(THIRD)]


@pytest.mark.parametrize(
    ("held", "leads"),
    [
        ({OTHER.id: 400, THIRD.id: 800}, ["/terms/7/mine"]),  # either would do
        ({OTHER.id: 300, THIRD.id: 900}, [swap(THIRD)]),
        ({OTHER.id: 300, THIRD.id: 300}, ["/terms/7/mine"]),  # neither would
    ],
)
def test_swap_for_credits_is_offered_if_one_seat_is_enough(
    held: dict[int, int], leads: list[str]
) -> None:
    assert steps(replace(CASE, held=held), over(1200)) == leads


def test_swap_for_a_conflict_must_respect_the_credit_limit() -> None:
    much, little = {OTHER.id: 400, THIRD.id: 800}, {OTHER.id: 300, THIRD.id: 900}
    mine = "/terms/7/mine"
    case = replace(CASE, held=much)
    assert steps(case, clashing(OTHER), over(1200)) == [swap(OTHER), ""]
    case = replace(CASE, held=little)
    assert steps(case, clashing(OTHER), over(1200)) == [drop(OTHER), mine]


def test_swap_for_a_conflict_must_remove_every_refusal() -> None:
    lacking = Reason("corequisite", {"missing": [THIRD.course_id]})
    assert steps(CASE, clashing(OTHER), lacking) == [drop(OTHER), "/terms/7?q=ART+1010"]


@pytest.mark.parametrize("code", ["full", "credit_range"])
def test_swap_may_wait_for_a_seat_and_take_other_credits(code: str) -> None:
    assert steps(CASE, clashing(OTHER), Reason(code, FACTS[code])) == [swap(OTHER), ""]


def test_swap_may_add_a_linked_section() -> None:
    lab = a_view("PHY-2", corequisites=course("PHY-1"))
    lecture = a_view("PHY-1", corequisites=course("PHY-2"))
    case = RefusalContext(a_catalog(lecture, lab, OTHER), lecture, CASE.zone)
    lacking = Reason("corequisite", {"missing": [lab.course_id]})
    first, *_ = steps(case, clashing(OTHER), lacking)
    assert first == f"/terms/7/sections/{lecture.id}/swap?swap_out={OTHER.id}"


def test_swap_can_not_wait_without_room_on_the_waitlist() -> None:
    full = Reason("full", {"waiting": 5, "waitlist_capacity": 5})
    first, *_ = steps(CASE, clashing(OTHER), full)
    assert first == drop(OTHER)


def test_linked_course_links_to_registering_for_both() -> None:
    lab = a_view("PHY-2", corequisites=course("PHY-1"))
    lecture = a_view("PHY-1", corequisites=course("PHY-2"))
    case = RefusalContext(a_catalog(lecture, lab), lecture, CASE.zone)
    (found,) = explain([Reason("corequisite", {"missing": [lab.course_id]})], case)
    assert found.text == "Must be taken together with PHY 2."
    url = f"/terms/7/sections/{lecture.id}/pick?with={lab.course_id}"
    assert found.step == NextStep("Add both together", url)
    assert found.step.opens_form


def test_no_link_to_registering_for_both_if_that_is_not_enough() -> None:
    lecture = a_view("PHY-1", corequisites=every("PHY-2", "ART-1"))
    lab, unlinked = a_view("PHY-2", corequisites=course("PHY-1")), a_view("ART-1")
    closed = replace(lab, status="CONFIRMED")
    for offered, missing in (([lab, unlinked], [lab, unlinked]), ([closed, unlinked], [closed])):
        case = RefusalContext(a_catalog(lecture, *offered), lecture, CASE.zone)
        facts = {"missing": [each.course_id for each in missing]}
        assert steps(case, Reason("corequisite", facts)) == ["/terms/7?q=PHY+2"]


def test_needed_seat_links_to_dropping_both() -> None:
    found = one("needed_by")
    assert found.text == "MAT 1010-01 requires CSC 2200, which you would drop."
    assert found.step == NextStep("Drop both", f"{drop(CARD)}?along={OTHER.id}")


def test_in_a_swap_the_old_seat_is_dropped_with_its_dependent() -> None:
    case = replace(CASE, swap_out=THIRD.id)
    needed = Reason("needed_by", FACTS["needed_by"])
    assert steps(case, needed) == [f"{drop(THIRD)}?along={OTHER.id}"]


LASTING = ("prerequisite", "restriction", "hold", "not_for_you", "window_ended", "waitlist_full")


@pytest.mark.parametrize("code", LASTING)
@pytest.mark.parametrize("mended", ["time_conflict", "same_course", "full", "needed_by"])
def test_no_form_is_offered_if_another_reason_stays(code: str, mended: str) -> None:
    found = explain([Reason(mended, FACTS[mended]), Reason(code, FACTS[code])], CASE)
    assert not [each.step for each in found if each.step and each.step.opens_form]


@pytest.mark.parametrize("code", ["time_conflict", "credit_limit", "same_course"])
def test_no_waitlist_is_offered_that_would_refuse(code: str) -> None:
    found = explain([Reason("full", FACTS["full"]), Reason(code, FACTS[code])], CASE)
    assert "Join waitlist" not in [each.step.label for each in found if each.step]


def test_missing_prerequisite_does_not_link_to_sections_that_need_it() -> None:
    lacking = Reason("prerequisite", FACTS["prerequisite"])
    needs = {"prerequisites": FACTS["prerequisite"]["missing"]}
    view, alike = a_view("BIO-1", **needs), a_view("BIO-1", number="02", **needs)
    other = a_view("BIO-1", number="03")
    assert steps(RefusalContext(a_catalog(view, alike), view, CASE.zone), lacking) == ["/terms/7"]
    assert steps(RefusalContext(a_catalog(view, other), view, CASE.zone), lacking) == [
        "/terms/7?q=BIO+1"
    ]


def test_planned_section_is_no_seat_to_drop() -> None:
    planned = {"section": OTHER.id, "planned": True}
    reasons = [Reason(code, planned) for code in ("same_course", "time_conflict")]
    assert steps(CASE, *reasons) == ["", ""]
    assert (
        "Your plan already has another section of this course: MAT 1010-01."
        in explain(reasons, CASE)[0].text
    )


@pytest.mark.parametrize("act", ["pick", "drop?along=2", "leave", "swap?swap_out=2", "pick?with=3"])
def test_a_step_to_a_form_fits_into_a_dialog(act: str) -> None:
    assert NextStep("", CASE.url(1, act)).opens_form


@pytest.mark.parametrize("url", ["/terms/7", "/terms/7?q=/pick", "/terms/7/mine"])
def test_a_step_to_a_page_does_not(url: str) -> None:
    assert not NextStep("", url).opens_form
