"""Invalid requests are refused with the field's name, before the ledger."""

import json
from typing import Any

import pytest

from portal.recorder.journal import last_seq
from portal.web.api.fields import MESSAGES
from tests import cast as builders
from tests.cast import Cast
from tests.web.api.callers import ROOT, Caller

SECTIONS = "/section_ids"
LONG = 2**31


@pytest.fixture
def sound(term: Any, section: Any, cast: Cast) -> dict[str, Any]:
    """Return a valid request."""
    return {"student_id": cast.ada.id, "semester_id": term.id, "section_ids": [section.id]}


def send(caller: Caller, body: bytes | str, content_type: str = "application/json") -> Any:
    headers = caller.headers(Content_Type=content_type)
    return caller.client.post(f"{ROOT}/register", data=body, headers=headers)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"section_ids": []}, SECTIONS),
        ({"section_ids": 5}, SECTIONS),
        ({"section_ids": None}, SECTIONS),
        ({"section_ids": ["5"]}, f"{SECTIONS}/0"),
        ({"section_ids": [1.5]}, f"{SECTIONS}/0"),
        ({"section_ids": [True]}, f"{SECTIONS}/0"),
        ({"section_ids": [0]}, f"{SECTIONS}/0"),
        ({"section_ids": [-1]}, f"{SECTIONS}/0"),
        ({"section_ids": [LONG]}, f"{SECTIONS}/0"),
        ({"section_ids": [10**400]}, f"{SECTIONS}/0"),
        ({"section_ids": [[1]]}, f"{SECTIONS}/0"),
        ({"section_ids": list(range(1, 22))}, SECTIONS),
        ({"section_ids": [{}]}, f"{SECTIONS}/0/section_id"),
        ({"section_ids": [{"section_id": 1, "seat": 2}]}, f"{SECTIONS}/0/seat"),
        ({"section_ids": [{"section_id": 1, "credits": "3"}]}, f"{SECTIONS}/0/credits"),
        ({"section_ids": [{"section_id": 1, "credits": -1}]}, f"{SECTIONS}/0/credits"),
        ({"section_ids": [{"section_id": 1, "credits": 1e300}]}, f"{SECTIONS}/0/credits"),
        ({"section_ids": [{"section_id": 1, "credits": True}]}, f"{SECTIONS}/0/credits"),
        ({"semester_id": "7"}, "/semester_id"),
        ({"semester_id": LONG}, "/semester_id"),
        ({"student_id": None}, "/student_id"),
        ({"wait": "yes"}, "/wait"),
        ({"wait": 1}, "/wait"),
        ({"idempotency_key": "short"}, "/idempotency_key"),
        ({"idempotency_key": "line-break\n"}, "/idempotency_key"),
        ({"idempotency_key": "nul\0nul-nul"}, "/idempotency_key"),
        ({"idempotency_key": "ключ-ключ"}, "/idempotency_key"),
        ({"a/b~c": 1}, "/a~1b~0c"),
    ],
    ids=str,
)
def test_invalid_field_is_named(
    ada: Caller, sound: dict[str, Any], term: Any, change: dict[str, Any], pointer: str
) -> None:
    before = last_seq(term.id)
    answer = ada.post("/register", sound | change)
    assert (answer.status_code, answer.mimetype) == (422, "application/problem+json")
    assert answer.json["success"] is False
    [wrong] = answer.json["errors"]
    assert (wrong["in"], wrong["pointer"]) == ("body", pointer)
    assert wrong["message"] in {str(each) for each in MESSAGES} or wrong["message"].startswith(
        "Must "
    )
    assert last_seq(term.id) == before


def test_all_errors_are_reported_at_once(ada: Caller) -> None:
    answer = ada.post("/register", {"section_ids": [0, "x"], "wait": 0})
    assert {each["pointer"] for each in answer.json["errors"]} == {
        "/student_id",
        "/section_ids/0",
        "/section_ids/1",
        "/wait",
    }


def test_section_named_twice_is_refused(ada: Caller, sound: dict[str, Any], section: Any) -> None:
    twice = [section.id, {"section_id": section.id}]
    answer = ada.post("/register", sound | {"section_ids": twice})
    assert answer.status_code == 422
    assert answer.json["errors"][0]["pointer"] == "/section_ids/1"


def test_section_that_is_not_offered_is_named(
    ada: Caller, sound: dict[str, Any], term: Any
) -> None:
    draft = builders.a_section(builders.a_course("CSC-2"), term, status="NEW")
    elsewhere = builders.a_section(builders.a_course("CSC-3"), builders.a_term("Spring 2031"))
    before = last_seq(term.id)
    known = sound["section_ids"][0]
    for change, pointer in (
        ({"semester_id": 999_999}, "/semester_id"),
        ({"section_ids": [known, 999_999]}, "/section_ids/1"),
        ({"section_ids": [draft.id]}, "/section_ids/0"),
        ({"section_ids": [elsewhere.id]}, "/section_ids/0"),
        (
            {"section_ids": [{"section_id": known, "instead_of": 999_999}]},
            "/section_ids/0/instead_of",
        ),
    ):
        answer = ada.post("/register", sound | change)
        assert answer.status_code == 404
        assert answer.json["errors"][0]["pointer"] == pointer
    assert last_seq(term.id) == before


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"{'student_id': 1}",
        b'{"student_id": NaN}',
        b'{"student_id": Infinity}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"student_id": ' + b"9" * 5000 + b"}",
        b'{"student_id": 1} extra',
    ],
    ids=lambda body: str(body[:20]),
)
def test_invalid_json_is_refused(ada: Caller, body: bytes) -> None:
    answer = send(ada, body)
    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert answer.json["errors"][0]["message"].startswith("This is not valid JSON")


@pytest.mark.parametrize("body", [b"[]", b"null", b'"text"', b"5", b"true"])
def test_json_other_than_an_object_is_refused(ada: Caller, body: bytes) -> None:
    answer = send(ada, body)
    assert answer.status_code == 422
    assert answer.json["errors"][0]["pointer"] == ""


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "", "nonsense"]
)
def test_other_content_type_is_refused(ada: Caller, sound: dict[str, Any], kind: str) -> None:
    assert send(ada, json.dumps(sound), kind).status_code == 415


def test_large_body_is_refused(ada: Caller, sound: dict[str, Any]) -> None:
    answer = send(ada, json.dumps(sound) + " " * 300_000)
    assert (answer.status_code, answer.mimetype) == (413, "application/problem+json")
    assert answer.json["title"] == "The request body is too large"


def test_wrong_method_names_the_allowed_ones(ada: Caller) -> None:
    answer = ada.get("/register")
    assert (answer.status_code, answer.mimetype) == (405, "application/problem+json")
    assert set(answer.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}


def test_address_with_an_invalid_number_is_not_found(ada: Caller) -> None:
    for student in ("0", "x", "1.5", "-1", str(LONG), "9" * 100, "%00"):
        answer = ada.get(f"/students/{student}/registrations")
        assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")
