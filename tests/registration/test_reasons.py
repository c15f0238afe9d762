"""Every refusal says what is wrong, and what to do next if possible."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from portal.catalog.views import ReserveView
from portal.ledger.function_library import CODE
from portal.ledger.types import NOT_OVERRIDABLE, Reason
from portal.registration.next_steps import NextStep, RefusalContext
from portal.registration.reasons import OBSTACLES, REASONS, explain
from tests.registration.makers import a_catalog, a_meeting, a_view
from tests.registration.refusals import CARD, CASE, FACTS, NINE, OTHER, one, swap

ROOT = Path(__file__).parents[2]
STATUSES = ("new", "confirmed", "canceled")  # a section that is not open


@pytest.mark.parametrize("code", FACTS)
def test_every_reason_has_a_plain_sentence(code: str) -> None:
    text = one(code).text
    assert text.endswith((".", "?"))
    assert not re.search(r"[{}_]|None|section \d", text)


def test_every_reason_that_the_ledger_gives_has_a_sentence() -> None:
    calls = re.findall(r"[^_]add_reason\(\w[\w.]*, ([^,)]+)", CODE)
    coded = re.findall(r'code = "(\w+)"', CODE)
    given = {*re.findall(r'"(\w+)"', " ".join(calls)), *coded} - {"section_"}
    assert len(given) > 15
    assert given | {f"section_{status}" for status in STATUSES} <= REASONS.keys()


def test_every_reason_that_python_gives_has_a_sentence() -> None:
    sources = [path.read_text() for path in (ROOT / "portal").rglob("*.py")]
    given = {code for text in sources for code in re.findall(r'\bReason\(\s*"(\w+)"', text)}
    assert {"prerequisite", "window_before", "credit_range", "needed_by"} <= given
    assert given <= REASONS.keys()


def test_only_reasons_that_an_admin_can_override_are_named_as_obstacles() -> None:
    assert NOT_OVERRIDABLE.isdisjoint(OBSTACLES)


def test_unknown_reason_still_has_a_sentence() -> None:
    assert explain([Reason("of_tomorrow")], CASE)[0].text.endswith("Ask the registrar.")


def test_missing_prerequisite_reads_naturally() -> None:
    assert "CSC 1100 and one of MAT 1010 or MAT 1020" in one("prerequisite").text


def test_conflict_names_the_other_section_its_times_and_offers_a_swap() -> None:
    clash = one("time_conflict")
    assert "MAT 1010-01 (Mon Thu 10:00–11:50 am)" in clash.text
    assert clash.step == NextStep("Swap MAT 1010-01 for CSC 2200-02", swap(OTHER))
    assert clash.step.opens_form


def test_conflict_with_another_choice_of_the_plan_says_so() -> None:
    clash = one("time_conflict", planned=True)
    assert "at the same time as your planned MAT 1010-01" in clash.text
    assert clash.step is None


def test_conflict_names_only_the_conflicting_meetings() -> None:
    here = a_meeting(2, 600, 710)
    exam = a_meeting(4, 480, 1310, clashes=False)
    there = a_meeting(2, 660, 770)
    view, held = a_view("CSC-2200", meetings=(here, exam)), a_view("MAT-1", meetings=(there, exam))
    case = RefusalContext(a_catalog(view, held), view, CASE.zone)
    text = explain([Reason("time_conflict", {"section": held.id})], case)[0].text
    assert text == (
        "It meets Tue 10:00–11:50 am, at the same time as your MAT 1-01 (Tue 11:00 am–12:50 pm)."
    )


def test_waitlist_that_a_seat_needs_is_named_with_the_section_of_that_seat() -> None:
    text = one("needed_by", waiting=True).text
    assert text.startswith("MAT 1010-01 requires CSC 2200-02, and you are on its waitlist.")


def test_credits_are_shown_as_sums() -> None:
    text = one("credit_limit").text
    assert "23 credits" in text
    assert "limit is 21" in text
    assert "1 to 3.5 credits" in one("credit_range").text


def test_moments_are_shown_in_the_institutions_zone() -> None:
    assert "9:00 am EDT on Sunday, September 1" in one("window_before").text


def test_long_list_of_majors_is_shortened() -> None:
    values = [f"Major {letter}" for letter in "ABCDEFGH"]
    text = one("restriction", kind="major", values=values, have=["Biology"]).text
    assert "Major D or 4 others" in text
    assert "Your record shows major Biology" in text


def test_blank_record_field_is_named_with_the_office_that_fills_it() -> None:
    assert "Ask the registrar" in one("restriction").text


def test_deleted_section_is_still_identified() -> None:
    assert explain([Reason("same_course", {"section": 99_999})], CASE)[0].text.count("99999") == 1


def test_reserved_seats_are_explained_with_cohort_and_end() -> None:
    until = datetime.fromtimestamp(NINE / 1000, UTC)
    reserves = (
        ReserveView(61, 5, {"years": ["Senior", "Junior"]}, until),
        ReserveView(62, 5, {"students": ["N1"], "subjects": ["NEW"]}, None),
        ReserveView(63, 5, {"levels": ["Graduate"]}, None),
    )
    case = replace(CASE, section=replace(CARD, reserves=reserves))
    facts = {"waiting": 0, "waitlist_capacity": 5, "kept": 3, "kept_for": [61, 62]}
    [reason] = explain([Reason("full", facts)], case)
    assert reason.text == (
        f"The last 3 seats in {CASE.name} are reserved for students of class year"
        " Senior or Junior until 9:00 am EDT on Sunday, September 1;"
        " majors and minors in NEW, students on a list."
    )
    assert reason.step
    assert reason.step.label == "Join waitlist"
    [lineless] = explain([Reason("waitlist_full", facts | {"waitlist_capacity": 0})], case)
    assert lineless.text.endswith("It has no waitlist.")


def test_reserved_seats_of_an_unknown_cohort_are_for_others() -> None:
    assert one("full", kept=1).text == f"The last 1 seat in {CASE.name} is reserved for others."
