"""Accounts of instructors: listed, linked and unlinked."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.catalog.models import Instructor, Section, Term
from portal.core.db import transaction
from portal.people import visitors
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.admin.students.forms import WHY, text_of
from tests.web.visitors import browser_of


@pytest.fixture
def twin(term: Term) -> Instructor:
    """Return Iris as an instructor of another department, where she teaches MAT-1000."""
    found: Instructor = builders.added(
        Instructor(name="Iris", department_id=builders.a_department("MTH").id)
    )
    builders.a_section(builders.a_course("MAT-1000"), term, instructor=found)
    return found


@pytest.fixture
def hers(term: Term, cast: Cast) -> Section:
    return builders.a_section(builders.a_course("CSC-1100"), term, instructor=cast.iris)


def act(admin: FlaskClient, instructor: Instructor, action: str, **fields: str) -> TestResponse:
    form = {"account": "iris", "reason": WHY, **fields}
    return admin.post(f"/admin/instructors/{instructor.id}/{action}", data=form)


def classes(app: Flask, cast: Cast) -> str:
    visitors.forget(cast.iris.account_id or 0)
    return browser_of(app, "iris").get("/teaching").text


def test_list_shows_who_has_an_account(admin: FlaskClient, twin: Instructor, hers: Section) -> None:
    assert hers
    text = text_of(admin.get("/admin/instructors"))
    assert "Iris – 1 Iris iris" in text
    assert "Iris Department of MTH 1 None" in text
    without = admin.get("/admin/instructors?q=mth&show=without").text
    assert f"/admin/instructors/{twin.id}" in without
    assert "Otto" not in without


def test_account_with_the_same_name_is_suggested(
    admin: FlaskClient, twin: Instructor, hers: Section, cast: Cast
) -> None:
    assert hers
    page = f"/admin/instructors/{twin.id}"
    assert f"{page}/link?account=iris" in admin.get(page).text
    text = text_of(admin.get(f"{page}/link?account=iris"))
    assert "Also linked to Iris" in text
    assert "MAT 1000-" in text_of(admin.get(page))
    assert visitors.find(cast.iris.account_id or 0).instructor_ids == {cast.iris.id}


def test_account_has_the_sections_of_all_its_instructors(
    app: Flask, admin: FlaskClient, twin: Instructor, hers: Section, cast: Cast
) -> None:
    assert act(admin, twin, "link").status_code == 303
    page = classes(app, cast)
    assert "MAT-1000" in page
    assert f"/teaching/sections/{hers.id}" in page
    stored = entries()[-1]
    assert (stored.action, stored.account_id, stored.reason) == ("teacher.link", cast.max.id, WHY)
    assert stored.subject == f"teacher:{twin.id} account:{cast.iris.account_id}"
    assert text_of(admin.get(f"/admin/audit?about=teacher:{twin.id}")).count("Account linked") >= 1


def test_unlinked_account_loses_the_sections(
    app: Flask, admin: FlaskClient, twin: Instructor, cast: Cast
) -> None:
    act(admin, twin, "link")
    assert act(admin, twin, "unlink").status_code == 303
    assert "MAT-1000" not in classes(app, cast)
    assert entries()[-1].action == "teacher.unlink"


def test_link_by_another_admin_is_not_overwritten(
    admin: FlaskClient, twin: Instructor, cast: Cast
) -> None:
    act(admin, twin, "link", account="otto")
    again = act(admin, twin, "link")
    assert again.status_code == 409
    assert "Someone else has changed this." in text_of(again)
    assert twin.id in visitors.find(cast.otto.account_id or 0).instructor_ids
    assert act(admin, twin, "unlink").status_code == 409  # which was not shown with that account


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"account": "nobody"}, "No account has the username nobody."),
        ({"account": ""}, "No account has the username –."),
        ({"reason": " "}, "Enter a reason"),
    ],
)
def test_errors_are_shown_and_nothing_changes(
    admin: FlaskClient, twin: Instructor, fields: dict[str, str], wrong: str
) -> None:
    answer = act(admin, twin, "link", **fields)
    assert answer.status_code == 422
    assert wrong in text_of(answer)
    with transaction() as session:
        assert session.get_one(Instructor, twin.id).account_id is None


def test_invalid_input_is_refused(admin: FlaskClient, twin: Instructor) -> None:
    assert act(admin, twin, "eat").status_code == 404
    assert admin.get("/admin/instructors/999999").status_code == 404
    assert admin.get("/admin/instructors?page=x&q=%25").status_code == 200
