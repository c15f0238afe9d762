"""Every refusal says what is wrong, and what to do next where there is something."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from portal.seats.answers import Reason
from portal.seats.case import Case, Step
from portal.seats.library import CODE
from portal.seats.reasons import Told, told
from portal.seats.sentences import SENTENCES
from tests.seats.makers import a_board, a_card, a_meeting, course, every, some

ROOT = Path(__file__).parents[2]
CARD = a_card("CSC-2200", number="02", meetings=(a_meeting(),))
OTHER = a_card("MAT-1010", meetings=(a_meeting(),))
THIRD = a_card("ART-1010")
CASE = Case(a_board(CARD, OTHER, THIRD), CARD, ZoneInfo("America/New_York"))
NINE = 1_914_498_000_000  # 2030-09-01 09:00 in New York

FACTS: dict[str, dict[str, Any]] = {
    "window_unscheduled": {},
    "window_before": {"opens": NINE},
    "window_ended": {"closes": NINE},
    "section_unknown": {},
    "section_new": {},
    "section_confirmed": {},
    "section_canceled": {},
    "already_enrolled": {},
    "already_waiting": {"position": 3},
    "same_course": {"section": OTHER.id},
    "time_conflict": {"section": OTHER.id},
    "credit_range": {"min": 100, "max": 350},
    "credit_limit": {"held": 1900, "adds": 400, "limit": 2100},
    "corequisite": {"missing": [OTHER.course_id]},
    "corequisite_not_offered": {"missing": course("PHY-1100")},
    "full": {"waiting": 2, "waitlist_capacity": 5},
    "waitlist_full": {"waiting": 5, "waitlist_capacity": 5},
    "prerequisite": {"missing": every("CSC-1100", some("MAT-1010", "MAT-1020"))},
    "restriction": {"rule": "must_be", "kind": "level", "values": ["Graduate"], "have": []},
    "hold": {"kind": "fees", "reason": "Unpaid fees.", "office": "the bursar"},
    "not_for_you": {},
    "not_enrolled": {},
    "drop_limit": {"limit": 3, "resets": NINE},
    "not_waiting": {},
    "needed_by": {"section": OTHER.id, "missing": [CARD.course_id]},
    "together": {"section": OTHER.id},
    "student_unknown": {},
}
STATUSES = ("new", "confirmed", "canceled")  # a section that is not open


def one(code: str, **facts: Any) -> Told:
    return told([Reason(code, FACTS[code] | facts)], CASE)[0]


def steps(case: Case, *reasons: Reason) -> list[str]:
    """Where the next steps lead, blank where there is none."""
    return [each.step.url if each.step else "" for each in told(reasons, case)]


def swap(held: Any) -> str:
    return f"/terms/7/sections/{CARD.id}/swap?instead={held.id}"


def drop(held: Any) -> str:
    return f"/terms/7/sections/{held.id}/drop"


def clashing(held: Any) -> Reason:
    return Reason("time_conflict", {"section": held.id})


def over(held: int) -> Reason:
    """The limit is 12 credits, and the section has 4."""
    return Reason("credit_limit", {"held": held, "adds": 400, "limit": 1200})


@pytest.mark.parametrize("code", FACTS)
def test_every_reason_is_a_plain_sentence(code: str) -> None:
    text = one(code).text
    assert text.endswith((".", "?"))
    assert not re.search(r"[{}_]|None|section \d", text)


def test_every_reason_that_the_ledger_gives_has_a_sentence() -> None:
    calls = re.findall(r"[^_]object\(\w[\w.]*, ([^,)]+)", CODE)
    given = set(re.findall(r'"(\w+)"', " ".join(calls))) - {"section_"}
    assert len(given) > 15
    assert given | {f"section_{status}" for status in STATUSES} <= SENTENCES.keys()


def test_every_reason_that_python_gives_has_a_sentence() -> None:
    sources = [path.read_text() for path in (ROOT / "portal").rglob("*.py")]
    given = {code for text in sources for code in re.findall(r'\bReason\(\s*"(\w+)"', text)}
    assert {"prerequisite", "window_before", "credit_range", "needed_by"} <= given
    assert given <= SENTENCES.keys()


def test_every_sentence_is_tried_here() -> None:
    assert SENTENCES.keys() == FACTS.keys()


def test_a_reason_without_a_sentence_still_makes_one() -> None:
    assert told([Reason("of_tomorrow")], CASE)[0].text.endswith("ask the registrar.")


def test_a_missing_prerequisite_is_said_as_people_say_it() -> None:
    assert "CSC 1100 and one of MAT 1010 or MAT 1020" in one("prerequisite").text


def test_a_clash_names_the_other_class_and_its_times_and_offers_a_swap() -> None:
    clash = one("time_conflict")
    assert "MAT 1010-01 (Mon Thu 10:00–11:50 am)" in clash.text
    assert clash.step == Step("Swap: give up MAT 1010-01 for CSC 2200-02", swap(OTHER))
    assert clash.step.asks


def test_a_clash_names_only_the_meetings_that_clash() -> None:
    here = a_meeting(2, 600, 710)
    exam = a_meeting(4, 480, 1310, clashes=False)
    there = a_meeting(2, 660, 770)
    card, held = a_card("CSC-2200", meetings=(here, exam)), a_card("MAT-1", meetings=(there, exam))
    case = Case(a_board(card, held), card, CASE.zone)
    text = told([Reason("time_conflict", {"section": held.id})], case)[0].text
    assert text == (
        "Its Tue 10:00–11:50 am meets at the same time as your MAT 1-01 (Tue 11:00 am–12:50 pm)."
    )


def test_credits_are_told_as_sums() -> None:
    text = one("credit_limit").text
    assert "23 credits" in text
    assert "limit is 21" in text
    assert "1 to 3.5 credits" in one("credit_range").text


def test_moments_are_told_in_the_zone_of_the_institution() -> None:
    assert "9:00 am on Sunday, September 1" in one("window_before").text


def test_a_corequisite_leads_to_its_sections() -> None:
    step = one("corequisite").step
    assert step
    assert step.url == "/terms/7?q=MAT+1010"


def test_a_full_section_leads_to_its_waitlist() -> None:
    step = one("full").step
    assert step
    assert step.label == "Join the waitlist"


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
    case = Case(a_board(lecture, lab), lecture, CASE.zone)
    (found,) = told([Reason("corequisite", {"missing": [lab.course_id]})], case)
    assert found.text == "It is taken together with PHY 2."
    url = f"/terms/7/sections/{lecture.id}/pick?with={lab.course_id}"
    assert found.step == Step("Pick both together", url)
    assert found.step.asks


def test_what_another_seat_needs_can_be_given_up_with_it() -> None:
    found = one("needed_by")
    assert found.text == "MAT 1010-01 needs CSC 2200, which you would give up."
    assert found.step == Step("Cancel both", f"{drop(CARD)}?along={OTHER.id}")


def test_in_a_swap_it_is_the_old_seat_that_is_given_up_with_it() -> None:
    case = replace(CASE, instead=THIRD.id)
    needed = Reason("needed_by", FACTS["needed_by"])
    assert steps(case, needed) == [f"{drop(THIRD)}?along={OTHER.id}"]


def test_what_is_only_planned_is_no_seat_to_give_up() -> None:
    planned = {"section": OTHER.id, "planned": True}
    reasons = [Reason(code, planned) for code in ("same_course", "time_conflict")]
    assert steps(CASE, *reasons) == ["", ""]
    assert "Your plan has MAT 1010-01 too" in told(reasons, CASE)[0].text


@pytest.mark.parametrize("act", ["pick", "drop?along=2", "leave", "swap?instead=2", "pick?with=3"])
def test_a_step_to_a_form_fits_into_a_dialog(act: str) -> None:
    assert Step("", CASE.url(1, act)).asks


@pytest.mark.parametrize("url", ["/terms/7", "/terms/7?q=/pick", "/terms/7/mine"])
def test_a_step_to_a_page_does_not(url: str) -> None:
    assert not Step("", url).asks


def test_a_long_list_of_majors_is_counted() -> None:
    values = [f"Major {letter}" for letter in "ABCDEFGH"]
    text = one("restriction", kind="major", values=values, have=["Biology"]).text
    assert "Major D or 4 others" in text
    assert "Your record says major Biology" in text


def test_a_blank_record_is_named_with_who_can_fill_it() -> None:
    assert "ask the registrar" in one("restriction").text


def test_a_section_that_is_gone_is_still_told_apart() -> None:
    assert told([Reason("same_course", {"section": 99_999})], CASE)[0].text.count("99999") == 1
