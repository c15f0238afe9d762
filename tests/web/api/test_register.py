"""POST /api/v1/register."""

from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from portal.backend import backend as parts
from portal.ledger.types import Registrations
from portal.recorder import receipts
from portal.web.api.registration import Registered, Result, Summary
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.api.callers import Caller, caller
from tests.web.pages import held, seat


def body(student: Any, term: Any, *sections: Any, **more: Any) -> dict[str, Any]:
    """Return a request for sections, given as ids or as objects."""
    ids = [each if isinstance(each, dict) else each.id for each in sections]
    return {"student_id": student.id, "semester_id": term.id, "section_ids": ids, **more}


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(), term, capacity=1)


def test_registration_has_a_number_and_a_receipt(
    ada: Caller, term: Any, section: Any, cast: Cast
) -> None:
    answer = ada.post("/register", body(cast.ada, term, section))
    [mine] = parts().ledger.registrations(term.id, cast.ada.id).enrolled
    assert answer.status_code == 200
    assert (answer.json["success"], answer.json["message"]) == (True, "1 added")
    assert answer.json["data"]["results"] == [
        {
            "section_id": section.id,
            "status": "enrolled",
            "message": f"You added CSC 1100-{section.number}.",
            "registration_id": mine.registration,
            "waitlist_position": None,
            "instead_of": None,
            "reasons": [],
            "receipt": receipts.code(term.id, mine.registration),
        }
    ]
    assert answer.json["data"]["summary"] == {
        "total_requested": 1,
        "enrolled": 1,
        "waitlisted": 0,
        "already_registered": 0,
        "errors": 0,
    }


def test_several_sections_have_results_in_order(ada: Caller, term: Any, cast: Cast) -> None:
    free, full, mine, barred = (
        builders.a_section(builders.a_course(f"CSC-{number}"), term, capacity=capacity, **more)
        for number, capacity, more in (
            (1, 1, {}),
            (2, 1, {}),
            (3, 1, {}),
            (4, 1, {"prerequisites": {"course": "MAT-1"}}),
        )
    )
    seat(cast.ben, full)
    seat(cast.ada, mine)
    [before] = parts().ledger.registrations(term.id, cast.ada.id).enrolled
    answer = ada.post("/register", body(cast.ada, term, barred, mine, full, free, wait=True))
    results = answer.json["data"]["results"]
    assert answer.status_code == 200
    assert [(each["section_id"], each["status"]) for each in results] == [
        (barred.id, "refused"),
        (mine.id, "already_registered"),
        (full.id, "waitlisted"),
        (free.id, "enrolled"),
    ]
    assert [each["code"] for each in results[0]["reasons"]] == ["prerequisite"]
    assert results[0]["message"] == "Requires MAT 1 (not on your record)."
    assert receipts.find(results[0]["receipt"])
    assert results[1]["registration_id"] == before.registration
    assert results[2]["waitlist_position"] == 1
    assert answer.json["data"]["summary"] == {
        "total_requested": 4,
        "enrolled": 1,
        "waitlisted": 1,
        "already_registered": 1,
        "errors": 1,
    }


def test_refusal_of_all_sections_is_a_conflict_with_results(
    ada: Caller, term: Any, section: Any, cast: Cast
) -> None:
    seat(cast.ben, section)
    answer = ada.post("/register", body(cast.ada, term, section))
    assert (answer.status_code, answer.mimetype) == (409, "application/problem+json")
    assert answer.json["success"] is False
    assert answer.json["type"] == "/api/docs#refused"
    [result] = answer.json["data"]["results"]
    assert (result["status"], result["registration_id"]) == ("refused", None)
    assert [each["code"] for each in result["reasons"]] == ["full"]
    assert receipts.find(result["receipt"]).reasons[0].code == "full"


def test_refusal_has_the_same_fields_as_a_success(
    ada: Caller, term: Any, section: Any, cast: Cast
) -> None:
    free = builders.a_section(builders.a_course("CSC-1"), term)
    seat(cast.ben, section)
    refused = ada.post("/register", body(cast.ada, term, section)).json["data"]
    granted = ada.post("/register", body(cast.ada, term, free)).json["data"]
    for data in (refused, granted):
        assert set(data) == set(Registered().fields)
        assert [set(each) for each in data["results"]] == [set(Result().fields)]
        assert set(data["summary"]) == set(Summary().fields)


def test_waiting_student_gets_the_position_again(
    ada: Caller, term: Any, section: Any, cast: Cast
) -> None:
    seat(cast.ben, section)
    ada.post("/register", body(cast.ada, term, section, wait=True))
    [again] = ada.post("/register", body(cast.ada, term, section, wait=True)).json["data"][
        "results"
    ]
    assert (again["status"], again["waitlist_position"]) == ("waitlisted", 1)
    assert [each["code"] for each in again["reasons"]] == ["already_waiting"]


def test_waiting_can_be_chosen_per_section(
    ada: Caller, term: Any, section: Any, cast: Cast
) -> None:
    other = builders.a_section(builders.a_course("CSC-2"), term, capacity=0)
    seat(cast.ben, section)
    wanted = {"section_id": section.id, "wait": True}
    results = ada.post("/register", body(cast.ada, term, wanted, other)).json["data"]["results"]
    assert [each["status"] for each in results] == ["waitlisted", "refused"]


