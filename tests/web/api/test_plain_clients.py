"""Clients that only name students and sections, and read plain field names."""

from typing import Any

import pytest

from portal.backend import backend
from portal.registration import limits
from tests import cast as builders
from tests.cast import Cast
from tests.web.api.callers import Caller
from tests.web.pages import held, seat


def body(student: Any, *sections: Any) -> dict[str, Any]:
    return {"student_id": student.id, "section_ids": [each.id for each in sections]}


@pytest.fixture
def later(term: Any) -> Any:  # noqa: ARG001
    """Return a section of another open semester."""
    other = builders.a_term("Spring 2031")
    builders.an_open_window(other)
    return builders.a_section(builders.a_course("MAT-1"), other)


def test_semester_follows_from_the_sections(
    ada: Caller, section: Any, later: Any, cast: Cast
) -> None:
    for wanted in (section, later):
        answer = ada.post("/register", body(cast.ada, wanted))
        assert answer.status_code == 200
        assert answer.json["data"]["semester_id"] == wanted.term_id
        assert answer.json["data"]["summary"]["enrolled"] == 1


def test_sections_of_several_semesters_are_refused(
    ada: Caller, term: Any, section: Any, later: Any, cast: Cast
) -> None:
    answer = ada.post("/register", body(cast.ada, section, later))
    assert (answer.status_code, answer.mimetype) == (422, "application/problem+json")
    [wrong] = answer.json["errors"]
    assert wrong["pointer"] == "/section_ids/1"
    assert "Spring 2031" in wrong["message"]
    assert "Fall 2030" in wrong["message"]
    assert held(term, cast.ada) == []


def test_section_without_a_semester_is_named(ada: Caller, section: Any, cast: Cast) -> None:
    sections = [section.id, 2_000_000_000]
    answer = ada.post("/register", {"student_id": cast.ada.id, "section_ids": sections})
    assert answer.status_code == 404
    assert [each["pointer"] for each in answer.json["errors"]] == ["/section_ids/1"]


def test_unpublished_section_is_not_found(ada: Caller, term: Any, cast: Cast) -> None:
    new = builders.a_section(builders.a_course(), term, status="NEW")
    assert ada.post("/register", body(cast.ada, new)).status_code == 404


def test_named_semester_must_match_the_sections(
    ada: Caller, term: Any, later: Any, cast: Cast
) -> None:
    answer = ada.post("/register", body(cast.ada, later) | {"semester_id": term.id})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (404, "/section_ids/0")


def test_sections_have_plain_names(ada: Caller, term: Any, cast: Cast) -> None:
    course = builders.a_course("CSC-1100", title="Data Structures")
    full = builders.a_section(course, term, capacity=1)
    free = builders.a_section(course, term, capacity=7)
    seat(cast.ben, full)
    data = ada.get("/sections/available", semester_id=term.id, per_page=1).json["data"]
    [result] = data["sections"]
    named = {"course_id": course.id, "course_code": "CSC-1100", "course_name": "Data Structures"}
    assert named.items() <= result["course"].items()
    assert (result["course_code"], result["course_name"]) == ("CSC-1100", "Data Structures")
    assert (result["section_number"], result["total_seats"]) == (full.number, 1)
    assert result["available_seats"] == 0
    assert (data["total_sections"], data["total_available_seats"]) == (2, free.capacity)


def test_registrations_have_number_and_credits(ada: Caller, term: Any, cast: Cast) -> None:
    for code, amount in (("CSC-1", 4), ("MAT-1", 3)):
        seat(cast.ada, builders.a_section(builders.a_course(code, amount), term))
    data = ada.get(f"/students/{cast.ada.id}/registrations").json["data"]
    assert (data["total_registrations"], data["enrolled_credits"]) == (2, 7)
    for each in data["registrations"]:
        assert each["registration_date"] == each["registered_at"]


def test_waitlist_entries_have_an_end_and_an_estimate(ada: Caller, term: Any, cast: Cast) -> None:
    full = builders.a_section(builders.a_course(), term, capacity=1)
    seat(cast.ben, full)
    requested = body(cast.ada, full) | {"wait": True}
    assert ada.post("/register", requested).json["data"]["summary"]["waitlisted"] == 1
    data = ada.get(f"/students/{cast.ada.id}/waitlist").json["data"]
    [entry] = data["waitlist_entries"]
    assert data["waitlist"] == data["waitlist_entries"]
    assert data["total_waitlist_entries"] == 1
    assert (entry["position"], entry["section"]["course_code"]) == (1, "CSC-1100")
    assert entry["added_at"] == entry["joined_at"]
    assert (
        entry["estimated_wait_time"] == "It is too early to say how likely you are to get a seat."
    )
    (window,) = ada.get("/windows", semester_id=term.id).json["data"]["windows"]
    assert entry["expires_at"] == window["closes_at"]


def test_no_estimate_is_given_outside_of_windows(
    ada: Caller, admin: Caller, term: Any, cast: Cast
) -> None:
    full = builders.a_section(builders.a_course(), term, capacity=1)
    seat(cast.ben, full)
    ada.post("/register", body(cast.ada, full) | {"wait": True})
    (window,) = backend().ledger.windows(term.id)
    backend().ledger.close_window(term.id, window.id, "tests")
    limits.forget_windows()
    for caller in (ada, admin):
        [entry] = caller.get(f"/students/{cast.ada.id}/waitlist").json["data"]["waitlist_entries"]
        assert entry["estimated_wait_time"] is None
