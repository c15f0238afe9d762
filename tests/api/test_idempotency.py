"""One key, one decision: replays, keys that stood for something else, requests in flight."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from portal.api import keys
from portal.backend import backend as parts
from portal.db import transaction
from portal.seats import flights
from tests import cast as builders
from tests.api.callers import Caller, caller
from tests.cast import Cast
from tests.record.processes import wait_for
from tests.web.visits import held

KEY = "autumn-2030"
AT_ONCE = 8


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(), term, capacity=5)


def replayed(answer: TestResponse) -> bool:
    return answer.headers.get(keys.REPLAYED) == "true"


def test_the_same_request_gets_the_same_answer(
    ada: Caller, term: Any, section: Any, body: dict[str, Any], cast: Cast
) -> None:
    first = ada.post("/register", body, Idempotency_Key=KEY)
    second = ada.post("/register", body, Idempotency_Key=KEY)
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json == second.json
    assert (replayed(first), replayed(second)) == (False, True)
    assert second.headers[keys.HEADER] == second.json["data"]["idempotency_key"] == KEY
    assert held(term, cast.ada) == [section.id]


def test_header_and_body_carry_the_same_key(ada: Caller, body: dict[str, Any]) -> None:
    ada.post("/register", body, Idempotency_Key=KEY)
    assert replayed(ada.post("/register", body | {"idempotency_key": KEY}))
    assert replayed(ada.post("/register", body | {"idempotency_key": KEY}, Idempotency_Key=KEY))


def test_two_keys_that_differ_are_refused(ada: Caller, body: dict[str, Any]) -> None:
    answer = ada.post("/register", body | {"idempotency_key": "another-key"}, Idempotency_Key=KEY)
    assert answer.status_code == 400
    assert answer.json["errors"][0]["pointer"] == "/idempotency_key"


def test_a_header_that_is_no_key_is_refused(ada: Caller, body: dict[str, Any]) -> None:
    answer = ada.post("/register", body, Idempotency_Key="no key")
    assert answer.status_code == 422
    assert [(each["in"], each["pointer"]) for each in answer.json["errors"]] == [
        ("header", "/Idempotency-Key")
    ]


def test_without_a_key_one_is_made_and_told(ada: Caller, body: dict[str, Any]) -> None:
    first = ada.post("/register", body)
    made = first.headers[keys.HEADER]
    assert replayed(ada.post("/register", body, Idempotency_Key=made))


def test_a_key_that_stood_for_something_else_is_refused(
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


def test_a_key_is_its_students_alone(
    ada: Caller, ben: Caller, body: dict[str, Any], cast: Cast
) -> None:
    ada.post("/register", body, Idempotency_Key=KEY)
    answer = ben.post("/register", body | {"student_id": cast.ben.id}, Idempotency_Key=KEY)
    assert not replayed(answer)
    assert answer.json["data"]["summary"]["enrolled"] == 1


def test_what_changed_nothing_is_asked_anew_under_its_key(
    ada: Caller, term: Any, cast: Cast
) -> None:
    full = builders.a_section(builders.a_course(), term, capacity=0)
    body = {"student_id": cast.ada.id, "semester_id": term.id, "section_ids": [full.id]}
    assert ada.post("/register", body, Idempotency_Key=KEY).status_code == 409
    answer = ada.post("/register", body | {"wait": True}, Idempotency_Key=KEY)
    assert answer.json["data"]["results"][0]["status"] == "waitlisted"


def test_a_request_in_flight_is_a_conflict_until_it_ends(
    ada: Caller, app: Flask, body: dict[str, Any], cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first request waits for PostgreSQL, which is kept from telling of holds."""
    again = Caller(app.test_client(), ada.token)
    flight = f"*:flight:{cast.ada.id}:{KEY}"
    monkeypatch.setattr(flights, "LONGEST", 60_000)
    assert ada.get("/me").status_code == 200  # so that only the student is to be read
    with ThreadPoolExecutor() as pool:
        with transaction() as session:
            session.execute(text("LOCK TABLE holds IN ACCESS EXCLUSIVE MODE"))
            first = pool.submit(ada.post, "/register", body, Idempotency_Key=KEY)
            wait_for(lambda: parts().redis.keys(flight))
            second = again.post("/register", body, Idempotency_Key=KEY)
        assert (second.status_code, second.json["type"]) == (409, "/api/docs#in-flight")
        assert int(second.headers["Retry-After"]) > 0
        assert first.result().status_code == 200
    third = again.post("/register", body, Idempotency_Key=KEY)
    assert (third.json, replayed(third)) == (first.result().json, True)


