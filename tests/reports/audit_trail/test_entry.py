"""GET /admin/audit/<id>: one entry, and what it changed."""

import re
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.recorder.receipts import code
from tests.cast import Cast, a_course, a_section, a_term
from tests.reports.audit_trail.conftest import an_entry
from tests.web.visitors import browser_of

ODD = ('{"a": 1}', '{"b": "ñ"}')
ROW = re.compile(
    r'<th scope="row">([^<]*)</th>\s*<td[^>]*>([^<]*)</td>\s*<td[^>]*>([^<]*)</td>', re.DOTALL
)


def changed(admin: FlaskClient, number: int) -> dict[str, tuple[str, str]]:
    page = unescape(admin.get(f"/admin/audit/{number}").text)
    return {label: (before, after) for label, before, after in ROW.findall(page)}


def test_an_entry_shows_account_action_time_and_reason(admin: FlaskClient, cast: Cast) -> None:
    number = an_entry(account_id=cast.max.id, reason="The snow.", day=3)
    page = unescape(admin.get(f"/admin/audit/{number}").text)
    for words in ("Window closed", "Max", "max", "The snow.", "Thu, Jan 3, 2030, 7:00 am EST"):
        assert words in page


def test_a_difference_is_shown_field_by_field(admin: FlaskClient) -> None:
    opens = 1_900_000_000_000
    before = {"opens": opens, "cohort": {}, "off": False, "name": "Seniors", "state": "scheduled"}
    after = before | {"opens": opens + 3_600_000, "cohort": {"years": ["Senior"]}, "off": True}
    number = an_entry(before=before, after=after)
    output = changed(admin, number)
    assert output["Begins"] == (
        "Sun, Mar 17, 2030, 1:46:40 pm EDT",
        "Sun, Mar 17, 2030, 2:46:40 pm EDT",
    )
    assert output["For"] == ("Everyone", "Senior")
    assert output["Switched off"] == ("No", "Yes")
    assert "2 fields unchanged" in admin.get(f"/admin/audit/{number}").text


@pytest.mark.parametrize(
    ("before", "after", "output"),
    [
        (None, {"capacity": 30}, {"Seats": ("–", "30")}),
        ({"capacity": 30}, None, {"Seats": ("30", "–")}),
        ({"waives": []}, {"waives": ["prerequisite"]}, {"Rules": ("–", "Prerequisites")}),
        (
            None,
            {"overrides": ["window_before", "time_conflict"]},
            {
                "Rules lifted": (
                    "–",
                    "Too early: the window has not opened\nTime conflicts",
                )
            },
        ),
        (
            {"until": None},
            {"until": "2030-05-01T04:00:00+00:00"},
            {"Valid until": ("–", "Wed, May 1, 2030, 12:00 am EDT")},
        ),
        ({"scopes": ["a"]}, {"scopes": ["a", "b"]}, {"Scopes": ("a", "a\nb")}),
        ({"odd_thing": {"a": 1}}, {"odd_thing": [{"b": "ñ"}]}, {"Odd thing": ODD}),
        ({"section": None}, {"overrides": [], "event": 2680, "note": "x"}, {"Note": ("–", "x")}),
        ({"until": "never"}, {"until": "soon"}, {"Valid until": ("never", "soon")}),
    ],
)
def test_each_kind_of_value_is_readable(
    admin: FlaskClient, before: object, after: object, output: dict[str, tuple[str, str]]
) -> None:
    assert changed(admin, an_entry(before=before, after=after)) == output


def test_people_and_sections_are_shown_by_name(admin: FlaskClient, cast: Cast) -> None:
    section = a_section(a_course("CSC-1100"), a_term())
    facts = {"student": cast.ada.id, "section": section.id, "account": cast.iris.account_id}
    output = changed(admin, an_entry("override.grant", "override:1", after=facts))
    assert output == {
        "Student": ("–", f"Ada, {cast.ada.number}"),
        "Section": ("–", "CSC 1100-01"),
        "Account": ("–", "Iris (iris)"),
    }


def test_a_decision_of_the_ledger_leads_to_its_receipt(admin: FlaskClient, cast: Cast) -> None:
    number = an_entry(
        "selection.add", f"term:3 section:4 student:{cast.ada.id}", after={"event": 9}
    )
    assert f'href="/admin/receipts/{code(3, 9)}"' in admin.get(f"/admin/audit/{number}").text


def test_it_leads_to_all_that_was_done_to_the_same_thing(admin: FlaskClient, cast: Cast) -> None:
    number = an_entry("student.privacy", f"student:{cast.ada.id}")
    page = unescape(admin.get(f"/admin/audit/{number}").text)
    assert f'href="/admin/audit?about=student:{cast.ada.id}"' in page
    assert f'href="/admin/students/{cast.ada.id}"' in page


def test_one_that_is_not_there_is_not_found(admin: FlaskClient) -> None:
    assert admin.get("/admin/audit/2000000000").status_code == 404


@pytest.mark.parametrize("name", ["ada", "ben", "iris", "otto"])
def test_admins_alone_read_it(app: Flask, admin: FlaskClient, name: str) -> None:
    assert admin
    number = an_entry()
    for part in ("", f"/{number}", ".csv"):
        assert browser_of(app, name).get(f"/admin/audit{part}").status_code == 403
        assert app.test_client().get(f"/admin/audit{part}").status_code == 302


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_there_is_no_way_to_change_it(admin: FlaskClient, method: str) -> None:
    number = an_entry()
    for part in ("", f"/{number}", ".csv"):
        assert admin.open(f"/admin/audit{part}", method=method).status_code == 405
