"""GET /admin/applications/all.csv and /teaching/applications/all.csv."""

import csv
from datetime import UTC, datetime
from io import StringIO

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert, update

from portal.applications.models import Application
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.people.models import Account
from tests import cast as builders
from tests.applications.deciders import HERE, press, set_decider, set_instructor
from tests.applications.stories import a_visiting_application, an_application
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.visitors import browser_of

ALL, WAITING = "/admin/applications/all.csv", f"{HERE}/all.csv"
HOSTILE = (
    "state=&kind=&stage=",
    "state=approved&stage=registrar&kind=late_add",
    "decider=&for_department=&department=ART&q=Ben",
    "term=-1&page=9999&ready=%00&q=%25",
    "decider=1&decider=2&state=review&state=",
)


def rows(browser: FlaskClient, address: str, language: str = "en") -> list[list[str]]:
    """Return the rows of a file, with its headings."""
    answer = browser.get(address, headers={"Accept-Language": language})
    assert answer.mimetype == "text/csv"
    assert "no-store" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Disposition"] == "attachment; filename=applications.csv"
    return list(csv.reader(StringIO(answer.data.decode("utf-8-sig"))))


def numbers(browser: FlaskClient, address: str) -> list[int]:
    """Return which applications a file has."""
    return [int(row[0]) for row in rows(browser, address)[1:]]


def test_the_file_has_what_waits_for_the_department(
    iris: FlaskClient, made: int, others: dict[str, int], cast: Cast
) -> None:
    head, row = rows(iris, WAITING)
    assert head[:6] == ["Application", "Kind", "State", "Term", "Section", "Student number"]
    assert row[:4] == [str(made), "Credit overload", "In review", "Fall 2030"]
    assert row[5:7] == [cast.ada.number, "Ada"]
    assert others
    press(iris, made, "approve")
    assert numbers(iris, WAITING) == []


@pytest.mark.parametrize("filters", HOSTILE)
def test_no_filter_widens_the_file(
    iris: FlaskClient, made: int, others: dict[str, int], filters: str
) -> None:
    assert others
    assert set(numbers(iris, f"{WAITING}?{filters}")) <= {made}


def test_the_file_follows_the_filters(
    iris: FlaskClient, admin: FlaskClient, made: int, free: Section, cast: Cast
) -> None:
    second = an_application("credit_overload", cast.ben, free)
    for browser, address in ((iris, WAITING), (admin, ALL)):
        assert numbers(browser, address) == [made, second]
        assert numbers(browser, f"{address}?q=Ben") == [second]
        assert numbers(browser, f"{address}?ready=documents") == []
        assert numbers(browser, f"{address}?term={free.term_id + 1}") == []


def test_an_admin_exports_a_state_or_a_kind(
    admin: FlaskClient, made: int, others: dict[str, int]
) -> None:
    assert numbers(admin, f"{ALL}?kind=late_add") == [others["of one stage, the registrar's"]]
    assert numbers(admin, f"{ALL}?state=withdrawn") == [others["withdrawn"]]
    sent = set(numbers(admin, f"{ALL}?state="))
    assert {made, others["of another department"]} <= sent
    assert others["a draft"] not in sent


def test_the_pages_lead_to_their_files(iris: FlaskClient, admin: FlaskClient, made: int) -> None:
    assert made
    assert f'href="{WAITING}?q=Ada" download' in iris.get(f"{HERE}?q=Ada").text
    assert f'href="{ALL}?q=Ada" download' in admin.get("/admin/applications?q=Ada").text


def test_a_right_that_moves_moves_the_file(
    iris: FlaskClient, admin: FlaskClient, made: int, elsewhere: int, cast: Cast
) -> None:
    assert numbers(iris, WAITING) == [made]
    set_instructor(cast.iris, department_id=builders.a_department("ART").id)
    assert iris.get(WAITING).status_code == 403
    assert set_decider(admin, cast.iris, "1", "ART").status_code == 303
    assert numbers(iris, WAITING) == [elsewhere]


@pytest.mark.parametrize("name", ["ada", "ben", "otto", "max"])
def test_others_get_no_file(app: Flask, iris: FlaskClient, made: int, name: str) -> None:
    assert iris
    assert made
    assert browser_of(app, name).get(WAITING).status_code == 403
    if name != "max":
        assert browser_of(app, name).get(ALL).status_code == 403
    assert entries("export.applications") == []


def test_the_audit_trail_notes_each_export(
    iris: FlaskClient, admin: FlaskClient, made: int, term: Term, cast: Cast
) -> None:
    assert made
    iris.get(f"{WAITING}?state=approved&q=Ada")
    admin.get(f"{ALL}?state=&kind=credit_overload&stage=registrar&ready=yes&term={term.id}")
    hers, his = entries("export.applications")
    assert (hers.account_id, hers.subject) == (cast.iris.account_id, "applications")
    # Not what the search was for: the name of a person would stay in the trail for good.
    assert hers.after == {"departments": ["SCI"], "state": "review", "searched": True}
    assert (his.account_id, his.subject) == (cast.max.id, f"term:{term.id}")
    assert his.after == {"kind": "credit_overload", "stage": "registrar", "ready": "yes"}
    page = admin.get(f"/admin/audit/{hers.id}").text
    for shown in ("Applications exported", "Departments", "SCI", "In review", "Only what a search"):
        assert shown in page
    page = admin.get(f"/admin/audit/{his.id}").text
    for shown in ("Credit overload", "Registrar", "Ready to decide"):
        assert f">{shown}<" in page


def test_the_file_is_in_one_language(iris: FlaskClient, admin: FlaskClient, made: int) -> None:
    assert made
    for browser, address in ((iris, WAITING), (admin, ALL)):
        head, row = rows(browser, address, "es")
        assert head[:3] == ["Solicitud", "Tipo", "Estado"]
        assert row[1:3] == ["Exceso de créditos", "En revisión"]


def test_a_name_is_no_formula(iris: FlaskClient, admin: FlaskClient, made: int, cast: Cast) -> None:
    assert made
    with transaction() as session:
        hers = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(hers.values(name="=HYPERLINK(0)"))
    for browser, address in ((iris, WAITING), (admin, ALL)):
        assert rows(browser, address)[1][6] == "'=HYPERLINK(0)"


def test_a_long_file_is_complete(admin: FlaskClient, free: Section, cast: Cast) -> None:
    row = {
        "kind": "late_add",
        "account_id": cast.ada.account_id,
        "student_id": cast.ada.id,
        "term_id": free.term_id,
        "section_id": free.id,
        "state": "declined",
        "submitted_at": datetime.now(UTC),
    }
    with transaction() as session:
        added = insert(Application).returning(Application.id)
        made = sorted(session.scalars(added, [row] * 1_101))
    assert numbers(admin, f"{ALL}?state=declined") == made


@pytest.mark.usefixtures("paying")
def test_fees_and_payments(
    iris: FlaskClient, admin: FlaskClient, free: Section, vera: Account
) -> None:
    a_visiting_application(vera, free.term_id)
    for browser, address in ((iris, WAITING), (admin, ALL)):
        head, row = rows(browser, address)
        assert (head[-2:], row[-2:]) == (["Fee", "Payment"], ["$50.00", "Paid"])