def test_of_many_at_once_one_decides_and_the_others_hear_of_it_or_wait(
    app: Flask, term: Any, section: Any, body: dict[str, Any], cast: Cast
) -> None:
    callers = [caller(app, "ada") for _ in range(AT_ONCE)]
    together = Barrier(AT_ONCE)

    def send(who: Caller) -> TestResponse:
        together.wait()
        return who.post("/register", body, Idempotency_Key=KEY)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(send, callers))
    had = [each for each in answers if each.status_code == 200]
    others = [each for each in answers if each.status_code != 200]
    assert [replayed(each) for each in had].count(False) == 1
    assert {each.json["data"]["results"][0]["registration_id"] for each in had} == {
        parts().ledger.standing(term.id, cast.ada.id).enrolled[0].registration
    }
    assert {(each.status_code, each.json["type"]) for each in others} <= {
        (409, "/api/docs#in-flight")
    }
    assert parts().ledger.seats(term.id)[section.id].taken == 1


def test_a_process_that_died_blocks_its_key_for_a_moment_alone(
    ada: Caller, term: Any, body: dict[str, Any], cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = keys.alone(term.id, cast.ada.id, keys.Request(KEY, own=True))
    monkeypatch.setattr(flights, "LONGEST", 60_000)
    begun.__enter__()  # and never ended
    assert ada.post("/register", body, Idempotency_Key=KEY).status_code == 409
    [flight] = parts().redis.keys("*:flight:*")
    parts().redis.hset(flight, "ends", parts().ledger.now())
    assert ada.post("/register", body, Idempotency_Key=KEY).status_code == 200


def test_who_was_overtaken_is_not_decided_and_told_to_ask_again(
    ada: Caller, term: Any, body: dict[str, Any], cast: Cast
) -> None:
    """It waits for PostgreSQL, while another request under its key takes off."""
    assert ada.get("/me").status_code == 200  # so that only the student is to be read
    with ThreadPoolExecutor() as pool:
        with transaction() as session:
            session.execute(text("LOCK TABLE holds IN ACCESS EXCLUSIVE MODE"))
            late = pool.submit(ada.post, "/register", body, Idempotency_Key=KEY)
            wait_for(lambda: parts().redis.keys("*:flight:*"))
            [flight] = parts().redis.keys("*:flight:*")
            parts().redis.hset(flight, "ends", 0)
            parts().ledger.take_off(term.id, cast.ada.id, KEY, "another", 60_000)
        told = late.result()
    assert (told.status_code, told.json["type"]) == (409, "/api/docs#in-flight")
    assert held(term, cast.ada) == []


def test_a_request_that_failed_lets_the_next_one_in(
    ada: Caller, term: Any, body: dict[str, Any], cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flights, "LONGEST", 60_000)
    with (
        pytest.raises(ZeroDivisionError),
        keys.alone(term.id, cast.ada.id, keys.Request(KEY, own=True)),
    ):
        raise ZeroDivisionError
    assert ada.post("/register", body, Idempotency_Key=KEY).status_code == 200


def test_a_drop_is_replayed_too(
    ada: Caller, section: Any, body: dict[str, Any], cast: Cast
) -> None:
    ada.post("/register", body)
    gone = {"student_id": cast.ada.id, "section_id": section.id}
    first = ada.post("/register/drop", gone, Idempotency_Key=KEY)
    second = ada.post("/register/drop", gone, Idempotency_Key=KEY)
    assert (first.status_code, first.json) == (200, second.json)
    assert (replayed(first), replayed(second)) == (False, True)
