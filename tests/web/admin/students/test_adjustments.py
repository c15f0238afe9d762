"""GET and POST /admin/terms/<t>/adjust: an admin adds, drops and moves a student."""

from concurrent.futures import ThreadPoolExecutor

from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.admin.students.forms import (
    WHY,
    desk,
    entries,
    holds,
    look,
    obstacles,
    press,
    text_of,
)
from tests.web.pages import hidden, seat
from tests.web.visitors import browser_of


def test_addition_is_audited_with_admin_and_reason(
    admin: FlaskClient, cast: Cast, section: Section
) -> None:
    page = look(admin, cast.ada, section)
    assert obstacles(page) == []
    assert "CSC 1100-01: 0 of 1 seats are taken." in text_of(page)
    answer = press(admin, page)
    assert answer.location == f"/admin/students/{cast.ada.id}?term={section.term_id}"
    assert "Ada was enrolled in CSC 1100-01." in text_of(admin.get(answer.location))
    assert holds(cast.ada, section.term_id) == [section.id]
    (entry,) = entries(section.term_id)
    assert (entry.account_id, entry.action, entry.reason) == (cast.max.id, "selection.add", WHY)


def test_preview_changes_nothing(admin: FlaskClient, cast: Cast, section: Section) -> None:
    look(admin, cast.ada, section)
    assert holds(cast.ada, section.term_id) == []
    assert entries(section.term_id) == []


def test_every_reason_has_a_checkbox_with_the_students_text(admin: FlaskClient, cast: Cast) -> None:
    term = builders.a_term()
    needs = {"prerequisites": {"course": "MAT-1010"}, "meetings": (Meets(),)}
    held = builders.a_section(builders.a_course("CSC-1"), term, meetings=(Meets(),))
    full = builders.a_section(builders.a_course("CSC-2"), term, capacity=0, **needs)
    page = press(admin, look(admin, cast.ada, held), ("window_unscheduled",))
    assert page.status_code == 303
    page = look(admin, cast.ada, full)
    assert set(obstacles(page)) == {"window_unscheduled", "time_conflict", "full", "prerequisite"}
    assert "“Requires MAT 1010 (not on your record).”" in text_of(page)


def test_reason_that_is_not_ticked_still_refuses(
    admin: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ben, section)
    page = look(admin, cast.ada, section)
    assert obstacles(page) == ["full"]
    refused = press(admin, page)
    assert refused.status_code == 422
    assert "A rule still prevents this" in text_of(refused)
    assert obstacles(refused) == ["full"]
    assert holds(cast.ada, section.term_id) == []
    assert press(admin, refused, ("full",)).status_code == 303
    assert holds(cast.ada, section.term_id) == [section.id]
    assert entries(section.term_id)[-1].after["overrides"] == ["full"]


def test_reason_that_cannot_be_overridden_has_no_checkbox(
    admin: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ada, section)
    page = look(admin, cast.ada, section)
    assert "This is not possible" in text_of(page)
    assert obstacles(page) == []
    assert 'method="post" action="/admin' not in page.text


def test_reason_is_required(admin: FlaskClient, cast: Cast, section: Section) -> None:
    answer = press(admin, look(admin, cast.ada, section), reason=" ")
    assert answer.status_code == 422
    assert "Enter a reason" in text_of(answer)
    assert holds(cast.ada, section.term_id) == []


def test_student_is_moved_in_one_step(
    admin: FlaskClient, cast: Cast, section: Section, other: Section
) -> None:
    seat(cast.ada, section)
    page = look(admin, cast.ada, add=other, drop=section)
    assert "Move a student" in text_of(page)
    press(admin, page)
    assert holds(cast.ada, section.term_id) == [other.id]
    (entry,) = entries(section.term_id)
    assert entry.action == "selection.move"


def test_dropped_student_is_notified(
    app: Flask, admin: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ada, section)
    press(admin, look(admin, cast.ada, drop=section))
    assert holds(cast.ada, section.term_id) == []
    assert [each.action for each in entries(section.term_id)] == ["selection.drop"]
    answer = text_of(browser_of(app, "ada").get("/inbox"))
    assert "The registrar dropped you from CSC 1100-01" in answer
    assert WHY not in answer


