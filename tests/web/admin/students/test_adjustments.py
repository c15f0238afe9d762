"""GET and POST /admin/terms/<t>/adjust: an admin adds, drops and moves a student by hand."""

from concurrent.futures import ThreadPoolExecutor

from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.admin.students.forms import WHY, desk, entries, holds, look, obstacles, press, said
from tests.web.pages import hidden, seat
from tests.web.visitors import browser_of


def test_a_student_is_added_and_the_trail_says_who_and_why(
    boss: FlaskClient, cast: Cast, section: Section
) -> None:
    page = look(boss, cast.ada, section)
    assert obstacles(page) == []
    assert "CSC 1100-01: 0 of 1 seats are taken now." in said(page)
    answer = press(boss, page)
    assert answer.location == f"/admin/students/{cast.ada.id}?term={section.term_id}"
    assert "Ada has a seat in CSC 1100-01." in said(boss.get(answer.location))
    assert holds(cast.ada, section.term_id) == [section.id]
    (entry,) = entries(section.term_id)
    assert (entry.account_id, entry.action, entry.reason) == (cast.max.id, "selection.add", WHY)


def test_looking_changes_nothing(boss: FlaskClient, cast: Cast, section: Section) -> None:
    look(boss, cast.ada, section)
    assert holds(cast.ada, section.term_id) == []
    assert entries(section.term_id) == []


def test_every_reason_that_stands_has_a_box_and_the_students_words(
    boss: FlaskClient, cast: Cast
) -> None:
    term = builders.a_term()
    needs = {"prerequisites": {"course": "MAT-1010"}, "meetings": (Meets(),)}
    held = builders.a_section(builders.a_course("CSC-1"), term, meetings=(Meets(),))
    full = builders.a_section(builders.a_course("CSC-2"), term, capacity=0, **needs)
    page = press(boss, look(boss, cast.ada, held), ("window_unscheduled",))
    assert page.status_code == 303
    page = look(boss, cast.ada, full)
    assert set(obstacles(page)) == {"window_unscheduled", "time_conflict", "full", "prerequisite"}
    assert "“Requires MAT 1010, which is not on your record.”" in said(page)


def test_what_is_not_ticked_still_refuses(boss: FlaskClient, cast: Cast, section: Section) -> None:
    seat(cast.ben, section)
    page = look(boss, cast.ada, section)
    assert obstacles(page) == ["full"]
    refused = press(boss, page)
    assert refused.status_code == 422
    assert "something stands in the way" in said(refused)
    assert obstacles(refused) == ["full"]
    assert holds(cast.ada, section.term_id) == []
    assert press(boss, refused, ("full",)).status_code == 303
    assert holds(cast.ada, section.term_id) == [section.id]
    assert entries(section.term_id)[-1].after["overrides"] == ["full"]


def test_what_has_no_sense_has_no_box(boss: FlaskClient, cast: Cast, section: Section) -> None:
    seat(cast.ada, section)
    page = look(boss, cast.ada, section)
    assert "This can’t be done" in said(page)
    assert obstacles(page) == []
    assert 'method="post" action="/admin' not in page.text


def test_a_reason_is_needed(boss: FlaskClient, cast: Cast, section: Section) -> None:
    answer = press(boss, look(boss, cast.ada, section), reason=" ")
    assert answer.status_code == 422
    assert "Say why" in said(answer)
    assert holds(cast.ada, section.term_id) == []


def test_a_student_is_moved_in_one_step(
    boss: FlaskClient, cast: Cast, section: Section, other: Section
) -> None:
    seat(cast.ada, section)
    page = look(boss, cast.ada, add=other, drop=section)
    assert "Move a student" in said(page)
    press(boss, page)
    assert holds(cast.ada, section.term_id) == [other.id]
    (entry,) = entries(section.term_id)
    assert entry.action == "selection.move"


def test_a_student_is_taken_out_and_told(
    app: Flask, boss: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ada, section)
    press(boss, look(boss, cast.ada, drop=section))
    assert holds(cast.ada, section.term_id) == []
    assert [each.action for each in entries(section.term_id)] == ["selection.drop"]
    told = said(browser_of(app, "ada").get("/inbox"))
    assert "The registrar dropped you from CSC 1100-01" in told
    assert WHY not in told


