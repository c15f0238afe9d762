"""GET and POST /admin/terms/<t>/underfilled: sections to cancel, several in one step."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update
from werkzeug.test import TestResponse

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.students.forms import WHY, entries, holds, text_of
from tests.web.pages import hidden, seat, send
from tests.web.pages import press as pick
from tests.web.visitors import browser_of


@pytest.fixture
def offer(cast: Cast, term: Term) -> list[Any]:
    """Return CSC-1, CSC-2, CSC-3 with 30, 4, 3 seats; Ada is in CSC-1, she and Ben in CSC-3."""
    sections = [
        builders.a_section(builders.a_course(f"CSC-{number}"), term, capacity=capacity)
        for number, capacity in enumerate((30, 4, 3), 1)
    ]
    for student, section in ((cast.ada, 0), (cast.ada, 2), (cast.ben, 2)):
        seat(student, sections[section])
    return sections


def found(admin: FlaskClient, offer: list[Any], **limits: Any) -> list[int]:
    """Return the numbers of the courses whose sections are listed."""
    answer = admin.get(f"/admin/terms/{offer[0].term_id}/underfilled", query_string=limits)
    assert answer.status_code == 200
    return [
        number
        for number, section in enumerate(offer, 1)
        if f'name="section" value="{section.id}"' in answer.text
    ]


def look(admin: FlaskClient, sections: list[Any]) -> TestResponse:
    position = f"/admin/terms/{sections[0].term_id}/underfilled"
    return send(admin, position, {"section": [each.id for each in sections], "fewer": "9"})


def confirm(
    admin: FlaskClient, page: TestResponse, sections: list[Any], **fields: str
) -> TestResponse:
    form = {**hidden(page.text), "section": [each.id for each in sections], "reason": WHY}
    return send(admin, page.request.path, {**form, "confirmed": "yes", **fields})


def statuses(sections: list[Any]) -> list[str]:
    """Return the stored statuses, and those in the ledger."""
    ids = [each.id for each in sections]
    with transaction() as session:
        stored = dict(
            session.execute(select(Section.id, Section.status).where(Section.id.in_(ids))).all()
        )
    known = backend().ledger.seats_of(sections[0].term_id, ids)
    assert [stored[each] for each in ids] == [known[each].status for each in ids]
    return [stored[each] for each in ids]


def test_limits_are_numbers_or_shares_of_the_seats(admin: FlaskClient, offer: list[Any]) -> None:
    assert found(admin, offer) == [1, 2, 3]
    assert found(admin, offer, fewer=2) == [1, 2]
    assert found(admin, offer, fewer=1) == [2]
    assert found(admin, offer, percent=50) == [1, 2]
    assert found(admin, offer, fewer=1, percent=4) == [1, 2]
    assert found(admin, offer, percent=50, least=5) == [1]
    assert found(admin, offer, fewer=0) == []
    assert found(admin, offer, fewer="many", percent="-1") == []
    assert found(admin, offer, fewer=2, subject="MAT") == []


def test_drafts_canceled_and_seatless_sections_are_not_listed(
    admin: FlaskClient, cast: Cast, term: Term
) -> None:
    course = builders.a_course()
    hidden_ones = [
        builders.a_section(course, term, **fields)
        for fields in ({"status": "NEW"}, {"status": "CANCELED"}, {"capacity": 0})
    ]
    assert found(admin, hidden_ones, fewer=9) == []
    assert cast.max


def test_preview_counts_affected_students_and_changes_nothing(
    admin: FlaskClient, offer: list[Any]
) -> None:
    text = text_of(look(admin, offer))
    assert "Cancel 3 sections?" in text
    assert "3 students lose a seat. 0 students lose a waitlist position." in text
    assert statuses(offer) == ["OPEN", "OPEN", "OPEN"]


def test_preview_names_affected_students(admin: FlaskClient, offer: list[Any], cast: Cast) -> None:
    drain(offer[0].term_id)
    page = look(admin, offer[1:]).text
    everyone = page.split("data-affected")[1].split("</details>")[0]
    for student in (cast.ada, cast.ben):
        assert f'href="/admin/students/{student.id}?term={offer[0].term_id}"' in everyone
    assert page.count("data-affected") == 1  # nobody has a part in the other


def test_several_sections_are_canceled_and_students_notified(
    app: Flask, admin: FlaskClient, cast: Cast, offer: list[Any]
) -> None:
    gone = [offer[0], offer[2]]
    for name in ("cleo", "dan"):  # the last seat, and a place in line
        pick(browser_of(app, name), offer[2], "pick", wait="1")
    page = look(admin, gone)
    assert "It is full. 1 student is waiting." in text_of(page)
    answer = confirm(admin, page, gone)
    assert "Canceled: 2 sections." in text_of(admin.get(answer.location))
    assert statuses(offer) == ["CANCELED", "OPEN", "CANCELED"]
    assert holds(cast.ada, offer[0].term_id) == []
    assert not backend().ledger.registrations(offer[0].term_id, cast.cleo.id).waiting
    trail = entries(offer[0].term_id)
    assert [(each.action, each.reason) for each in trail] == [("section.cancel", WHY)] * 2
    result = text_of(browser_of(app, "ada").get("/inbox"))
    assert "CSC 1-01 has been canceled" in result
    assert "CSC 3-03 has been canceled" in result


def test_reason_is_required(admin: FlaskClient, offer: list[Any]) -> None:
    answer = confirm(admin, look(admin, offer), offer, reason="")
    assert answer.status_code == 422
    assert "Enter a reason" in text_of(answer)
    assert statuses(offer) == ["OPEN", "OPEN", "OPEN"]


def test_nothing_is_canceled_if_a_section_has_changed(admin: FlaskClient, offer: list[Any]) -> None:
    page = look(admin, offer)
    moved = update(Section).where(Section.id == offer[1].id).values(version=Section.version + 1)
    with transaction() as session:
        session.execute(moved)
    late = confirm(admin, page, offer)
    assert late.status_code == 422
    assert "Nothing was canceled. CSC 2-02: someone else has changed it." in text_of(late)
    assert statuses(offer) == ["OPEN", "OPEN", "OPEN"]
    assert entries() == []
    assert confirm(admin, late, offer).status_code == 303
    assert statuses(offer) == ["CANCELED", "CANCELED", "CANCELED"]


def test_form_sent_twice_cancels_once(admin: FlaskClient, offer: list[Any]) -> None:
    page = look(admin, offer)
    for _ in range(2):
        answer = confirm(admin, page, offer)
        assert answer.status_code == 303
        assert "Canceled: 3 sections." in text_of(admin.get(answer.location))
    assert len(entries()) == 3


def test_section_canceled_by_another_admin_is_reported(
    app: Flask, admin: FlaskClient, offer: list[Any]
) -> None:
    builders.an_account("mona", is_admin=True)
    page = look(admin, offer)
    mona = browser_of(app, "mona")
    assert confirm(mona, look(mona, offer), offer).status_code == 303
    assert "Nothing was canceled" in text_of(confirm(admin, page, offer))


def test_full_and_waitlisted_sections_are_not_listed(
    app: Flask, admin: FlaskClient, offer: list[Any]
) -> None:
    assert found(admin, offer, fewer=9) == [1, 2, 3]
    pick(browser_of(app, "cleo"), offer[2], "pick", wait="1")
    assert found(admin, offer, fewer=9) == [1, 2]


def test_preview_has_its_own_address(admin: FlaskClient, offer: list[Any]) -> None:
    page = look(admin, offer)
    assert page.request.method == "GET"
    assert "Cancel 3 sections?" in text_of(admin.get(page.request.full_path))


def test_empty_selection_is_reported(admin: FlaskClient, offer: list[Any]) -> None:
    answer = send(
        admin, f"/admin/terms/{offer[0].term_id}/underfilled", {"section": ["x", "99999"]}
    )
    assert answer.status_code == 422
    assert "Select the sections" in text_of(answer)
