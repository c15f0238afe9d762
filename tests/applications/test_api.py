"""The JSON API for applications: create, answer, add documents, send, follow."""

import base64
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from portal.applications import documents
from portal.applications.models import Application
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people import tokens
from portal.people.models import Account
from portal.people.tokens import TokenRequest
from tests.applications import files
from tests.applications.stories import ANSWERS, history, the
from tests.cast import Cast

ROOT = "/api/v1/applications"
KEY = {"Idempotency-Key": "my-application-1"}


class Program:
    """A program with a token of a person."""

    def __init__(self, app: Flask, username: str) -> None:
        self.client = app.test_client()
        self.token = tokens.create_for(username, TokenRequest("tests"))

    def post(self, rest: str, body: Any = None, **headers: str) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.token}", **headers}
        return self.client.post(f"{ROOT}{rest}", json=body, headers=headers)

    def delete(self, rest: str) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.client.delete(f"{ROOT}{rest}", headers=headers)

    def get(self, rest: str = "") -> TestResponse:
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.client.get(f"{ROOT}{rest}", headers=headers)


@pytest.fixture
def program(app: Flask, vera: Account) -> Program:
    return Program(app, vera.username)


@pytest.fixture
def made(program: Program, free: Section) -> int:
    body = {"semester_id": free.term_id, "kind": "visiting", "answers": ANSWERS["visiting"]}
    answer = program.post("", body)
    assert answer.status_code == 201, answer.text
    number: int = answer.json["data"]["id"]  # type: ignore[index]
    return number


def document(content: bytes, name: str = "grades.pdf") -> dict[str, str]:
    return {
        "part": "transcript",
        "name": name,
        "content": base64.b64encode(content).decode(),
    }


def test_a_program_applies(program: Program, made: int, free: Section) -> None:
    answer = program.post(f"/{made}/documents", document(files.a_pdf()))
    assert answer.status_code == 202
    answer = program.post(f"/{made}/submit", **KEY)
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"{ROOT}/{made}"
    documents.check_due()
    status = program.get(f"/{made}").json["data"]  # type: ignore[index]
    assert (status["status"], status["documents_checked"]) == ("review", True)
    assert status["semester_id"] == free.term_id
    assert [each["action"] for each in status["history"]] == ["submit", "checked"]
    assert [each["id"] for each in program.get().json["data"]["applications"]] == [made]  # type: ignore[index]


def test_a_kind_names_all_that_it_asks_for(app: Flask, program: Program, free: Section) -> None:
    here = f"/kinds?semester_id={free.term_id}"
    (kind,) = program.get(here).json["data"]["kinds"]  # type: ignore[index]
    assert (kind["kind"], kind["section"], kind["fee"]) == ("visiting", "none", 5000)
    fields = {each.pop("name"): each for each in kind["fields"]}
    assert fields.keys() == ANSWERS["visiting"].keys()
    assert {name for name, field in fields.items() if not field["required"]} == {"institution"}
    assert [name for name, field in fields.items() if field["several"]] == ["truth"]
    assert fields["level"]["choices"]["graduate"] == "Graduate student"
    assert fields["phone"] == {
        "label": "Phone",
        "required": True,
        "several": False,
        "max_length": 30,
        "choices": None,
    }
    assert [each["part"] for each in kind["documents"] if each["required"]] == ["transcript"]
    students = Program(app, "ada").get(here).json["data"]["kinds"]  # type: ignore[index]
    assert {each["kind"]: each["section"] for each in students} == {
        "consent": "any",
        "credit_overload": "any",
        "late_add": "any",
        "late_drop": "yours",
        "permission": "any",
        "withdrawal": "yours",
    }
    assert program.get("/kinds?semester_id=999999").status_code == 404
    assert program.get("/kinds").status_code == 422


def test_sending_again_sends_once(program: Program, made: int) -> None:
    program.post(f"/{made}/documents", document(files.a_pdf()))
    answers = [program.post(f"/{made}/submit", **KEY) for _ in range(3)]
    assert [each.status_code for each in answers] == [202] * 3
    assert "Idempotency-Replayed" not in answers[0].headers
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    assert history(made) == ["submit"]


def test_a_key_sends_one_application(app: Flask, cast: Cast, free: Section, held: Section) -> None:
    ada = Program(app, "ada")
    body = {"semester_id": free.term_id, "kind": "late_add", "section_id": free.id}
    first = ada.post("", {**body, "answers": ANSWERS["late_add"]}).json["data"]["id"]  # type: ignore[index]
    other = {**body, "kind": "late_drop", "section_id": held.id}
    second = ada.post("", {**other, "answers": ANSWERS["late_drop"]}).json["data"]["id"]  # type: ignore[index]
    assert ada.post(f"/{first}/submit", **KEY).status_code == 202
    answer = ada.post(f"/{second}/submit", **KEY)
    assert answer.status_code == 400
    assert answer.json["type"].endswith("#key-reused")  # type: ignore[index]
    assert the(second).state == "draft"
    assert cast.ada


