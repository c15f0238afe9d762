"""GET and POST /admin/terms/<t>/sections/<s>/publish, unpublish, confirm and so on."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from jobs.maintain import maintain
from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.catalog.sections import STATUS_CHANGES
from portal.core.db import transaction
from portal.reports.effects import sections as effects
from portal.windows.warmup import send_sections
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast, Meets
from tests.web.admin.sections.forms import address, change, do, errors, seats, stored, text_of
from tests.web.pages import press, seat
from tests.web.visitors import browser_of


@pytest.fixture
def draft(term: Term) -> Any:
    return builders.a_section(builders.a_course("CSC-1200"), term, status="NEW")


def test_published_draft_can_be_claimed(app: Flask, admin: FlaskClient, draft: Section) -> None:
    ada = browser_of(app, "ada")
    assert f'id="section-{draft.id}"' not in ada.get(f"/terms/{draft.term_id}").text
    assert do(admin, draft, "publish", "").status_code == 303
    assert (stored(draft).status, seats(draft).status) == ("OPEN", "OPEN")
    assert f'id="section-{draft.id}"' in ada.get(f"/terms/{draft.term_id}").text
    press(ada, draft, "pick")
    assert seats(draft).taken == 1


def test_published_section_without_students_becomes_a_draft_again(
    app: Flask, admin: FlaskClient, draft: Section
) -> None:
    do(admin, draft, "publish", "")
    assert "Students no longer see the section." in text_of(admin.get(address(draft, "/unpublish")))
    assert do(admin, draft, "unpublish", "").status_code == 303
    assert (stored(draft).status, seats(draft).status) == ("NEW", "NEW")
    ada = browser_of(app, "ada")
    assert f'id="section-{draft.id}"' not in ada.get(f"/terms/{draft.term_id}").text
    press(ada, draft, "pick")
    assert seats(draft).taken == 0


def test_section_with_a_student_stays_published(
    app: Flask, admin: FlaskClient, section: Section
) -> None:
    press(browser_of(app, "ada"), section, "pick")
    answer = do(admin, section, "unpublish", "")
    assert answer.status_code == 409
    assert "so the section stays published" in text_of(answer)
    assert stored(section).status == "OPEN"


def test_section_in_which_a_student_registers_meanwhile_stays_published(
    admin: FlaskClient, section: Section, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def after_a_claim(term: int, *ids: int) -> bool:
        monkeypatch.setattr(effects, "send_sections", send_sections)
        seat(cast.ada, section)  # the ledger does not know of the draft yet
        return send_sections(term, *ids)

    monkeypatch.setattr(effects, "send_sections", after_a_claim)
    assert do(admin, section, "unpublish", "").status_code == 409
    assert (stored(section).status, seats(section).status) == ("OPEN", "OPEN")
    assert seats(section).taken == 1


def test_section_stays_published_if_the_ledger_does_not_get_the_draft(
    admin: FlaskClient, section: Section, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effects, "send_sections", lambda *_: False)
    answer = do(admin, section, "unpublish", "")
    assert answer.status_code == 409
    assert "The ledger does not respond" in text_of(answer)
    assert (stored(section).status, seats(section).status) == ("OPEN", "OPEN")


def test_student_of_a_draft_whose_process_died_is_found(
    admin: FlaskClient,
    section: Section,
    draft: Section,
    cast: Cast,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def die(*_: Any) -> bool:
        raise SystemExit

    monkeypatch.setattr(effects, "send_sections", die)
    with pytest.raises(SystemExit):
        do(admin, section, "unpublish", "")
    seat(cast.ada, section)  # the ledger does not know of the draft yet
    assert (stored(section).status, seats(section).taken) == ("NEW", 1)
    maintain(section.term_id)
    assert (stored(section).status, seats(section).status) == ("OPEN", "OPEN")
    assert stored(draft).status == "NEW"
    assert [(each.action, each.account_id) for each in entries()] == [
        ("section.unpublish", cast.max.id),
        ("section.publish", None),
    ]


def test_draft_must_be_published_first(
    admin: FlaskClient, draft: Section, section: Section
) -> None:
    for each, first in ((draft, "/publish"), (section, "/edit")):
        found = re.findall(r'class="btn btn-primary" href="([^"]+)"', admin.get(address(each)).text)
        assert found == [address(each, first)]


def test_confirmation_names_the_change(admin: FlaskClient, section: Section) -> None:
    change(admin, section, capacity=9)
    assert "Seats: 2 → 9" in text_of(admin.get(address(section)))


def test_confirmed_section_keeps_its_students_and_accepts_no_claims(
    app: Flask, admin: FlaskClient, section: Section
) -> None:
    press(browser_of(app, "ada"), section, "pick")
    assert do(admin, section, "confirm", "").status_code == 303
    press(browser_of(app, "ben"), section, "pick")
    assert (seats(section).status, seats(section).taken) == ("CONFIRMED", 1)
    assert do(admin, section, "reopen", "").status_code == 303
    press(browser_of(app, "ben"), section, "pick")
    assert seats(section).taken == 2


def test_cancel_shows_how_many_students_are_affected(
    app: Flask, admin: FlaskClient, section: Section
) -> None:
    for name in ("ada", "ben", "cleo"):
        press(browser_of(app, name), section, "pick", wait="1")
    answer = text_of(admin.get(address(section, "/cancel")))
    assert "2 students are enrolled." in answer
    assert "1 student is on the waitlist." in answer
    assert "notified at once, on the page and by email" in answer
    assert stored(section).status == "OPEN"


def test_cancel_shows_how_many_imported_seats_have_no_name(admin: FlaskClient, term: Term) -> None:
    course = builders.a_course("CSC-1300")
    imported = builders.a_section(course, term, capacity=9, prior_enrolled=4)
    answer = text_of(admin.get(address(imported, "/cancel")))
    assert "0 students are enrolled." in answer
    assert "4 seats were taken before registration started here" in answer
    assert "notified at once" not in answer


def test_cancel_needs_a_reason(admin: FlaskClient, section: Section) -> None:
    answer = do(admin, section, "cancel", " ")
    assert answer.status_code == 422
    assert "Enter a reason" in errors(answer)
    assert stored(section).status == "OPEN"


def test_canceled_section_cannot_be_claimed(
    app: Flask, admin: FlaskClient, section: Section
) -> None:
    assert do(admin, section, "cancel").status_code == 303
    press(browser_of(app, "ada"), section, "pick")
    assert (seats(section).status, seats(section).taken) == ("CANCELED", 0)


@pytest.mark.parametrize(
    ("action", "status", "why"),
    [
        ("publish", "CANCELED", "is canceled"),
        ("confirm", "NEW", "is a draft"),
        ("cancel", "NEW", "is a draft"),
        ("delete", "OPEN", "Cancel the section before you delete it"),
        ("delete", "CONFIRMED", "Cancel the section before you delete it"),
    ],
)
def test_forbidden_status_change_is_refused_with_the_reason(
    admin: FlaskClient, term: Term, action: str, status: str, why: str
) -> None:
    section = builders.a_section(builders.a_course("CSC-1300"), term, status=status)
    answer = admin.get(address(section, f"/{action}"))
    assert answer.status_code == 409
    assert why in errors(answer)
    answer = do(admin, section, action)
    assert answer.status_code == 409
    assert why in errors(answer)
    assert stored(section).status == status
    assert not entries()


def test_canceled_section_is_offered_again_as_a_draft(
    app: Flask, admin: FlaskClient, section: Section
) -> None:
    ada = browser_of(app, "ada")
    press(ada, section, "pick")
    do(admin, section, "cancel")
    assert "Offer again" in admin.get(address(section)).text
    assert "don’t get it back" in text_of(admin.get(address(section, "/reoffer")))
    assert do(admin, section, "reoffer", "").status_code == 303
    assert (stored(section).status, seats(section).status) == ("NEW", "NEW")
    press(ada, section, "pick")
    assert seats(section).taken == 0
    do(admin, section, "publish", "")
    press(ada, section, "pick")
    assert (seats(section).status, seats(section).taken) == ("OPEN", 1)


def test_section_is_not_offered_again_while_students_leave_it(
    admin: FlaskClient, section: Section, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat(cast.ada, section)
    monkeypatch.setattr(type(backend().ledger), "at_once", 0)  # none is removed yet
    monkeypatch.setattr(type(backend().ledger), "_emptied", lambda _ledger, _term, _id, made: made)
    do(admin, section, "cancel")
    answer = do(admin, section, "reoffer", "")
    assert answer.status_code == 409
    assert "Students are still being removed" in text_of(answer)
    assert stored(section).status == "CANCELED"


def test_deleted_draft_is_not_called_canceled(admin: FlaskClient, draft: Section) -> None:
    do(admin, draft, "delete")
    page = admin.get(address(draft)).text
    assert "Deleted" in page
    assert "Canceled" not in page
    [entry] = entries()
    link = re.search(r'href="([^"]+/sections/\d+)"', admin.get(f"/admin/audit/{entry.id}").text)
    assert link
    assert admin.get(link[1]).status_code == 200


def test_draft_can_be_deleted_and_restored(admin: FlaskClient, draft: Section) -> None:
    assert do(admin, draft, "delete", "").status_code == 303
    assert stored(draft).deleted
    assert seats(draft).status == "CANCELED"
    assert do(admin, draft, "publish").status_code == 409
    assert do(admin, draft, "undelete", "").status_code == 303
    assert not stored(draft).deleted
    assert (stored(draft).status, seats(draft).status) == ("NEW", "NEW")


@pytest.mark.parametrize("needed", ["course", "room"])
def test_section_comes_back_after_its_course_and_room(
    admin: FlaskClient, term: Term, needed: str
) -> None:
    course = builders.a_course("CSC-1200")
    section = builders.a_section(
        course, term, meetings=(Meets("MR", "10:00", "11:50", room="Hall 9"),), status="NEW"
    )
    number = course.id if needed == "course" else builders.a_room("Hall 9").id
    here = f"/admin/catalog/{needed}/{number}"
    why = {"reason": "It is rebuilt."}
    assert admin.post(f"{here}/delete", data=why).status_code == 409  # the draft needs it
    assert do(admin, section, "delete").status_code == 303
    assert admin.post(f"{here}/delete", data=why).status_code == 303
    refused = do(admin, section, "undelete")
    assert refused.status_code == 409
    assert "Restore its course and its rooms first" in errors(refused)
    assert stored(section).deleted
    assert admin.post(f"{here}/restore", data=why).status_code == 303
    assert do(admin, section, "undelete").status_code == 303
    assert not stored(section).deleted


def test_section_with_students_cannot_be_deleted(
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
    """Unpublish the section, without the pages."""
    with transaction() as session:
        other = {"status": "NEW", "version": Section.version + 1}
        session.execute(update(Section).where(Section.id == section.id).values(other))
    assert send_sections(section.term_id, section.id)


def test_each_status_change_is_audited(admin: FlaskClient, draft: Section, cast: Cast) -> None:
    actions = (
        *("publish", "unpublish", "publish", "confirm", "reopen", "cancel"),
        *("reoffer", "publish", "cancel", "delete", "undelete"),
    )
    for action in actions:
        assert do(admin, draft, action, f"To {action}.").status_code == 303
    found = entries()
    assert set(actions) == STATUS_CHANGES.keys()
    assert [each.action for each in found] == [f"section.{action}" for action in actions]
    assert {each.account_id for each in found} == {cast.max.id}
    assert [each.reason for each in found] == [f"To {action}." for action in actions]
    for each in found:
        assert each.before
        assert each.after
        assert each.after["version"] == each.before["version"] + 1


def test_change_of_an_older_version_shows_the_new_one(admin: FlaskClient, section: Section) -> None:
    change(admin, section, title="Algorithms")
    form = {"version": "1", "reason": "No teacher."}
    answer = admin.post(address(section, "/cancel"), data=form)
    assert answer.status_code == 422
    assert "Someone else has changed this section" in errors(answer)
    assert "Algorithms" in answer.text
    assert 'name="version" value="2"' in answer.text
    assert stored(section).status == "OPEN"


def test_form_sent_again_gets_the_same_answer(admin: FlaskClient, section: Section) -> None:
    form = {"version": "1", "reason": "No teacher."}
    for _ in range(2):
        answer = admin.post(address(section, "/cancel"), data=form)
        assert answer.status_code == 303
    assert len(entries()) == 1
    assert do(admin, section, "cancel").status_code == 409


@pytest.mark.parametrize(
    ("action", "status"),
    [
        ("publish", "OPEN"),
        ("confirm", "CONFIRMED"),
        ("reopen", "OPEN"),
        ("cancel", "CANCELED"),
        ("undelete", "OPEN"),
    ],
)
def test_change_that_is_already_done_has_no_conflict(
    admin: FlaskClient, term: Term, action: str, status: str
) -> None:
    section = builders.a_section(builders.a_course("CSC-1300"), term, status=status)
    page = text_of(admin.get(address(section, f"/{action}")))
    assert "This was already done." in page
    assert "Please fix the following" not in page
    assert f"← CSC 1300-{section.number}" in page
    assert do(admin, section, action).status_code == 409
    assert not entries()


def test_dialog_has_only_the_form(admin: FlaskClient, section: Section) -> None:
    requested = {"HX-Request": "true", "HX-Target": "dialog"}
    page = admin.get(address(section, "/cancel"), headers=requested).text
    assert "<html" not in page
    assert 'hx-target="#dialog"' in page
    form = {"version": "1", "reason": "No teacher."}
    answer = admin.post(address(section, "/cancel"), data=form, headers=requested)
    assert answer.headers["HX-Redirect"] == address(section)
