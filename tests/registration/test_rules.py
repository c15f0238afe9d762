"""The rules between a student and a section that the ledger does not check."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from portal.backend import backend
from portal.people.student_profile import HoldView, PermissionView
from portal.registration import rules
from portal.registration.reasons import PERMISSIONS
from tests.registration.makers import a_catalog, a_profile, a_view, course, every, some


def codes(profile: Any, view: Any) -> list[str]:
    return [reason.code for reason in rules.refusals(profile, view)]


def test_section_without_rules_refuses_no_student() -> None:
    assert rules.refusals(a_profile(), a_view()) == []


def test_only_missing_prerequisites_are_named() -> None:
    view = a_view(prerequisites=every("CSC-1100", some("MAT-1010", "MAT-1020")))
    (reason,) = rules.refusals(a_profile(completed={"CSC-1100": ""}), view)
    assert reason.code == "prerequisite"
    assert reason.facts == {"missing": some("MAT-1010", "MAT-1020")}


def test_a_passed_course_counts_however_the_section_writes_its_code() -> None:
    view = a_view(prerequisites=course("csc 1100"))
    assert codes(a_profile(completed={"CSC-1100": ""}), view) == []


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize(
    ("grade", "minimum"), [("C", "C"), ("c", "C"), ("B-", "C"), ("C", "P"), ("A+", "A")]
)
def test_a_grade_as_good_as_the_minimum_is_enough(grade: str, minimum: str) -> None:
    view = a_view(prerequisites={"course": "CSC-1100", "grade": minimum})
    assert codes(a_profile(completed={"CSC-1100": grade}), view) == []


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize(
    ("grade", "minimum"),
    [
        *[("C-", "C"), ("D", "C"), ("P", "C"), ("F", "D-"), ("TR", "C"), ("", "D-")],
        ("A", "E"),  # the setting has changed since
    ],
)
def test_a_lower_or_unknown_grade_is_not_enough_and_is_named(grade: str, minimum: str) -> None:
    view = a_view(prerequisites={"course": "CSC-1100", "grade": minimum})
    (reason,) = rules.refusals(a_profile(completed={"CSC-1100": grade}), view)
    assert reason.code == "prerequisite"
    assert reason.facts["grades"] == {"CSC-1100": grade}


@pytest.mark.usefixtures("connected")
def test_grades_of_one_rank_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = (("A",), ("C", "P"), ("D",))
    monkeypatch.setattr(backend(), "settings", replace(backend().settings, grades=ranks))
    view = a_view(prerequisites={"course": "CSC-1100", "grade": "C"})
    assert codes(a_profile(completed={"CSC-1100": "P"}), view) == []


@pytest.mark.usefixtures("connected")
def test_only_the_grades_of_missing_courses_are_named() -> None:
    tree = every({"course": "CSC-1100", "grade": "C"}, some("MAT-1010", "MAT-1020"), "PHY-1")
    held = {"CSC-1100": "D", "MAT-1010": "D", "BIO-1": "A"}
    (reason,) = rules.refusals(a_profile(completed=held), a_view(prerequisites=tree))
    assert reason.facts["grades"] == {"CSC-1100": "D"}
    assert reason.facts["missing"] == every({"course": "CSC-1100", "grade": "C"}, "PHY-1")


def test_every_hold_is_a_separate_reason() -> None:
    holds = (HoldView("fees", "unpaid fees", "the bursar"), HoldView("advising", "see adviser", ""))
    reasons = rules.refusals(a_profile(holds=holds), a_view())
    assert [reason.facts["kind"] for reason in reasons] == ["fees", "advising"]


def test_all_reasons_are_given_at_once() -> None:
    view = a_view(
        public=False,
        restricted_to=frozenset({"PHY"}),
        prerequisites=course("A-1"),
        restrictions=(("must_be", "level", "Graduate"), ("may_not_be", "campus", "Troy")),
    )
    who = a_profile(holds=(HoldView("fees", "unpaid", ""),))
    assert codes(who, view) == ["hold", "not_for_you", "prerequisite", "restriction", "restriction"]


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
    assert codes(a_profile(), a_view(restrictions=restrictions)) == ["restriction"] * refused


def test_blank_record_field_does_not_meet_a_restriction() -> None:
    view = a_view(restrictions=(("must_be", "degree", "Master of Fine Arts"),))
    (reason,) = rules.refusals(a_profile(degree=""), view)
    assert reason.facts["have"] == []


def test_refusal_shows_majors_by_name() -> None:
    view = a_view(restrictions=(("must_be", "major", "Biology"),))
    (reason,) = rules.refusals(a_profile(fields=("Computer Science", "Mathematics")), view)
    assert reason.facts["have"] == ["Computer Science"]


def test_unknown_restriction_refuses_every_student() -> None:
    assert codes(a_profile(), a_view(restrictions=(("must_be", "cohort", "X"),))) == ["restriction"]


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
def test_list_has_open_sections_of_the_students_courses(facts: dict[str, Any]) -> None:
    assert rules.visible(a_profile(), a_view(**facts))


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
def test_list_has_no_other_sections(facts: dict[str, Any]) -> None:
    assert not rules.visible(a_profile(), a_view(**facts))


def test_corequisite_is_sent_by_course_id() -> None:
    lecture, lab = a_view("PHY-1", corequisites=course("PHY-2")), a_view("PHY-2")
    assert rules.corequisites(a_profile(), lecture, a_catalog(lecture, lab)).needed == {
        "course": lab.course_id
    }


def test_passed_corequisite_is_not_required() -> None:
    lecture, lab = a_view("PHY-1", corequisites=course("PHY-2")), a_view("PHY-2")
    who = a_profile(completed={"PHY-2": "B"})
    assert rules.corequisites(who, lecture, a_catalog(lecture, lab)).needed is None


def test_courses_that_name_each_other_need_each_other() -> None:
    lecture = a_view("PHY-1", corequisites=course("PHY-2"))
    lab = a_view("PHY-2", corequisites=course("PHY-1"))
    offered = a_catalog(lecture, lab)
    assert rules.corequisites(a_profile(), lecture, offered).needed == {"course": lab.course_id}
    assert rules.corequisites(a_profile(), lab, offered).needed == {"course": lecture.course_id}


def test_corequisite_that_is_not_offered_is_its_own_reason() -> None:
    view = a_view("PHY-1", corequisites=every("PHY-2", "PHY-3"))
    offered = a_catalog(view, a_view("PHY-2"))
    (reason,) = rules.corequisites(a_profile(), view, offered).not_offered
    assert reason.code == "corequisite_not_offered"
    assert reason.facts == {"missing": course("PHY-3")}


def test_corequisite_that_is_not_offered_refuses_every_student() -> None:
    view = a_view("PHY-1", corequisites=course("PHY-3"))
    assert rules.corequisites(a_profile(), view, a_catalog(view)).needed == {
        "course": rules.NOT_OFFERED
    }


def test_one_offered_corequisite_of_several_is_enough() -> None:
    view, lab = a_view("PHY-1", corequisites=some("PHY-2", "PHY-3")), a_view("PHY-2")
    assert rules.corequisites(a_profile(), view, a_catalog(view, lab)).not_offered == ()


def with_override(view: Any, *waives: str, until: datetime | None = None) -> Any:
    """Return a student with permissions for that section."""
    return a_profile(
        holds=(HoldView("fees", "unpaid", ""),),
        permits=(PermissionView(view.id, frozenset(waives), until),),
    )


def closed_to_ada(status: str = "OPEN") -> Any:
    """Return a section whose rules all refuse Ada."""
    return a_view(
        status=status,
        public=False,
        prerequisites=course("A-1"),
        corequisites=course("A-2"),
        restrictions=(("must_be", "level", "Graduate"),),
    )


@pytest.mark.parametrize("code", ["prerequisite", "restriction", "not_for_you"])
def test_permission_lifts_only_its_rule(code: str) -> None:
    view = closed_to_ada()
    every_rule = ["hold", "not_for_you", "prerequisite", "restriction"]
    left = [each for each in every_rule if each != code]
    assert codes(with_override(view, code), view) == left


def test_no_permission_lifts_a_hold() -> None:
    view = closed_to_ada()
    assert codes(with_override(view, *PERMISSIONS), view) == ["hold"]


def test_permission_is_for_one_section() -> None:
    view, sibling = closed_to_ada(), closed_to_ada()
    assert "prerequisite" in codes(with_override(view, "prerequisite"), sibling)


def test_permissions_of_a_section_add_up() -> None:
    view = closed_to_ada()
    permits = tuple(
        PermissionView(view.id, frozenset({code})) for code in ("prerequisite", "not_for_you")
    )
    assert codes(a_profile(permits=permits), view) == ["restriction"]


def test_permission_expires() -> None:
    view, now = closed_to_ada(), datetime.now(UTC)
    minute = timedelta(minutes=1)
    assert "prerequisite" in codes(with_override(view, "prerequisite", until=now - minute), view)
    assert "prerequisite" not in codes(
        with_override(view, "prerequisite", until=now + minute), view
    )


def test_permitted_section_is_on_the_list() -> None:
    view = a_view(public=False)
    assert rules.visible(with_override(view, "not_for_you"), view)
    assert not rules.visible(with_override(view, "prerequisite"), view)


def test_permission_lifts_a_corequisite_offered_or_not() -> None:
    view, offered = closed_to_ada(), a_catalog(a_view("A-2"))
    who = with_override(view, "corequisite")
    assert rules.corequisites(who, view, offered).needed is None
    assert rules.corequisites(who, view, a_catalog()).not_offered == ()


def test_ledger_receives_the_waived_rules() -> None:
    view = closed_to_ada()
    assert rules.waived(a_profile(), view) == ()
    who = with_override(view, "credit_limit", "prerequisite", "time_conflict")
    assert rules.waived(who, view) == ("prerequisite", "time_conflict", "credit_limit")


def test_ledger_receives_the_reasons_that_a_permission_lifts() -> None:
    view, offered = closed_to_ada(), a_catalog(a_view("A-2"))
    who = with_override(view, "not_for_you", "prerequisite", "restriction", "corequisite")
    found = [reason.code for reason in rules.before_permissions(who, view)]
    assert found == ["hold", "not_for_you", "prerequisite", "restriction"]
    assert (
        rules.corequisites(who, view, offered).waived
        == rules.corequisites(a_profile(), view, offered).needed
    )
    assert rules.corequisites(a_profile(), view, offered).waived is None


@pytest.mark.parametrize("status", ["OPEN", "NEW", "CONFIRMED"])
@pytest.mark.parametrize("rule", ["not_for_you", "prerequisite", "restriction", "time_conflict"])
def test_rule_of_a_section_for_others_may_refuse_whatever_its_status(
    status: str, rule: str
) -> None:
    assert rules.may_refuse(a_profile(), closed_to_ada(status), frozenset({rule}))


@pytest.mark.parametrize("status", ["OPEN", "NEW", "CONFIRMED"])
@pytest.mark.parametrize("rule", ["not_for_you", "prerequisite", "restriction"])
def test_rule_that_a_section_does_not_have_may_not_refuse(status: str, rule: str) -> None:
    assert not rules.may_refuse(a_profile(), a_view(status=status), frozenset({rule}))


def test_rule_that_a_permission_lifts_already_may_not_refuse() -> None:
    view = closed_to_ada()
    who = with_override(view, "prerequisite", "time_conflict")
    assert not rules.may_refuse(who, view, frozenset({"prerequisite", "time_conflict"}))
    assert rules.may_refuse(who, view, frozenset({"prerequisite", "restriction"}))