def test_what_is_missing_is_refused(program: Program, made: int) -> None:
    answer = program.post(f"/{made}/submit", **KEY)
    assert answer.status_code == 409
    assert "A required document is missing." in answer.json["message"]  # type: ignore[index]
    answer = program.post(f"/{made}/documents", document(b"", "grades.pdf"))
    assert answer.status_code == 409
    assert the(made).state == "draft"


def test_a_refused_document_is_replaced(program: Program, made: int) -> None:
    program.post(f"/{made}/documents", document(files.a_pdf_with_script()))
    documents.check_due()
    (refused,) = program.get(f"/{made}").json["data"]["documents"]  # type: ignore[index]
    assert refused["status"] == "refused"
    assert program.post(f"/{made}/submit", **KEY).status_code == 409
    answer = program.delete(f"/{made}/documents/{refused['id']}")
    assert answer.status_code == 200
    assert answer.json["data"]["documents"] == []  # type: ignore[index]
    assert program.delete(f"/{made}/documents/{refused['id']}").status_code == 404
    program.post(f"/{made}/documents", document(files.a_pdf()))
    assert program.post(f"/{made}/submit", **KEY).status_code == 202
    (sent,) = program.get(f"/{made}").json["data"]["documents"]  # type: ignore[index]
    answer = program.delete(f"/{made}/documents/{sent['id']}")
    assert answer.status_code == 409
    assert len(program.get(f"/{made}").json["data"]["documents"]) == 1  # type: ignore[index]


def test_the_list_comes_in_pages(app: Flask, free: Section, held: Section) -> None:
    ada, made = Program(app, "ada"), []
    for kind, section in (("late_add", free), ("permission", free), ("late_drop", held)):
        body = {"semester_id": free.term_id, "kind": kind, "section_id": section.id}
        made.append(ada.post("", body).json["data"]["id"])  # type: ignore[index]
    for page, ids in ((1, made[:0:-1]), (2, made[:1]), (3, [])):
        found = ada.get(f"?page={page}&per_page=2").json["data"]  # type: ignore[index]
        assert [each["id"] for each in found["applications"]] == ids
        assert {name: found[name] for name in ("page", "per_page", "pages", "total")} == {
            "page": page,
            "per_page": 2,
            "pages": 2,
            "total": 3,
        }
    assert ada.get("?page=0").status_code == 422
    assert ada.get("?per_page=101").status_code == 422


@pytest.mark.parametrize(
    ("answers", "pointer"),
    [
        ({"phone": "call me"}, "/answers/phone"),
        ({"courses": "XYZ 999"}, "/answers/courses"),
        ({"level": "king"}, "/answers/level"),
        ({"hobby": "chess"}, "/answers/hobby"),
        ({"phone": 5}, "/answers/phone"),
    ],
)
def test_wrong_answers_are_named(
    program: Program, made: int, answers: dict[str, Any], pointer: str
) -> None:
    answer = program.post(f"/{made}/answers", {"answers": answers})
    assert answer.status_code == 422
    assert answer.json["errors"][0]["pointer"].startswith(pointer)  # type: ignore[index]
    assert the(made).answers["phone"] == ANSWERS["visiting"]["phone"]


def the_documents(application: int) -> list[int]:
    with transaction() as session:
        return [each.id for each in session.get_one(Application, application).documents]


def test_an_application_belongs_to_one_student(
    app: Flask, program: Program, cast: Cast, made: int, free: Section
) -> None:
    ada = Program(app, "ada")
    assert ada.get(f"/{made}").status_code == 404
    for rest, body in (("submit", None), ("answers", {"answers": {}})):
        assert ada.post(f"/{made}/{rest}", body).status_code == 404
    assert ada.post(f"/{made}/documents", document(files.a_pdf())).status_code == 404
    program.post(f"/{made}/documents", document(files.a_pdf()))
    (hers,) = the_documents(made)
    assert ada.delete(f"/{made}/documents/{hers}").status_code == 404
    body = {"semester_id": free.term_id, "kind": "late_add", "section_id": free.id}
    own = ada.post("", body).json["data"]["id"]  # type: ignore[index]
    assert ada.delete(f"/{own}/documents/{hers}").status_code == 404
    assert the_documents(made) == [hers]
    assert cast.ada


def test_what_cant_be_applied_for_is_refused(
    program: Program, app: Flask, free: Section, cast: Cast
) -> None:
    term = free.term_id
    body = {"semester_id": term, "kind": "late_add", "section_id": free.id}
    assert program.post("", body).status_code == 422
    ada = Program(app, "ada")
    assert ada.post("", {**body, "section_id": 999_999}).status_code == 422
    assert ada.post("", {**body, "semester_id": 999_999}).status_code == 422
    assert ada.post("", {**body, "kind": "late_drop"}).status_code == 422
    assert cast.ada
