"""What keeps a student from a section, apart from what can race."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from portal.people.student_profile import HoldView, PermissionView
from portal.registration import rules
from portal.registration.reasons import PERMISSIONS
from tests.registration.makers import a_board, a_card, a_profile, course, every, some


def codes(profile: Any, card: Any) -> list[str]:
    return [reason.code for reason in rules.refusals(profile, card)]


def test_a_public_section_without_rules_is_refused_to_nobody() -> None:
    assert rules.refusals(a_profile(), a_card()) == []


def test_a_missing_prerequisite_is_named_and_what_was_passed_is_not() -> None:
    card = a_card(prerequisites=every("CSC-1100", some("MAT-1010", "MAT-1020")))
    (reason,) = rules.refusals(a_profile(completed=frozenset({"CSC-1100"})), card)
    assert reason.code == "prerequisite"
    assert reason.facts == {"missing": some("MAT-1010", "MAT-1020")}


def test_a_passed_course_counts_however_its_code_is_written() -> None:
    card = a_card(prerequisites=course("CSC-1100"))
    assert codes(a_profile(completed=frozenset({"csc 1100"})), card) == []


def test_every_hold_is_a_reason_of_its_own() -> None:
    holds = (HoldView("fees", "unpaid fees", "the bursar"), HoldView("advising", "see adviser", ""))
    reasons = rules.refusals(a_profile(holds=holds), a_card())
    assert [reason.facts["kind"] for reason in reasons] == ["fees", "advising"]


def test_all_reasons_are_given_at_once() -> None:
    card = a_card(
        public=False,
        restricted_to=frozenset({"PHY"}),
        prerequisites=course("A-1"),
        restrictions=(("must_be", "level", "Graduate"), ("may_not_be", "campus", "Troy")),
    )
    who = a_profile(holds=(HoldView("fees", "unpaid", ""),))
    assert codes(who, card) == ["hold", "not_for_you", "prerequisite", "restriction", "restriction"]


@pytest.mark.parametrize(
    ("restrictions", "refused"),
    [
        ((("must_be", "level", "Undergraduate"),), 0),
        ((("must_be", "level", "Graduate"),), 1),
        ((("may_not_be", "level", "undergraduate"),), 1),
        ((("must_be", "major", "csc"),), 0),
        ((("must_be", "major", "computer  science"),), 0),
        ((("must_be", "major", "Mathematics"),), 1),
        ((("must_be", "field_of_study", "Mathematics"),), 0),
        ((("must_be", "classification", "Junior"), ("must_be", "classification", "Sophomore")), 0),
        ((("must_be", "classification", "Junior"), ("must_be", "level", "Undergraduate")), 1),
        ((("must_be", "college", "School of Science"), ("must_be", "campus", "Troy")), 0),
        ((("may_not_be", "major", "Biology"), ("may_not_be", "major", "Computer Science")), 1),
        ((("may_not_be", "degree", "Doctor of Philosophy"),), 0),
    ],
)
def test_values_of_a_kind_mean_any_and_kinds_must_all_hold(
    restrictions: tuple[tuple[str, str, str], ...], refused: int
) -> None:
    assert codes(a_profile(), a_card(restrictions=restrictions)) == ["restriction"] * refused


def test_a_blank_in_the_record_is_no_way_in() -> None:
    card = a_card(restrictions=(("must_be", "degree", "Master of Fine Arts"),))
    (reason,) = rules.refusals(a_profile(degree=""), card)
    assert reason.facts["have"] == []


def test_a_student_is_told_of_majors_by_their_names() -> None:
    card = a_card(restrictions=(("must_be", "major", "Biology"),))
    (reason,) = rules.refusals(a_profile(fields=("Computer Science", "Mathematics")), card)
    assert reason.facts["have"] == ["Computer Science"]


def test_a_kind_that_we_do_not_know_lets_nobody_in() -> None:
    assert codes(a_profile(), a_card(restrictions=(("must_be", "cohort", "X"),))) == ["restriction"]


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"public": False, "restricted_to": frozenset({"CSC"})},
        {"public": False, "restricted_to": frozenset({"MAT"})},
        {"public": False, "levels": frozenset({"Undergraduate"})},
        {"public": False, "years": frozenset({"Sophomore"})},
        {"public": False, "years": frozenset({"Senior"}), "levels": frozenset({"Undergraduate"})},
    ],
)
def test_the_list_has_open_sections_of_courses_for_this_student(facts: dict[str, Any]) -> None:
    assert rules.visible(a_profile(), a_card(**facts))


@pytest.mark.parametrize(
    "facts",
    [
        {"status": "NEW"},
        {"status": "CONFIRMED"},
        {"status": "CANCELED"},
        {"public": False},
        {"public": False, "restricted_to": frozenset({"PHY"})},
        {"public": False, "levels": frozenset({"Graduate"})},
    ],
)
def test_the_list_has_nothing_else(facts: dict[str, Any]) -> None:
    assert not rules.visible(a_profile(), a_card(**facts))


def test_a_corequisite_is_asked_for_by_the_id_of_its_course() -> None:
    lecture, lab = a_card("PHY-1", corequisites=course("PHY-2")), a_card("PHY-2")
    assert rules.corequisites(a_profile(), lecture, a_board(lecture, lab)) == {
        "course": lab.course_id
    }


def test_a_corequisite_that_was_passed_is_not_asked_for() -> None:
    lecture, lab = a_card("PHY-1", corequisites=course("PHY-2")), a_card("PHY-2")
    who = a_profile(completed=frozenset({"PHY-2"}))
    assert rules.corequisites(who, lecture, a_board(lecture, lab)) is None


def test_of_two_courses_that_name_each_other_each_needs_the_other() -> None:
    lecture = a_card("PHY-1", corequisites=course("PHY-2"))
    lab = a_card("PHY-2", corequisites=course("PHY-1"))
    offered = a_board(lecture, lab)
    assert rules.corequisites(a_profile(), lecture, offered) == {"course": lab.course_id}
    assert rules.corequisites(a_profile(), lab, offered) == {"course": lecture.course_id}


def test_a_corequisite_that_is_not_offered_is_a_reason_in_its_own_right() -> None:
    card = a_card("PHY-1", corequisites=every("PHY-2", "PHY-3"))
    offered = a_board(card, a_card("PHY-2"))
    (reason,) = rules.unoffered(a_profile(), card, offered)
    assert reason.code == "corequisite_not_offered"
    assert reason.facts == {"missing": course("PHY-3")}


def test_nobody_is_let_in_where_a_corequisite_is_not_offered() -> None:
    card = a_card("PHY-1", corequisites=course("PHY-3"))
    assert rules.corequisites(a_profile(), card, a_board(card)) == {"course": rules.NOT_OFFERED}


def test_of_several_corequisites_one_that_is_offered_will_do() -> None:
    card, lab = a_card("PHY-1", corequisites=some("PHY-2", "PHY-3")), a_card("PHY-2")
    assert rules.unoffered(a_profile(), card, a_board(card, lab)) == []


def with_override(card: Any, *waives: str, until: datetime | None = None) -> Any:
    """A student to whom the registrar permits to pass rules of that section."""
    return a_profile(
        holds=(HoldView("fees", "unpaid", ""),),
        permits=(PermissionView(card.id, frozenset(waives), until),),
    )


def closed_to_ada() -> Any:
    """A section whose every rule refuses her."""
    return a_card(
        public=False,
        prerequisites=course("A-1"),
        corequisites=course("A-2"),
        restrictions=(("must_be", "level", "Graduate"),),
    )


@pytest.mark.parametrize("code", ["prerequisite", "restriction", "not_for_you"])
def test_an_override_passes_its_rule_and_no_other(code: str) -> None:
    card = closed_to_ada()
    every_rule = ["hold", "not_for_you", "prerequisite", "restriction"]
    left = [each for each in every_rule if each != code]
    assert codes(with_override(card, code), card) == left


def test_a_hold_is_passed_by_no_override() -> None:
    card = closed_to_ada()
    assert codes(with_override(card, *PERMISSIONS), card) == ["hold"]


def test_an_override_is_for_one_section() -> None:
    card, sibling = closed_to_ada(), closed_to_ada()
    assert "prerequisite" in codes(with_override(card, "prerequisite"), sibling)


def test_several_overrides_of_a_section_add_up() -> None:
    card = closed_to_ada()
    permits = tuple(
        PermissionView(card.id, frozenset({code})) for code in ("prerequisite", "not_for_you")
    )
    assert codes(a_profile(permits=permits), card) == ["restriction"]


def test_an_override_ends_at_its_moment() -> None:
    card, now = closed_to_ada(), datetime.now(UTC)
    minute = timedelta(minutes=1)
    assert "prerequisite" in codes(with_override(card, "prerequisite", until=now - minute), card)
    assert "prerequisite" not in codes(
        with_override(card, "prerequisite", until=now + minute), card
    )


def test_a_section_that_is_permitted_is_on_the_list() -> None:
    card = a_card(public=False)
    assert rules.visible(with_override(card, "not_for_you"), card)
    assert not rules.visible(with_override(card, "prerequisite"), card)


def test_a_corequisite_may_be_passed_offered_or_not() -> None:
    card, offered = closed_to_ada(), a_board(a_card("A-2"))
    who = with_override(card, "corequisite")
    assert rules.corequisites(who, card, offered) is None
    assert rules.unoffered(who, card, a_board()) == []


def test_the_ledger_is_told_which_of_its_own_rules_to_pass() -> None:
    card = closed_to_ada()
    assert rules.waived(a_profile(), card) == ()
    who = with_override(card, "credit_limit", "prerequisite", "time_conflict")
    assert rules.waived(who, card) == ("time_conflict", "credit_limit")