def test_a_waiter_who_is_added_waits_no_more(
    app: Flask, boss: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ben, section)
    browser_of(app, "ada").post(
        f"/terms/{section.term_id}/sections/{section.id}/pick", data={"wait": "1"}
    )
    page = look(boss, cast.ada, section)
    assert "place on its waitlist goes with the seat" in said(page)
    press(boss, page, ("full",))
    assert holds(cast.ada, section.term_id) == [section.id]


def test_a_form_that_is_sent_twice_acts_once(
    boss: FlaskClient, cast: Cast, section: Section
) -> None:
    page = look(boss, cast.ada, section)
    for _ in range(2):
        assert press(boss, page).status_code == 303
    assert len(entries(section.term_id)) == 1


def test_a_double_click_acts_once(
    app: Flask, cast: Cast, boss: FlaskClient, section: Section
) -> None:
    page = look(boss, cast.ada, section)
    form = {**hidden(page.text), "reason": WHY}
    browsers = [browser_of(app, "max") for _ in range(2)]

    def send(browser: FlaskClient) -> int:
        return browser.post(page.request.path, data=form).status_code

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(send, browsers)) == [303, 303]
    assert len(entries(section.term_id)) == 1


def test_the_second_of_two_tabs_is_told_how_things_stand(
    boss: FlaskClient, cast: Cast, section: Section
) -> None:
    one, two = look(boss, cast.ada, section), look(boss, cast.ada, section)
    assert press(boss, one).status_code == 303
    late = press(boss, two)
    assert late.status_code == 422
    assert "You already have" in said(late)
    assert len(entries(section.term_id)) == 1


def test_a_form_that_has_acted_does_not_act_on_something_else(
    boss: FlaskClient, cast: Cast, section: Section, other: Section
) -> None:
    page = look(boss, cast.ada, section)
    press(boss, page)
    again = press(boss, page, add=other.crn)
    assert again.status_code == 422
    assert "acted already" in said(again)
    assert holds(cast.ada, section.term_id) == [section.id]


def test_what_was_refused_has_an_address_so_that_going_back_sends_nothing(
    boss: FlaskClient, cast: Cast, section: Section
) -> None:
    answer = press(boss, look(boss, cast.ada, section), reason="", over=("full",))
    assert "Say why" in said(answer)
    assert answer.request.method == "GET"
    assert press(boss, boss.get(answer.request.full_path)).status_code == 303
    assert holds(cast.ada, section.term_id) == [section.id]


def test_everything_that_is_wrong_with_the_form_is_told_at_once(
    boss: FlaskClient, term: Term
) -> None:
    answer = boss.get(desk(term.id), query_string={"student": "N0", "add": "none", "look": "1"})
    assert answer.status_code == 422
    assert "No student has the number N0." in said(answer)
    assert "no section with the CRN or the number none" in said(answer)


def test_a_section_may_be_named_by_course_and_number(
    boss: FlaskClient, cast: Cast, section: Section
) -> None:
    query = {"student": cast.ada.number, "add": "csc 1100-01", "look": "1"}
    answer = boss.get(desk(section.term_id), query_string=query)
    assert f"CRN {section.crn}" in said(answer)


def test_credits_are_chosen_where_there_is_a_choice(
    boss: FlaskClient, cast: Cast, term: Term
) -> None:
    wide = {"credits_min": 1, "credits_max": 3}
    section = builders.a_section(builders.a_course("CSC-3"), term, **wide)
    page = look(boss, cast.ada, section)
    press(boss, page, credits="2")
    (held,) = backend().ledger.standing(term.id, cast.ada.id).enrolled
    assert held.credits == 200


def test_a_code_that_is_no_obstacle_goes_past_nothing(
    boss: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ada, section)
    page = look(boss, cast.ben, section)
    assert press(boss, page, ("already_enrolled", "nonsense")).status_code == 422
    assert holds(cast.ben, section.term_id) == []


def test_a_seat_past_a_clash_names_what_clashes_for_whom(boss: FlaskClient, cast: Cast) -> None:
    term = builders.a_term()
    builders.an_open_window(term)
    held, other = (
        builders.a_section(builders.a_course(code), term, meetings=(Meets(),))
        for code in ("CSC-1", "CSC-2")
    )
    seat(cast.ada, held)
    answer = press(boss, look(boss, cast.ada, other), ("time_conflict",))
    page = said(boss.get(answer.location))
    clash = "CSC 1-01 and CSC 2-02 meet at the same time (Mon Thu 10:00–11:50 am)."
    assert f"Ada is told: {clash}" in page
    assert page.count(clash) == 2  # once as a message, and on the page for as long as it lasts