def test_lecture_and_lab_are_taken_together_or_not_at_all(
    ada: Caller, term: Any, cast: Cast
) -> None:
    bio, practice = builders.a_course("BIO-1"), builders.a_course("BIO-2")
    lecture = builders.a_section(bio, term, corequisites={"course": "BIO-2"})
    full, free = (
        builders.a_section(practice, term, capacity=capacity, corequisites={"course": "BIO-1"})
        for capacity in (0, 1)
    )
    other = builders.a_section(builders.a_course("CSC-9"), term)
    refused = ada.post("/register", body(cast.ada, term, lecture, other, full)).json["data"]
    assert [each["status"] for each in refused["results"]] == ["refused", "enrolled", "refused"]
    assert held(term, cast.ada) == [other.id]
    had = ada.post("/register", body(cast.ada, term, lecture, free)).json["data"]
    assert [each["status"] for each in had["results"]] == ["enrolled", "enrolled"]


def test_seat_can_be_swapped(ada: Caller, term: Any, section: Any, cast: Cast) -> None:
    old = builders.a_section(builders.a_course("CSC-2"), term)
    seat(cast.ada, old)
    wanted = {"section_id": section.id, "instead_of": old.id}
    [result] = ada.post("/register", body(cast.ada, term, wanted)).json["data"]["results"]
    assert (result["status"], result["instead_of"]) == ("enrolled", old.id)
    assert held(term, cast.ada) == [section.id]


@pytest.mark.parametrize(
    ("amount", "status"), [(0.5, 200), (1, 200), (2, 200), (1.5, 422), (3, 422), (0.501, 422)]
)
def test_credits_must_be_offered_by_the_section(
    ada: Caller, term: Any, cast: Cast, amount: float, status: int
) -> None:
    section = builders.a_section(
        builders.a_course(), term, credits_min=Decimal("0.5"), credits_max=2
    )
    wanted = {"section_id": section.id, "credits": amount}
    answer = ada.post("/register", body(cast.ada, term, wanted))
    assert answer.status_code == status
    if status == 422:
        [wrong] = answer.json["errors"]
        assert wrong["pointer"] == "/section_ids/0/credits"
        assert wrong["message"] == "This section is offered for 0.5, 1, 2 credits."
    else:
        [mine] = parts().ledger.registrations(term.id, cast.ada.id).enrolled
        assert mine.credits == amount * 100


def test_refusal_has_every_reason(ada: Caller, term: Any, cast: Cast) -> None:
    monday = (Meets("M"),)
    one = builders.a_section(builders.a_course("CSC-1"), term, meetings=monday)
    two = builders.a_section(builders.a_course("CSC-2"), term, capacity=0, meetings=monday)
    seat(cast.ada, one)
    [result] = ada.post("/register", body(cast.ada, term, two)).json["data"]["results"]
    assert {each["code"] for each in result["reasons"]} == {"time_conflict", "full"}


def test_students_cannot_register_others(ada: Caller, term: Any, section: Any, cast: Cast) -> None:
    for student in (cast.ben.id, 999_999):
        answer = ada.post("/register", body(cast.ada, term, section) | {"student_id": student})
        assert answer.status_code == 403
        assert answer.json["detail"] == "A student can register only for themselves."


@pytest.mark.parametrize("username", ["iris", "max"])
def test_only_students_register(
    app: Flask, term: Any, section: Any, cast: Cast, username: str
) -> None:
    answer = caller(app, username).post("/register", body(cast.ada, term, section))
    assert (answer.status_code, answer.json["title"]) == (403, "Only students can do this")


def linked(term: Any) -> tuple[Any, Any]:
    """Return a lecture and its full lab with a waitlist."""
    lecture = builders.a_section(builders.a_course("BIO-1"), term, corequisites={"course": "BIO-2"})
    lab = builders.a_section(
        builders.a_course("BIO-2"), term, capacity=0, corequisites={"course": "BIO-1"}
    )
    return lecture, lab


def test_linked_sections_wait_only_if_each_may_wait(ada: Caller, term: Any, cast: Cast) -> None:
    lecture, lab = linked(term)
    first = {"section_id": lecture.id, "wait": True}
    answer = ada.post("/register", body(cast.ada, term, first, lab))
    assert answer.status_code == 409
    assert parts().ledger.registrations(term.id, cast.ada.id) == Registrations()
    answer = ada.post("/register", body(cast.ada, term, first, lab, wait=True))
    statuses = [each["status"] for each in answer.json["data"]["results"]]
    assert statuses == ["enrolled", "waitlisted"]


def test_linked_sections_can_be_swapped_for_one(ada: Caller, term: Any, cast: Cast) -> None:
    lecture, lab = linked(term)
    old, other = (builders.a_section(builders.a_course(f"ART-{n}"), term) for n in range(2))
    choices = [
        {"section_id": lecture.id, "instead_of": old.id},
        {"section_id": lab.id, "instead_of": other.id},
    ]
    answer = ada.post("/register", body(cast.ada, term, *choices))
    assert answer.status_code == 422
    [error] = answer.json["errors"]
    assert error["pointer"] == "/section_ids/1/instead_of"
