"""GET and POST /admin/terms/<t>/sections/<s>/publish, confirm, reopen, cancel, delete, undelete."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.catalog.models import Section, Term
from portal.catalog.sections import STATUS_CHANGES
from portal.core.db import transaction
from portal.windows.warmup import send_sections
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.sections.forms import change, do, entries, errors, place, said, seats, stored
from tests.web.pages import press
from tests.web.visitors import browser_of


@pytest.fixture
def draft(term: Term) -> Any:
    return builders.a_section(builders.a_course("CSC-1200"), term, status="NEW")


def test_a_draft_is_published_and_can_be_picked(
    app: Flask, admin: FlaskClient, draft: Section
) -> None:
    ada = browser_of(app, "ada")
    assert f'id="section-{draft.id}"' not in ada.get(f"/terms/{draft.term_id}").text
    assert do(admin, draft, "publish", "").status_code == 303
    assert (stored(draft).status, seats(draft).status) == ("OPEN", "OPEN")
    assert f'id="section-{draft.id}"' in ada.get(f"/terms/{draft.term_id}").text
    press(ada, draft, "pick")
    assert seats(draft).taken == 1


def test_of_a_draft_publishing_comes_first(
    admin: FlaskClient, draft: Section, section: Section
) -> None:
    for each, first in ((draft, "/publish"), (section, "/edit")):
        found = re.findall(r'class="btn btn-primary" href="([^"]+)"', admin.get(place(each)).text)
        assert found == [place(each, first)]


def test_what_was_changed_is_told_with_the_deed(admin: FlaskClient, section: Section) -> None:
    change(admin, section, capacity=9)
    assert "Seats: 2 → 9" in said(admin.get(place(section)))


def test_a_confirmed_section_keeps_its_students_and_takes_no_more(
    app: Flask, admin: FlaskClient, section: Section
) -> None:
    press(browser_of(app, "ada"), section, "pick")
    assert do(admin, section, "confirm", "").status_code == 303
    press(browser_of(app, "ben"), section, "pick")
    assert (seats(section).status, seats(section).taken) == ("CONFIRMED", 1)
    assert do(admin, section, "reopen", "").status_code == 303
    press(browser_of(app, "ben"), section, "pick")
    assert seats(section).taken == 2


def test_canceling_says_first_how_many_have_a_part_in_it(
    app: Flask, admin: FlaskClient, section: Section
) -> None:
    for name in ("ada", "ben", "cleo"):
        press(browser_of(app, name), section, "pick", wait="1")
    told = said(admin.get(place(section, "/cancel")))
    assert "2 students are enrolled." in told
    assert "1 student is on the waitlist." in told
    assert "notified at once, on the page and by email" in told
    assert stored(section).status == "OPEN"


def test_canceling_says_how_many_have_no_name_here(admin: FlaskClient, term: Term) -> None:
    course = builders.a_course("CSC-1300")
    imported = builders.a_section(course, term, capacity=9, prior_enrolled=4)
    told = said(admin.get(place(imported, "/cancel")))
    assert "0 students are enrolled." in told
    assert "4 seats were taken before registration started here" in told
    assert "notified at once" not in told


def test_canceling_needs_a_reason(admin: FlaskClient, section: Section) -> None:
    answer = do(admin, section, "cancel", " ")
    assert answer.status_code == 422
    assert "Enter a reason" in errors(answer)
    assert stored(section).status == "OPEN"


def test_a_canceled_section_can_not_be_picked(
    app: Flask, admin: FlaskClient, section: Section
) -> None:
    assert do(admin, section, "cancel").status_code == 303
    press(browser_of(app, "ada"), section, "pick")
    assert (seats(section).status, seats(section).taken) == ("CANCELED", 0)


@pytest.mark.parametrize(
    ("deed", "status", "why"),
    [
        ("publish", "CANCELED", "is canceled"),
        ("confirm", "NEW", "is a draft"),
        ("cancel", "NEW", "is a draft"),
        ("delete", "OPEN", "Cancel the section before you delete it"),
        ("delete", "CONFIRMED", "Cancel the section before you delete it"),
    ],
)
def test_what_the_status_forbids_is_refused_with_the_reason(
    admin: FlaskClient, term: Term, deed: str, status: str, why: str
) -> None:
    section = builders.a_section(builders.a_course("CSC-1300"), term, status=status)
    answer = admin.get(place(section, f"/{deed}"))
    assert answer.status_code == 409
    assert why in errors(answer)
    answer = do(admin, section, deed)
    assert answer.status_code == 409
    assert why in errors(answer)
    assert stored(section).status == status
    assert not entries()


def test_a_draft_is_deleted_and_brought_back(admin: FlaskClient, draft: Section) -> None:
    assert do(admin, draft, "delete", "").status_code == 303
    assert stored(draft).deleted
    assert seats(draft).status == "CANCELED"
    assert do(admin, draft, "publish").status_code == 409
    assert do(admin, draft, "undelete", "").status_code == 303
    assert not stored(draft).deleted
    assert (stored(draft).status, seats(draft).status) == ("NEW", "NEW")


def test_a_section_in_which_somebody_has_a_part_is_not_deleted(
    app: Flask, admin: FlaskClient, draft: Section
) -> None:
    do(admin, draft, "publish")
    press(browser_of(app, "ada"), draft, "pick")
    take_back(draft)
    answer = do(admin, draft, "delete")
    assert answer.status_code == 409
    assert "Students are enrolled" in errors(answer)
    assert not stored(draft).deleted


def take_back(section: Section) -> None:
    """Somebody makes a draft of it again, behind the pages' back."""
    with transaction() as session:
        other = {"status": "NEW", "version": Section.version + 1}
        session.execute(update(Section).where(Section.id == section.id).values(other))
    assert send_sections(section.term_id, section.id)


