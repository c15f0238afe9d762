"""Every refusal says what is wrong, and what to do next where there is something."""

import re
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from portal.seats.answers import Reason
from portal.seats.case import Case
from portal.seats.reasons import Told, told
from tests.seats.makers import a_board, a_card, a_meeting, course, every, some

ROOT = Path(__file__).parents[2]
CARD = a_card("CSC-2200", number="02", meetings=(a_meeting(),))
OTHER = a_card("MAT-1010", meetings=(a_meeting(),))
CASE = Case(a_board(CARD, OTHER), CARD, ZoneInfo("America/New_York"))
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
}


def one(code: str, **facts: Any) -> Told:
    return told([Reason(code, FACTS[code] | facts)], CASE)[0]


@pytest.mark.parametrize("code", FACTS)
def test_every_reason_is_a_plain_sentence(code: str) -> None:
    text = one(code).text
    assert text.endswith((".", "?"))
    assert not re.search(r"[{}_]|None|section \d", text)


def test_every_reason_that_the_ledger_gives_has_a_sentence() -> None:
    lua = (ROOT / "portal/seats/ledger.lua").read_text()
    given = set(re.findall(r'reason\("(\w+)"', lua)) - {"section_"}
    assert given <= FACTS.keys()


def test_a_reason_without_a_sentence_still_makes_one() -> None:
    assert told([Reason("of_tomorrow")], CASE)[0].text.endswith("ask the registrar.")


def test_a_missing_prerequisite_is_said_as_people_say_it() -> None:
    assert "CSC 1100 and one of MAT 1010 or MAT 1020" in one("prerequisite").text


def test_a_clash_names_the_other_class_and_its_times_and_offers_to_cancel_it() -> None:
    clash = one("time_conflict")
    assert "MAT 1010-01 (Mon Thu 10:00–11:50 am)" in clash.text
    assert clash.step
    assert clash.step.url == f"/terms/7/sections/{OTHER.id}/drop"
    assert clash.step.asks


def test_a_clash_names_only_the_meetings_that_clash() -> None:
    here = a_meeting(2, 600, 710, days="Tue", times="10:00–11:50 am")
    exam = a_meeting(4, 480, 1310, days="Wed", times="8:00 am–9:50 pm", clashes=False)
    there = a_meeting(2, 660, 770, days="Tue", times="11:00 am–12:50 pm")
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


def test_a_long_list_of_majors_is_counted() -> None:
    values = [f"Major {letter}" for letter in "ABCDEFGH"]
    text = one("restriction", kind="major", values=values, have=["Biology"]).text
    assert "Major D or 4 others" in text
    assert "Your record says major Biology" in text


def test_a_blank_record_is_named_with_who_can_fill_it() -> None:
    assert "ask the registrar" in one("restriction").text


def test_a_section_that_is_gone_is_still_told_apart() -> None:
    assert told([Reason("same_course", {"section": 99_999})], CASE)[0].text.count("99999") == 1
