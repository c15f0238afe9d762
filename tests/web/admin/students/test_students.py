"""GET /admin/students: find a student by number, name or email."""

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.core.db import transaction
from portal.people import student_records
from portal.people.models import Account, Student
from tests.cast import Cast
from tests.web.admin.students.forms import text_of


def find(boss: FlaskClient, text: str, page: int = 1) -> str:
    answer = boss.get("/admin/students", query_string={"q": text, "page": page})
    assert answer.status_code == 200
    return text_of(answer)


def test_student_is_found_by_any_part_of_the_name(boss: FlaskClient, cast: Cast) -> None:
    found = find(boss, "LEO")
    assert cast.cleo.number in found
    assert cast.ada.number not in found


def test_student_is_found_by_email(boss: FlaskClient, cast: Cast) -> None:
    mail = update(Account).where(Account.id == cast.ben.account_id)
    with transaction() as session:
        session.execute(mail.values(email="b.smith@example.edu"))
    assert cast.ben.number in find(boss, "smith@")


def test_every_word_must_match(boss: FlaskClient, cast: Cast) -> None:
    assert cast.ada.number in find(boss, f"ada {cast.ada.number[:3]}")
    assert "No student matches." in find(boss, "ada ben")


def test_number_leads_to_its_student(boss: FlaskClient, cast: Cast) -> None:
    answer = boss.get("/admin/students", query_string={"q": f" {cast.dan.number} "})
    assert answer.location == f"/admin/students/{cast.dan.id}"


@pytest.mark.parametrize("text", ["%", "_", "\\", "\0", "'", "ä" * 300])
def test_wildcards_are_literal(boss: FlaskClient, text: str) -> None:
    answer = boss.get("/admin/students", query_string={"q": text})
    assert answer.status_code == 200
    if text != "\0":
        assert "No student matches." in text_of(answer)


def test_long_list_is_paged(boss: FlaskClient, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(student_records, "PAGE_SIZE", 3)
    first, second = find(boss, ""), find(boss, "", page=2)
    assert cast.ada.number in first
    assert "Next" in first
    assert cast.dan.number not in first
    assert cast.dan.number in second
    assert "Next" not in second


def test_deleted_student_is_not_found(boss: FlaskClient, cast: Cast) -> None:
    gone = update(Student).where(Student.id == cast.ada.id)
    with transaction() as session:
        session.execute(gone.values(deleted_at=cast.max.deleted_at or "2030-01-01"))
    assert "No student matches." in find(boss, "ada")
    assert boss.get(f"/admin/students/{cast.ada.id}").status_code == 404
