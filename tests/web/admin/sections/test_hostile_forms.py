"""Section forms that no page sends."""

import pytest
from flask.testing import FlaskClient

from portal.catalog.models import Section
from tests.web.admin.sections.forms import address, change, details, errors
from tests.web.admin.sections.forms import send as send_form
from tests.web.pages import send

FORMS: list[dict[str, str]] = [
    {},
    {"meetings_99_days": "Mon", "reserves_99_seats": "9", "confirmed": "yes"},
    {"meetings": "-1", "reserves_²_seats": "1e9", "version": "x"},
    {"meetings_0_days": "Someday", "meetings_0_starts": "\0", "meetings_0_first": "9" * 40},
    {"meetings_0_kind": "K" * 4000, "meetings_0_known": "\0", "meetings_0_room": "\0"},
    {
        "reserves_0_known": "x",
        "reserves_0_seats": "9" * 40,
        "reserves_0_until": "never",
        "reserves_0_years": "None",
    },
    {"reserves_0_seats": "1", "reserves_0_students": "\0," * 2000, "reserves_0_place": "-3"},
    {"credits": "\0", "capacity": "١٢", "prerequisites": "(" * 3000, "cross_lists": "," * 500},
    {"section": "\0", "capacity": "1" * 500, "name": "\0\n", "version": "9" * 99},
    {"course": "9" * 30, "crn": "\0"},
]


@pytest.mark.parametrize("form", FORMS)
def test_no_form_causes_a_server_error_or_changes_a_section(
    admin: FlaskClient, section: Section, form: dict[str, str]
) -> None:
    before = details(section)
    for rest in ("/edit", "/share", "/cancel"):
        assert send(admin, address(section, rest), form).status_code < 500
    new = f"/admin/terms/{section.term_id}/sections/new"
    assert send(admin, new, {"course": str(section.course_id), **form}).status_code < 500
    assert details(section) == before


@pytest.mark.parametrize("until", ["9999-12-31T23:59", "0001-01-01T00:00"])
def test_end_of_a_reserve_must_be_near(admin: FlaskClient, section: Section, until: str) -> None:
    answer = send_form(admin, section, reserves_0_seats="1", reserves_0_until=until)
    assert "Reserved seats 1: Reserved until: this is more than five years away." in errors(answer)


def test_unstorable_characters_in_a_meeting_kind_are_removed(
    admin: FlaskClient, section: Section
) -> None:
    assert change(admin, section, meetings_0_kind="K\0").status_code == 303
    assert details(section).meetings[0].code == "K"