def test_each_deed_leaves_an_audit_entry(admin: FlaskClient, draft: Section, cast: Cast) -> None:
    for deed in ("publish", "confirm", "reopen", "cancel", "delete", "undelete"):
        assert do(admin, draft, deed, f"To {deed}.").status_code == 303
    found = entries()
    assert [each.action for each in found] == [f"section.{deed}" for deed in STATUS_CHANGES]
    assert {each.account_id for each in found} == {cast.max.id}
    assert [each.reason for each in found] == [f"To {deed}." for deed in STATUS_CHANGES]
    for each in found:
        assert each.before
        assert each.after
        assert each.after["version"] == each.before["version"] + 1


def test_who_saw_an_older_version_is_shown_the_new_one_first(
    admin: FlaskClient, section: Section
) -> None:
    change(admin, section, title="Algorithms")
    form = {"version": "1", "reason": "No teacher."}
    answer = admin.post(place(section, "/cancel"), data=form)
    assert answer.status_code == 422
    assert "Someone else has changed this section" in errors(answer)
    assert "Algorithms" in answer.text
    assert 'name="version" value="2"' in answer.text
    assert stored(section).status == "OPEN"


def test_the_same_press_again_is_answered_as_the_first(
    admin: FlaskClient, section: Section
) -> None:
    form = {"version": "1", "reason": "No teacher."}
    for _ in range(2):
        answer = admin.post(place(section, "/cancel"), data=form)
        assert answer.status_code == 303
    assert len(entries()) == 1
    assert do(admin, section, "cancel").status_code == 409


@pytest.mark.parametrize(
    ("deed", "status"),
    [
        ("publish", "OPEN"),
        ("confirm", "CONFIRMED"),
        ("reopen", "OPEN"),
        ("cancel", "CANCELED"),
        ("undelete", "OPEN"),
    ],
)
def test_what_is_done_already_has_nothing_to_be_put_right(
    admin: FlaskClient, term: Term, deed: str, status: str
) -> None:
    section = builders.a_section(builders.a_course("CSC-1300"), term, status=status)
    page = said(admin.get(place(section, f"/{deed}")))
    assert "This was already done." in page
    assert "has to be put right" not in page
    assert f"← CSC 1300-{section.number}" in page
    assert do(admin, section, deed).status_code == 409
    assert not entries()


def test_in_a_dialog_it_comes_without_the_page_around_it(
    admin: FlaskClient, section: Section
) -> None:
    asked = {"HX-Request": "true", "HX-Target": "dialog"}
    page = admin.get(place(section, "/cancel"), headers=asked).text
    assert "<html" not in page
    assert 'hx-target="#dialog"' in page
    form = {"version": "1", "reason": "No teacher."}
    answer = admin.post(place(section, "/cancel"), data=form, headers=asked)
    assert answer.headers["HX-Redirect"] == place(section)


def test_only_admins_do_it(app: Flask, section: Section) -> None:
    for name in ("iris", "ada"):
        answer = do(browser_of(app, name), section, "cancel")
        assert answer.status_code == 403
    assert stored(section).status == "OPEN"
