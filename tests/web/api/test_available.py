"""GET /api/v1/sections/available, /semesters and /windows."""

from collections.abc import Callable
from typing import Any

import pytest

from portal.backend import backend
from portal.catalog.models import Reserve
from portal.registration import limits
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.api.callers import Caller
from tests.web.pages import seat
from tests.web.student.test_reserved_seats import changed


def found(caller: Caller, term: Any, **args: Any) -> list[int]:
    answer = caller.get("/sections/available", semester_id=term.id, **args)
    assert answer.status_code == 200
    return [each["section_id"] for each in answer.json["data"]["sections"]]


def test_section_has_course_seats_and_instructor(ada: Caller, term: Any, cast: Cast) -> None:
    course = builders.a_course("CSC-1100", title="Data Structures")
    section = builders.a_section(course, term, instructor=cast.iris, crn="10412")
    seat(cast.ben, section)
    data = ada.get("/sections/available", semester_id=term.id).json["data"]
    [result] = data.pop("sections")
    assert data.pop("sentence").startswith("Closes in")
    assert data.pop("window_id")
    assert data == {
        "answer": "open",
        "page": 1,
        "per_page": 40,
        "pages": 1,
        "total": 1,
        "total_sections": 1,
        "total_available_seats": 1,
    }
    assert result.pop("schedule")
    assert result == {
        "section_id": section.id,
        "semester_id": term.id,
        "name": "CSC 1100-01",
        "section_number": "01",
        "crn": "10412",
        "title": "Data Structures",
        "course_code": "CSC-1100",
        "course_name": "Data Structures",
        "status": "OPEN",
        "credits": {"least": 4, "most": 4, "choices": [4]},
        "course": {
            "id": course.id,
            "code": "CSC-1100",
            "title": "Data Structures",
            "subject": "Field of CSC",
            "course_id": course.id,
            "course_code": "CSC-1100",
            "course_name": "Data Structures",
        },
        "seats": {
            "capacity": 2,
            "taken": 1,
            "available": 1,
            "kept": 0,
            "open_to_you": 1,
            "claimable": True,
            "waiting": 0,
            "waitlist_capacity": 5,
        },
        "total_seats": 2,
        "available_seats": 1,
        "instructor": "Iris",
    }


def of_no_window(term: Any) -> None:
    """Return a term without windows."""


def of_another_cohort(term: Any) -> None:
    builders.an_open_window(term, cohort={"years": ["Senior"]})


@pytest.mark.parametrize(
    ("schedule", "reply"),
    [
        (of_no_window, "unscheduled"),
        (builders.a_coming_window, "before"),
        (builders.an_ended_window, "ended"),
        (of_another_cohort, "unscheduled"),
    ],
)
def test_students_see_restricted_sections_only_in_their_window(
    ada: Caller, iris: Caller, admin: Caller, schedule: Callable[[Any], Any], reply: str
) -> None:
    term = builders.a_term()
    schedule(term)
    section = builders.a_section(builders.a_course(), term)
    limits.forget_windows()
    for narrowed in ({}, {"q": "course"}, {"free": "true"}, {"course_id": section.course_id}):
        answer = ada.get("/sections/available", semester_id=term.id, **narrowed)
        data = answer.json["data"]
        assert (answer.status_code, data["sections"], data["answer"]) == (200, [], reply)
        assert (data["total"], data["total_available_seats"]) == (0, 0)
        assert answer.json["message"] == data["sentence"]
    assert found(iris, term) == found(admin, term) == [section.id]


def test_held_sections_stay_visible_after_the_end(ada: Caller, term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(title="Logic"), term)
    seat(cast.ada, section)
    (window,) = backend().ledger.windows(term.id)
    backend().ledger.close_window(term.id, window.id, "tests")
    limits.forget_windows()
    assert found(ada, term) == []
    [mine] = ada.get(f"/students/{cast.ada.id}/registrations").json["data"]["registrations"]
    assert mine["section"]["title"] == "Logic"


@pytest.mark.parametrize(("year", "open_to_you"), [("Freshman", 2), ("Senior", 0)])
def test_reserved_seats_are_open_to_their_cohort(
    ada: Caller, term: Any, year: str, open_to_you: int
) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=2)
    changed(section, Reserve(section_id=section.id, seats=2, cohort={"years": [year]}))
    data = ada.get("/sections/available", semester_id=term.id).json["data"]
    seats = data["sections"][0]["seats"]
    assert (seats["available"], seats["kept"]) == (0, 2)
    assert seats["open_to_you"] == open_to_you
    assert seats["claimable"] == bool(open_to_you)
    assert found(ada, term, free="true") == ([section.id] if open_to_you else [])


def test_schedule_is_given_in_words_and_as_meetings(ada: Caller, term: Any) -> None:
    meetings = (
        Meets("MR", room="Hall 1"),
        Meets("W", "14:00", "15:50", kind="LAB", dates=("2030-09-02", "2030-10-18")),
        Meets("F", clashes=False, kind="TES"),
    )
    builders.a_section(builders.a_course(), term, meetings=meetings)
    [data] = ada.get("/sections/available", semester_id=term.id).json["data"]["sections"]
    schedule = data["schedule"]
    assert schedule.pop("meetings")[1] == {
        "kind": "Lab",
        "days": ["wed"],
        "starts": "14:00",
        "ends": "15:50",
        "first_day": "2030-09-02",
        "last_day": "2030-10-18",
        "location": "",
    }
    assert schedule == {
        "days": "Mon Thu; Wed",
        "time": "10:00–11:50 am; 2:00–3:50 pm",
        "location": "Hall 1",
    }


