"""Placing and lifting a hold through the pages."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import backend
from portal.catalog.models import Section
from portal.people import holds as hold_service
from portal.people import student_profile
from portal.people.holds import NewHold
from portal.people.models import Student
from portal.recorder.promotion import promote
from tests.cast import Cast
from tests.web.admin.students.forms import WHY, entries, holds, look, press, text_of
from tests.web.pages import press as pick
from tests.web.pages import seat
from tests.web.visitors import browser_of


def place(admin: FlaskClient, student: Student, **fields: Any) -> TestResponse:
    form = {"kind": "Bursar", "message": "a bill is unpaid", "office": "the bursar", "reason": WHY}
    return admin.post(f"/admin/students/{student.id}/holds/new", data={**form, **fields})


def known(student: Student) -> list[student_profile.HoldView]:
    return list(student_profile.read(student.id).holds)


def lift(admin: FlaskClient, student: Student, reason: str = WHY) -> TestResponse:
    (entry,) = [each for each in entries() if each.action == "hold.place"]
    number = entry.subject.rpartition(":")[2]
    place = f"/admin/students/{student.id}/holds/{number}/lift"
    assert "The student can register again at once" in text_of(admin.get(place))
    return admin.post(place, data={"reason": reason})


def pick_of(app: Flask, section: Section) -> str:
    return text_of(pick(browser_of(app, "ada"), section, "pick"))


def test_hold_refuses_with_its_reason_until_lifted(
    app: Flask, admin: FlaskClient, cast: Cast, section: Section
) -> None:
    assert place(admin, cast.ada).status_code == 303
    student_profile._profiles.clear()  # noqa: SLF001  rather than wait two seconds
    refused = pick_of(app, section)
    assert "There is a hold on your record: a bill is unpaid. Contact the bursar" in refused
    assert holds(cast.ada, section.term_id) == []
    assert lift(admin, cast.ada).status_code == 303
    student_profile._profiles.clear()  # noqa: SLF001
    pick_of(app, section)
    assert holds(cast.ada, section.term_id) == [section.id]


def test_placing_and_lifting_are_audited(admin: FlaskClient, cast: Cast) -> None:
    place(admin, cast.ada)
    lift(admin, cast.ada, "It was paid.")
    first, last = entries()
    assert (first.action, first.account_id, first.before) == ("hold.place", cast.max.id, None)
    assert first.after
    assert first.after["reason"] == "a bill is unpaid"
    assert (last.action, last.reason, last.account_id) == ("hold.lift", "It was paid.", cast.max.id)
    assert last.after
    assert last.after["lifted_at"]


def test_form_sent_twice_has_one_effect(admin: FlaskClient, cast: Cast) -> None:
    place(admin, cast.ada)
    again = place(admin, cast.ada)
    assert "already has this hold" in text_of(admin.get(again.location))
    assert len(known(cast.ada)) == 1
    for _ in range(2):
        (entry,) = [each for each in entries() if each.action == "hold.place"]
        number = entry.subject.rpartition(":")[2]
        admin.post(f"/admin/students/{cast.ada.id}/holds/{number}/lift", data={"reason": WHY})
    assert [each.action for each in entries()] == ["hold.place", "hold.lift"]


def test_hold_applies_from_its_first_to_its_last_day(admin: FlaskClient, cast: Cast) -> None:
    today = datetime.now(backend().settings.zone).date()
    tomorrow = (today + timedelta(days=1)).isoformat()
    place(admin, cast.ada, since=tomorrow)
    place(admin, cast.ben, until=today.isoformat())
    place(admin, cast.cleo, since=today.isoformat(), until=tomorrow)
    assert [hold.is_active for hold in known(cast.ada)] == [False]
    assert [hold.is_active for hold in known(cast.ben)] == [True]
    assert [hold.is_active for hold in known(cast.cleo)] == [True]
    assert "Upcoming" in text_of(admin.get(f"/admin/students/{cast.ada.id}"))


def test_hold_ends_after_its_last_day(admin: FlaskClient, cast: Cast) -> None:
    place(admin, cast.ada, until="2029-11-04")
    (hold,) = known(cast.ada)
    # Clocks go back that night, and it is midnight in New York.
    assert hold.until == datetime(2029, 11, 5, 5, tzinfo=UTC)
    page = f"/admin/students/{cast.ada.id}"
    assert "until Nov 4, 2029" in text_of(admin.get(page))
    last_year = datetime(2020, 11, 2, 5, tzinfo=UTC)
    hold_service.place(
        cast.ben.id,
        NewHold("Bursar", "a bill", "", None, last_year),
        by=cast.max.id,
        why=WHY,
    )
    assert not known(cast.ben)[0].is_active
    answer = text_of(admin.get(f"/admin/students/{cast.ben.id}"))
    assert "Ended" in answer
    assert "until Nov 1, 2020" in answer


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"kind": " "}, "Kind: fill in this field."),
        ({"message": ""}, "Message to the student: fill in this field."),
        ({"message": "x" * 301}, "enter at most 300 characters"),
        ({"since": "soon"}, "From: enter a date"),
        ({"until": "9999-12-31"}, "Until: enter a date"),
        ({"until": "2020-01-01"}, "Until: this date is in the past."),
        ({"since": "2030-02-02", "until": "2030-02-01"}, "last day must not be before the first"),
    ],
)
def test_errors_are_shown_and_no_hold_is_placed(
    admin: FlaskClient, cast: Cast, fields: dict[str, str], wrong: str
) -> None:
    answer = place(admin, cast.ada, **fields)
    assert answer.status_code == 422
    assert wrong in text_of(answer)
    assert known(cast.ada) == []


def test_lifting_needs_a_reason(admin: FlaskClient, cast: Cast) -> None:
    place(admin, cast.ada)
    assert lift(admin, cast.ada, "").status_code == 422
    assert [hold.is_active for hold in known(cast.ada)] == [True]


def test_hold_of_another_student_is_not_found(admin: FlaskClient, cast: Cast) -> None:
    place(admin, cast.ada)
    number = entries()[0].subject.rpartition(":")[2]
    assert admin.get(f"/admin/students/{cast.ben.id}/holds/{number}/lift").status_code == 404
    answer = admin.post(f"/admin/students/{cast.ben.id}/holds/{number}/lift", data={"reason": WHY})
    assert answer.status_code == 404
    assert [hold.is_active for hold in known(cast.ada)] == [True]


def test_skipped_student_gets_the_seat_after_the_hold(
    app: Flask, admin: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ben, section)
    pick(browser_of(app, "ada"), section, "pick", wait="1")
    place(admin, cast.ada)
    press(admin, look(admin, cast.ben, drop=section))
    promote(section.term_id, "tests")
    assert holds(cast.ada, section.term_id) == []
    lift(admin, cast.ada)
    promote(section.term_id, "tests")
    assert holds(cast.ada, section.term_id) == [section.id]


def test_admin_can_override_a_hold(admin: FlaskClient, cast: Cast, section: Section) -> None:
    place(admin, cast.ada)
    student_profile._profiles.clear()  # noqa: SLF001
    page = look(admin, cast.ada, section)
    assert 'value="hold"' in page.text
    assert press(admin, page, ("hold",)).status_code == 303
