"""POST /api/v1/register/drop and /leave."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from portal.backend import backend as parts
from portal.catalog.models import Instructor
from portal.core.db import transaction
from portal.people.models import Account
from portal.recorder import recorded_state
from portal.recorder.promotion import promote
from portal.recorder.receipts import code
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.recorder.processes import wait_for
from tests.web.api.callers import Caller, caller
from tests.web.pages import held, seat


@pytest.fixture
def section(term: Any, cast: Cast) -> Any:
    """Return a section of one seat, held by Ada."""
    found = builders.a_section(builders.a_course(), term, capacity=1)
    seat(cast.ada, found)
    return found


def gone(student: Any, section: Any, **more: Any) -> dict[str, Any]:
    return {"student_id": student.id, "section_id": section.id, **more}


def queue(caller: Caller, student: Any, section: Any) -> None:
    """Join the waitlist of a section."""
    body = {"student_id": student.id, "semester_id": section.term_id, "wait": True}
    answer = caller.post("/register", body | {"section_ids": [section.id]})
    assert answer.json["data"]["results"][0]["status"] == "waitlisted"


@contextmanager
def a_worker(term: int) -> Iterator[None]:
    """Run a worker that only promotes."""
    ended = Event()

    def work() -> None:
        while not ended.wait(0.005):
            promote(term, "tests")

    worker = Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        ended.set()
        worker.join()


def test_seat_can_be_dropped(ada: Caller, term: Any, section: Any, cast: Cast) -> None:
    answer = ada.post("/register/drop", gone(cast.ada, section, semester_id=term.id))
    data = answer.json["data"]
    assert (answer.status_code, answer.json["success"]) == (200, True)
    assert answer.json["message"] == f"You dropped CSC 1100-{section.number}."
    assert (data["section_id"], data["student_id"]) == (section.id, cast.ada.id)
    assert (data["seat_released"], data["waitlist_processed"]) == (True, False)
    assert data["promoted_student_id"] is None
    assert data["receipt"] == code(term.id, parts().ledger.seats(term.id)[section.id].seq)
    assert held(term, cast.ada) == []


def test_unrelated_sections_dropped_along_count_separately(
    ada: Caller, term: Any, section: Any, cast: Cast
) -> None:
    others = [builders.a_section(builders.a_course(f"MAT-{n}"), term) for n in range(3)]
    for each in others:
        seat(cast.ada, each)
    along = [each.id for each in others]
    refused = ada.post("/register/drop", gone(cast.ada, section, along=along))
    assert refused.status_code == 409
    assert [each["code"] for each in refused.json["data"]["reasons"]] == ["drop_limit"]
    assert len(held(term, cast.ada)) == 4
    assert ada.post("/register/drop", gone(cast.ada, section, along=along[1:])).status_code == 200
    assert list(parts().ledger.drops(term.id, cast.ada.id).values()) == [3]
    drain(term.id)
    assert list(recorded_state.drops(term.id, cast.ada.id).values()) == [3]  # as it was recorded


def test_semester_follows_from_the_section(
    ada: Caller, term: Any, section: Any, cast: Cast
) -> None:
    builders.a_section(builders.a_course("CSC-2"), builders.a_term("Spring 2031"))
    assert (
        ada.post("/register/drop", gone(cast.ada, section)).json["data"]["semester_id"] == term.id
    )


def test_drop_reports_that_the_waitlist_is_being_processed(
    ada: Caller, ben: Caller, section: Any, cast: Cast
) -> None:
    queue(ben, cast.ben, section)
    data = ada.post("/register/drop", gone(cast.ada, section)).json["data"]
    assert (data["seat_released"], data["waitlist_processed"]) == (True, None)


def test_drop_reports_the_processed_waitlist_without_names(
    ada: Caller, ben: Caller, term: Any, section: Any, cast: Cast
) -> None:
    queue(ben, cast.ben, section)
    promote(term.id, "tests")  # the catalog is at hand
    with a_worker(term.id):
        data = ada.post("/register/drop", gone(cast.ada, section), Idempotency_Key="the-drop")
        again = ada.post("/register/drop", gone(cast.ada, section), Idempotency_Key="the-drop")
        wait_for(lambda: held(term, cast.ben) == [section.id])
    late = ada.post("/register/drop", gone(cast.ada, section), Idempotency_Key="the-drop")
    assert late.json["data"]["waitlist_processed"] is True
    for answer in (data, again, late):
        assert answer.json["data"]["waitlist_processed"] in {True, None}
        assert answer.json["data"]["promoted_student_id"] is None


@pytest.mark.parametrize("recorded", [False, True], ids=["by the journal", "by the event log"])
def test_student_who_is_admin_sees_who_was_promoted(
    app: Flask, ben: Caller, term: Any, section: Any, cast: Cast, *, recorded: bool
) -> None:
    with transaction() as session:
        mine = Account.id == cast.ada.account_id
        session.execute(update(Account).where(mine).values(is_admin=True))
    both = caller(app, "ada")
    queue(ben, cast.ben, section)
    both.post("/register/drop", gone(cast.ada, section), Idempotency_Key="the-drop")
    seat(cast.cleo, builders.a_section(builders.a_course("MAT-1"), term))  # an event between both
    promote(term.id, "tests")
    if recorded:
        drain(term.id)
    data = both.post("/register/drop", gone(cast.ada, section), Idempotency_Key="the-drop").json
    assert data["data"]["promoted_student_id"] == cast.ben.id


def test_student_who_teaches_the_section_sees_who_was_promoted(
    app: Flask, ben: Caller, term: Any, cast: Cast
) -> None:
    with transaction() as session:
        teaches = Instructor.id == cast.iris.id
        session.execute(update(Instructor).where(teaches).values(account_id=cast.ada.account_id))
    both = caller(app, "ada")
    hers, his = (
        builders.a_section(
            builders.a_course(f"MAT-{instructor.id}"), term, capacity=1, instructor=instructor
        )
        for instructor in (cast.iris, cast.otto)
    )
    for section, result in ((hers, cast.ben.id), (his, None)):
        seat(cast.ada, section)
        queue(ben, cast.ben, section)
        key = f"the-drop-{section.id}"
        both.post("/register/drop", gone(cast.ada, section), Idempotency_Key=key)
        promote(term.id, "tests")
        data = both.post("/register/drop", gone(cast.ada, section), Idempotency_Key=key).json
        assert data["data"]["promoted_student_id"] == result


def test_drop_in_a_section_over_capacity_frees_no_seat(ada: Caller, term: Any, cast: Cast) -> None:
    course = builders.a_course("CSC-2")
    crowded = builders.a_section(course, term, capacity=2, prior_enrolled=1)
    seat(cast.ada, crowded)
    parts().redis.hset(f"{{t:{term.id}}}:section:{crowded.id}", "prior", 2)
    data = ada.post("/register/drop", gone(cast.ada, crowded)).json["data"]
    assert (data["seat_released"], data["waitlist_processed"]) == (False, False)


def test_drop_without_a_seat_is_a_conflict_with_reason_and_receipt(
    ben: Caller, section: Any, cast: Cast
) -> None:
    answer = ben.post("/register/drop", gone(cast.ben, section))
    assert (answer.status_code, answer.mimetype) == (409, "application/problem+json")
    data = answer.json["data"]
    assert [each["code"] for each in data["reasons"]] == ["not_enrolled"]
    assert (data["dropped_at"], data["seat_released"]) == (None, False)
    assert data["receipt"]


def test_dependent_section_is_dropped_too(ada: Caller, term: Any, cast: Cast) -> None:
    bio, practice = builders.a_course("BIO-1"), builders.a_course("BIO-2")
    lecture = builders.a_section(bio, term, corequisites={"course": "BIO-2"})
    lab = builders.a_section(practice, term, corequisites={"course": "BIO-1"})
    body = {"student_id": cast.ada.id, "semester_id": term.id}
    ada.post("/register", body | {"section_ids": [lecture.id, lab.id]})
    alone = ada.post("/register/drop", gone(cast.ada, lab))
    assert [each["code"] for each in alone.json["data"]["reasons"]] == ["needed_by"]
    assert ada.post("/register/drop", gone(cast.ada, lab, along=[lecture.id])).status_code == 200
    assert held(term, cast.ada) == []


def test_waitlist_can_be_left(ben: Caller, section: Any, cast: Cast) -> None:
    queue(ben, cast.ben, section)
    answer = ben.post("/register/leave", gone(cast.ben, section))
    assert answer.status_code == 200
    assert answer.json["message"] == f"You left the waitlist for CSC 1100-{section.number}."
    assert answer.json["data"]["left_at"]
    again = ben.post("/register/leave", gone(cast.ben, section))
    assert again.status_code == 409
    assert [each["code"] for each in again.json["data"]["reasons"]] == ["not_waiting"]


@pytest.mark.parametrize("act", ["drop", "leave"])
def test_students_cannot_drop_seats_of_others(
    app: Flask, section: Any, cast: Cast, act: str
) -> None:
    for name in ("ben", "iris", "max"):
        answer = caller(app, name).post(f"/register/{act}", gone(cast.ada, section))
        assert answer.status_code == 403
    assert parts().ledger.seats(section.term_id)[section.id].taken == 1


@pytest.mark.parametrize("act", ["drop", "leave"])
def test_unknown_section_is_named(ada: Caller, term: Any, cast: Cast, act: str) -> None:
    for more in ({}, {"semester_id": term.id}):
        body = {"student_id": cast.ada.id, "section_id": 999_999, **more}
        answer = ada.post(f"/register/{act}", body)
        assert answer.status_code == 404
        assert answer.json["errors"][0]["pointer"] == "/section_id"