def test_list_has_only_open_sections_for_the_student(ada: Caller, iris: Caller, term: Any) -> None:
    course = builders.a_course("CSC-1")
    mine = builders.a_section(course, term)
    for status in ("NEW", "CONFIRMED", "CANCELED"):
        builders.a_section(course, term, status=status)
    seniors = builders.a_course("CSC-2", public=False, years=["Senior"])
    theirs = builders.a_section(seniors, term)
    assert found(ada, term) == [mine.id]
    assert found(iris, term) == [mine.id, theirs.id]


def test_sections_can_be_filtered_by_course_words_and_free_seats(
    ada: Caller, term: Any, cast: Cast
) -> None:
    one, two = builders.a_course("CSC-1", title="Logic"), builders.a_course("CSC-2", title="Sets")
    full = builders.a_section(one, term, capacity=1)
    free = builders.a_section(one, term)
    other = builders.a_section(two, term)
    seat(cast.ben, full)
    assert found(ada, term, course_id=one.id) == [full.id, free.id]
    assert found(ada, term, course_id=999_999) == []
    assert found(ada, term, q="sets") == [other.id]
    assert found(ada, term, free="true") == [free.id, other.id]
    assert found(ada, term, free="false") == [full.id, free.id, other.id]


def test_sections_are_paged(ada: Caller, term: Any) -> None:
    course = builders.a_course()
    sections = [builders.a_section(course, term).id for _ in range(5)]
    assert found(ada, term, per_page=2, page=2) == sections[2:4]
    assert found(ada, term, per_page=2, page=9) == []
    data = ada.get("/sections/available", semester_id=term.id, per_page=2).json["data"]
    assert (data["pages"], data["total"]) == (3, 5)


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ({"semester_id": "x"}, "semester_id"),
        ({"semester_id": "1.5"}, "semester_id"),
        ({"semester_id": "-1"}, "semester_id"),
        ({"semester_id": "9" * 12}, "semester_id"),
        ({"semester_id": "\u0661"}, "semester_id"),
        ({}, "semester_id"),
        ({"semester_id": 1, "course_id": ""}, "course_id"),
        ({"semester_id": 1, "page": 0}, "page"),
        ({"semester_id": 1, "per_page": 101}, "per_page"),
        ({"semester_id": 1, "free": "1"}, "free"),
        ({"semester_id": 1, "q": "x" * 201}, "q"),
    ],
    ids=str,
)
def test_invalid_argument_is_named(ada: Caller, args: dict[str, Any], name: str) -> None:
    answer = ada.get("/sections/available", **args)
    assert answer.status_code == 422
    assert [(each["in"], each["pointer"]) for each in answer.json["errors"]] == [
        ("query", f"/{name}")
    ]


def test_unknown_semester_is_not_found(ada: Caller) -> None:
    for path in ("/sections/available", "/windows"):
        assert ada.get(path, semester_id=999_999).status_code == 404


def test_words_with_invalid_characters_find_nothing(ada: Caller, term: Any) -> None:
    assert found(ada, term, q="a\0b") == []


def test_semesters_are_sorted_latest_first(ada: Caller, term: Any) -> None:
    starts, last_add = builders.date(2031, 1, 20), builders.date(2031, 1, 31)
    builders.a_term("Spring 2031", starts_on=starts, add_deadline=last_add)
    data = ada.get("/semesters").json["data"]["semesters"]
    assert [each["name"] for each in data] == ["Spring 2031", "Fall 2030"]
    assert data[0]["add_deadline"] == "2031-01-31"
    known = {
        "semester_id": term.id,
        "name": "Fall 2030",
        "starts_on": "2030-08-26",
        "ends_on": "2030-12-20",
        "credit_limit": 21,
        "drops_per_day": 3,
        "add_deadline": None,
        "drop_deadline": None,
        "withdraw_deadline": None,
        "waitlist_order": "",
    }
    assert data[1].items() >= known.items()


def test_student_sees_own_windows_and_their_phase(ada: Caller, admin: Caller) -> None:
    term = builders.a_term()
    assert ada.get("/windows", semester_id=term.id).json["data"]["answer"] == "unscheduled"
    seniors = builders.an_open_window(term, cohort={"years": ["Senior"]})
    mine = builders.a_coming_window(term, minutes=30)
    limits.forget_windows()
    data = ada.get("/windows", semester_id=term.id).json["data"]
    assert (data["answer"], data["window_id"]) == ("before", mine.id)
    assert data["sentence"] == "Opens in 30 minutes"
    [window] = data["windows"]
    assert (window["window_id"], window["state"], window["answer"]) == (
        mine.id,
        "scheduled",
        "before",
    )
    everyone = admin.get("/windows", semester_id=term.id).json["data"]
    assert {each["window_id"] for each in everyone["windows"]} == {seniors.id, mine.id}
    assert everyone["answer"] == "open"
