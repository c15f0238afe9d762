"""One key, one decision: replays, also of refusals, and reused keys."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from portal.backend import backend as parts
from portal.catalog.term_catalog import expire
from portal.core.db import transaction
from portal.web.api.idempotency import KEY_HEADER, REPLAYED_HEADER
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.web.api.callers import Caller, caller
from tests.web.pages import held

KEY = "autumn-2030"
AT_ONCE = 8


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(), term, capacity=5)


def replayed(answer: TestResponse) -> bool:
    return answer.headers.get(REPLAYED_HEADER) == "true"


def test_repeated_request_gets_the_same_response(
    ada: Caller, term: Any, section: Any, body: dict[str, Any], cast: Cast
) -> None:
    first = ada.post("/register", body, Idempotency_Key=KEY)
    second = ada.post("/register", body, Idempotency_Key=KEY)
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json == second.json
    assert (replayed(first), replayed(second)) == (False, True)
    assert second.headers[KEY_HEADER] == second.json["data"]["idempotency_key"] == KEY
    assert held(term, cast.ada) == [section.id]


def test_key_can_be_in_header_or_body(ada: Caller, body: dict[str, Any]) -> None:
    ada.post("/register", body, Idempotency_Key=KEY)
    assert replayed(ada.post("/register", body | {"idempotency_key": KEY}))
    assert replayed(ada.post("/register", body | {"idempotency_key": KEY}, Idempotency_Key=KEY))


def test_different_keys_in_header_and_body_are_refused(ada: Caller, body: dict[str, Any]) -> None:
    answer = ada.post("/register", body | {"idempotency_key": "another-key"}, Idempotency_Key=KEY)
    assert answer.status_code == 400
    assert answer.json["errors"][0]["pointer"] == "/idempotency_key"


def test_invalid_key_header_is_refused(ada: Caller, body: dict[str, Any]) -> None:
    answer = ada.post("/register", body, Idempotency_Key="no key")
    assert answer.status_code == 422
    assert [(each["in"], each["pointer"]) for each in answer.json["errors"]] == [
        ("header", "/Idempotency-Key")
    ]


def test_missing_key_is_generated_and_returned(ada: Caller, body: dict[str, Any]) -> None:
    first = ada.post("/register", body)
    made = first.headers[KEY_HEADER]
    assert replayed(ada.post("/register", body, Idempotency_Key=made))


def test_key_of_another_request_is_refused(
    ada: Caller, term: Any, body: dict[str, Any], cast: Cast
) -> None:
    other = builders.a_section(builders.a_course("CSC-2"), term)
    ada.post("/register", body, Idempotency_Key=KEY)
    header = ada.post("/register", body | {"section_ids": [other.id]}, Idempotency_Key=KEY)
    in_body = ada.post("/register", body | {"section_ids": [other.id], "idempotency_key": KEY})
    for answer, where in ((header, "/Idempotency-Key"), (in_body, "/idempotency_key")):
        assert (answer.status_code, answer.json["type"]) == (400, "/api/docs#key-reused")
        assert answer.json["errors"][0]["pointer"] == where
    assert other.id not in held(term, cast.ada)


@pytest.mark.parametrize("changed", ["credits", "wait", "instead_of"])
def test_key_covers_all_fields_of_a_section(
    ada: Caller, term: Any, cast: Cast, changed: str
) -> None:
    section = builders.a_section(builders.a_course("RES-1"), term, credits_min=1, credits_max=3)
    held_ = builders.a_section(builders.a_course("MAT-1"), term)
    more = {"credits": 3, "wait": True, "instead_of": held_.id}
    choice = {"section_id": section.id, "credits": 2}
    body = {"student_id": cast.ada.id, "section_ids": [choice]}
    ada.post("/register", body | {"section_ids": [held_.id]})
    ada.post("/register", body, Idempotency_Key=KEY)
    other = body | {"section_ids": [choice | {changed: more[changed]}]}
    answer = ada.post("/register", other, Idempotency_Key=KEY)
    assert (answer.status_code, answer.json["type"]) == (400, "/api/docs#key-reused")
    assert held(term, cast.ada) == [section.id, held_.id]


def test_key_belongs_to_one_student(
    ada: Caller, ben: Caller, body: dict[str, Any], cast: Cast
) -> None:
    ada.post("/register", body, Idempotency_Key=KEY)
    answer = ben.post("/register", body | {"student_id": cast.ben.id}, Idempotency_Key=KEY)
    assert not replayed(answer)
    assert answer.json["data"]["summary"]["enrolled"] == 1


def test_refusal_is_replayed_after_its_reasons_are_gone(
    ada: Caller, ben: Caller, term: Any, cast: Cast
) -> None:
    full = builders.a_section(builders.a_course(), term, capacity=1)
    ask = {"semester_id": term.id, "section_ids": [full.id]}
    ben.post("/register", ask | {"student_id": cast.ben.id})
    first = ada.post("/register", ask | {"student_id": cast.ada.id}, Idempotency_Key=KEY)
    ben.post("/register/drop", {"student_id": cast.ben.id, "section_id": full.id})
    second = ada.post("/register", ask | {"student_id": cast.ada.id}, Idempotency_Key=KEY)
    assert (first.status_code, second.status_code) == (409, 409)
    assert second.json["data"] == first.json["data"]
    assert (replayed(first), replayed(second)) == (False, True)
    assert held(term, cast.ada) == []
    fresh = ada.post("/register", ask | {"student_id": cast.ada.id})
    assert fresh.status_code == 200


def test_refused_key_with_another_section_enrolls_in_nothing(
    ada: Caller, term: Any, section: Any, cast: Cast
) -> None:
    full = builders.a_section(builders.a_course("CSC-2"), term, capacity=0)
    ask = {"student_id": cast.ada.id, "semester_id": term.id}
    refused = ada.post("/register", ask | {"section_ids": [full.id]}, Idempotency_Key=KEY)
    assert refused.status_code == 409
    again = ada.post("/register", ask | {"section_ids": [section.id]}, Idempotency_Key=KEY)
    assert (again.status_code, again.json["type"]) == (400, "/api/docs#key-reused")
    assert held(term, cast.ada) == []


def test_repeated_waitlist_position_is_replayed(ada: Caller, term: Any, cast: Cast) -> None:
    full = builders.a_section(builders.a_course(), term, capacity=0)
    ask = {"student_id": cast.ada.id, "semester_id": term.id, "section_ids": [full.id]}
    ask["wait"] = True
    ada.post("/register", ask)
    first = ada.post("/register", ask, Idempotency_Key=KEY)
    assert first.json["data"]["results"][0]["status"] == "waitlisted"
    ada.post("/register/leave", {"student_id": cast.ada.id, "section_id": full.id})
    second = ada.post("/register", ask, Idempotency_Key=KEY)
    assert (replayed(second), second.json) == (True, first.json)
    assert not parts().ledger.registrations(term.id, cast.ada.id).waiting


@pytest.mark.parametrize("act", ["drop", "leave"])
def test_refused_drop_or_leave_is_replayed(ada: Caller, term: Any, cast: Cast, act: str) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=int(act == "drop"))
    gone = {"student_id": cast.ada.id, "section_id": section.id}
    assert ada.post(f"/register/{act}", gone, Idempotency_Key=KEY).status_code == 409
    assert claim(cast.ada, section).outcome != "refused"
    again = ada.post(f"/register/{act}", gone, Idempotency_Key=KEY)
    assert (again.status_code, replayed(again)) == (409, True)
    registrations = parts().ledger.registrations(term.id, cast.ada.id)
    assert len(registrations.enrolled + registrations.waiting) == 1


def test_replay_matches_after_a_catalog_change(ada: Caller, term: Any, cast: Cast) -> None:
    """Both the credits of a section and the order of decision come from the catalog."""
    lecture = builders.a_section(builders.a_course("BIO-1"), term)
    lab = builders.a_section(builders.a_course("BIO-2"), term)
    ask = {"student_id": cast.ada.id, "semester_id": term.id}
    ask["section_ids"] = [lecture.id, lab.id]
    first = ada.post("/register", ask, Idempotency_Key=KEY)
    with transaction() as session:
        session.execute(
            text("UPDATE sections SET credits_min = 2, credits_max = 2 WHERE id = :lecture"),
            {"lecture": lecture.id},
        )
        session.execute(
            text("UPDATE sections SET corequisites = :tree WHERE id = :lecture"),
            {"lecture": lecture.id, "tree": '{"course": "BIO-2"}'},
        )
    expire(term.id)
    second = ada.post("/register", ask, Idempotency_Key=KEY)
    assert (second.status_code, replayed(second)) == (200, True)
    assert second.json == first.json


def test_simultaneous_requests_with_one_key_get_one_decision(
    app: Flask, term: Any, section: Any, body: dict[str, Any]
) -> None:
    callers = [caller(app, "ada") for _ in range(AT_ONCE)]
    together = Barrier(AT_ONCE)

    def send(who: Caller) -> TestResponse:
        together.wait()
        return who.post("/register", body, Idempotency_Key=KEY)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(send, callers))
    assert {each.status_code for each in answers} == {200}
    assert [replayed(each) for each in answers].count(False) == 1
    assert len({each.text for each in answers}) == 1
    assert parts().ledger.seats(term.id)[section.id].taken == 1


def test_a_drop_is_replayed_too(
    ada: Caller, section: Any, body: dict[str, Any], cast: Cast
) -> None:
    ada.post("/register", body)
    gone = {"student_id": cast.ada.id, "section_id": section.id}
    first = ada.post("/register/drop", gone, Idempotency_Key=KEY)
    second = ada.post("/register/drop", gone, Idempotency_Key=KEY)
    assert (first.status_code, first.json) == (200, second.json)
    assert (replayed(first), replayed(second)) == (False, True)
