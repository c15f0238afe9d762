"""GET /api/v1/students/<id>/registrations and /waitlist: content and access."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend as parts
from portal.recorder.promotion import promote
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.api.callers import ROOT, Caller, caller
from tests.web.pages import seat


@pytest.fixture
def taught(term: Any, cast: Cast) -> Any:
    """Return a section that Iris teaches, in which Ada has a seat."""
    section = builders.a_section(
        builders.a_course("CSC-1"),
        term,
        instructor=cast.iris,
        meetings=(Meets(room="Hall 1"),),
        capacity=1,
    )
    seat(cast.ada, section)
    return section


@pytest.fixture
def other(term: Any, cast: Cast) -> Any:
    """Return a section of another instructor, in which Ada has a seat too."""
    section = builders.a_section(builders.a_course("CSC-2"), term)
    seat(cast.ada, section)
    return section


def seats(answer: Any) -> list[int]:
    assert answer.status_code == 200
    return [each["section_id"] for each in answer.json["data"]["registrations"]]


def test_registration_includes_its_section(ada: Caller, term: Any, taught: Any, cast: Cast) -> None:
    [mine] = parts().ledger.registrations(term.id, cast.ada.id).enrolled
    answer = ada.get(f"/students/{cast.ada.id}/registrations")
    [result] = answer.json["data"]["registrations"]
    section = result.pop("section")
    assert result.pop("registered_at").startswith("20")
    assert result.pop("registration_date").startswith("20")
    data = answer.json["data"]
    assert (data["total_registrations"], data["enrolled_credits"]) == (1, 4)
    assert result == {
        "registration_id": mine.registration,
        "semester_id": term.id,
        "section_id": taught.id,
        "status": "enrolled",
        "credits": 4,
    }
    assert section["name"] == f"CSC 1-{taught.number}"
    assert section["instructor"] == "Iris"
    assert section["seats"]["available"] == 0
    schedule = section["schedule"]
    assert (schedule["days"], schedule["time"], schedule["location"]) == (
        "Mon Thu",
        "10:00–11:50 am",
        "Hall 1",
    )


def test_waitlist_entry_has_position_and_size(
    ada: Caller, ben: Caller, term: Any, taught: Any, cast: Cast
) -> None:
    assert ada.get(f"/students/{cast.ada.id}/waitlist").json["data"]["waitlist"] == []
    body = {"student_id": cast.ben.id, "semester_id": term.id, "section_ids": [taught.id]}
    ben.post("/register", body | {"wait": True})
    [position] = ben.get(f"/students/{cast.ben.id}/waitlist").json["data"]["waitlist"]
    assert (position["waitlist_position"], position["waitlist_size"]) == (1, 1)
    assert (position["section_id"], position["instead_of"], position["passed_over"]) == (
        taught.id,
        None,
        [],
    )


def test_skipped_waitlist_entry_has_reasons(
    ada: Caller, ben: Caller, term: Any, taught: Any, cast: Cast
) -> None:
    body = {"student_id": cast.ben.id, "semester_id": term.id, "section_ids": [taught.id]}
    ben.post("/register", body | {"wait": True})
    seat(cast.ben, builders.a_section(builders.a_course("CSC-9"), term, meetings=(Meets("M"),)))
    ada.post("/register/drop", {"student_id": cast.ada.id, "section_id": taught.id})
    promote(term.id, "tests")
    [position] = ben.get(f"/students/{cast.ben.id}/waitlist").json["data"]["waitlist"]
    assert [each["code"] for each in position["passed_over"]] == ["time_conflict"]


def test_records_can_be_limited_to_a_semester(
    ada: Caller, term: Any, taught: Any, cast: Cast
) -> None:
    spring = builders.a_term("Spring 2031")
    builders.an_open_window(spring)
    later = builders.a_section(builders.a_course("CSC-2"), spring)
    seat(cast.ada, later)
    path = f"/students/{cast.ada.id}/registrations"
    assert set(seats(ada.get(path))) == {taught.id, later.id}
    assert seats(ada.get(path, semester_id=term.id)) == [taught.id]
    assert ada.get(path, semester_id=999_999).status_code == 404


@pytest.mark.usefixtures("other")
@pytest.mark.parametrize("what", ["registrations", "waitlist"])
def test_students_see_only_their_own_records(
    app: Flask, taught: Any, cast: Cast, what: str
) -> None:
    path = f"/students/{cast.ada.id}/{what}"
    expected = {"ada": 200, "ben": 404, "iris": 200, "otto": 404, "max": 200}
    found = {name: caller(app, name).get(path).status_code for name in expected}
    assert found == expected
    assert taught


@pytest.mark.usefixtures("other")
def test_instructor_sees_records_of_own_sections(iris: Caller, taught: Any, cast: Cast) -> None:
    assert seats(iris.get(f"/students/{cast.ada.id}/registrations")) == [taught.id]


def test_instructor_sees_no_other_sections_in_waitlist_reasons(
    ben: Caller, iris: Caller, term: Any, taught: Any, cast: Cast
) -> None:
    mine = builders.a_section(builders.a_course("CSC-3"), term)
    seat(cast.ben, mine)
    wanted = {"section_id": taught.id, "instead_of": mine.id, "wait": True}
    body = {"student_id": cast.ben.id, "semester_id": term.id, "section_ids": [wanted]}
    ben.post("/register", body)
    path = f"/students/{cast.ben.id}/waitlist"
    assert ben.get(path).json["data"]["waitlist"][0]["instead_of"] == mine.id
    assert iris.get(path).json["data"]["waitlist"][0]["instead_of"] is None


def test_an_admin_sees_everything(admin: Caller, taught: Any, other: Any, cast: Cast) -> None:
    found = seats(admin.get(f"/students/{cast.ada.id}/registrations"))
    assert set(found) == {taught.id, other.id}


@pytest.mark.usefixtures("taught")
def test_unknown_and_foreign_students_get_the_same_response(
    ben: Caller, iris: Caller, admin: Caller, cast: Cast
) -> None:
    for who in (ben, iris):
        answer = [
            who.get(f"/students/{student}/registrations") for student in (cast.dan.id, 999_999)
        ]
        own = {"correlation", "instance"}  # of each request
        facts = [{k: v for k, v in each.json.items() if k not in own} for each in answer]
        assert facts[0]["status"] == 404
        assert facts[0] == facts[1]
    assert admin.get("/students/999999/registrations").status_code == 404


def test_anonymous_requests_get_401(client: FlaskClient, cast: Cast) -> None:
    answer = client.get(f"{ROOT}/students/{cast.ada.id}/registrations")
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