def test_added_student_leaves_the_waitlist(
    app: Flask, admin: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ben, section)
    browser_of(app, "ada").post(
        f"/terms/{section.term_id}/sections/{section.id}/pick", data={"wait": "1"}
    )
    page = look(admin, cast.ada, section)
    assert "The student gets the seat and leaves the waitlist" in text_of(page)
    press(admin, page, ("full",))
    assert holds(cast.ada, section.term_id) == [section.id]


def test_form_sent_twice_has_one_effect(admin: FlaskClient, cast: Cast, section: Section) -> None:
    page = look(admin, cast.ada, section)
    for _ in range(2):
        assert press(admin, page).status_code == 303
    assert len(entries(section.term_id)) == 1


def test_double_click_has_one_effect(
    app: Flask, cast: Cast, admin: FlaskClient, section: Section
) -> None:
    page = look(admin, cast.ada, section)
    form = {**hidden(page.text), "reason": WHY}
    browsers = [browser_of(app, "max") for _ in range(2)]

    def send(browser: FlaskClient) -> int:
        return browser.post(page.request.path, data=form).status_code

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(send, browsers)) == [303, 303]
    assert len(entries(section.term_id)) == 1


def test_second_tab_sees_the_current_state(
    admin: FlaskClient, cast: Cast, section: Section
) -> None:
    one, two = look(admin, cast.ada, section), look(admin, cast.ada, section)
    assert press(admin, one).status_code == 303
    late = press(admin, two)
    assert late.status_code == 422
    assert "You already have" in text_of(late)
    assert len(entries(section.term_id)) == 1


def test_used_form_cannot_make_another_change(
    admin: FlaskClient, cast: Cast, section: Section, other: Section
) -> None:
    page = look(admin, cast.ada, section)
    press(admin, page)
    again = press(admin, page, add=other.crn)
    assert again.status_code == 422
    assert "was already sent" in text_of(again)
    assert holds(cast.ada, section.term_id) == [section.id]


def test_refusal_has_its_own_address(admin: FlaskClient, cast: Cast, section: Section) -> None:
    answer = press(admin, look(admin, cast.ada, section), reason="", over=("full",))
    assert "Enter a reason" in text_of(answer)
    assert answer.request.method == "GET"
    assert press(admin, admin.get(answer.request.full_path)).status_code == 303
    assert holds(cast.ada, section.term_id) == [section.id]


def test_all_errors_are_shown_at_once(admin: FlaskClient, term: Term) -> None:
    answer = admin.get(desk(term.id), query_string={"student": "N0", "add": "none", "look": "1"})
    assert answer.status_code == 422
    assert "No student has the number N0." in text_of(answer)
    assert "no section with the CRN or number none" in text_of(answer)


def test_section_can_be_named_by_course_and_number(
    admin: FlaskClient, cast: Cast, section: Section
) -> None:
    query = {"student": cast.ada.number, "add": "csc 1100-01", "look": "1"}
    answer = admin.get(desk(section.term_id), query_string=query)
    assert f"CRN {section.crn}" in text_of(answer)


def test_credits_are_chosen_for_a_range(admin: FlaskClient, cast: Cast, term: Term) -> None:
    wide = {"credits_min": 1, "credits_max": 3}
    section = builders.a_section(builders.a_course("CSC-3"), term, **wide)
    page = look(admin, cast.ada, section)
    press(admin, page, credits="2")
    (held,) = backend().ledger.registrations(term.id, cast.ada.id).enrolled
    assert held.credits == 200


def test_override_of_another_reason_has_no_effect(
    admin: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ada, section)
    page = look(admin, cast.ben, section)
    assert press(admin, page, ("already_enrolled", "nonsense")).status_code == 422
    assert holds(cast.ben, section.term_id) == []


def test_addition_despite_a_conflict_names_the_conflict(admin: FlaskClient, cast: Cast) -> None:
    term = builders.a_term()
    builders.an_open_window(term)
    held, other = (
        builders.a_section(builders.a_course(code), term, meetings=(Meets(),))
        for code in ("CSC-1", "CSC-2")
    )
    seat(cast.ada, held)
    answer = press(admin, look(admin, cast.ada, other), ("time_conflict",))
    page = text_of(admin.get(answer.location))
    clash = "CSC 1-01 and CSC 2-02 meet at the same time (Mon Thu 10:00–11:50 am)."
    assert f"Ada is notified: {clash}" in page
    assert page.count(clash) == 2  # once as a message, and on the page for as long as it lasts
