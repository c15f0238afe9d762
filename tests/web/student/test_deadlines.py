"""The deadlines of a term: shown on pages, and refusals that say what to do after them."""

import re
from datetime import date, timedelta
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.catalog.term_catalog import catalog_of
from portal.core import db
from portal.core.db import transaction
from portal.people.student_profile import profile
from portal.recorder.promotion import promote
from portal.registration import commands, limits
from portal.registration.plan_store import plan_of
from portal.registration.requests import Choice, SectionRequest
from tests import cast as builders
from tests import register
from tests.cast import Cast, set_deadlines
from tests.registration.plan_makers import line
from tests.web import pages
from tests.web.api.callers import caller
from tests.web.pages import held, press, words
from tests.web.student.plans import plan, result, submit
from tests.web.visitors import browser_of

PAST, AHEAD = -2, 2  # days from today


@pytest.fixture
def section(term: Term) -> Section:
    return builders.a_section(builders.a_course(), term, capacity=1)


def last_days(page: str) -> str:
    """Return the line of deadlines on a page, hidden where there are none."""
    return words(page.partition('id="deadlines"')[2].partition("</p>")[0])


@pytest.mark.parametrize("path", ["", "/mine", "/plan", "/schedule", "/stage"])
def test_pages_show_the_deadlines(
    ada: FlaskClient, term: Term, section: Section, path: str
) -> None:
    assert section
    set_deadlines(term, add_deadline=AHEAD, drop_deadline=AHEAD + 1)
    page = words(ada.get(f"/terms/{term.id}{path}").text)
    assert "Last day to add: " in page
    assert "Last day to drop: " in page
    assert "Last day to withdraw" not in page


def test_a_term_without_deadlines_shows_none(ada: FlaskClient, term: Term) -> None:
    page = ada.get(f"/terms/{term.id}").text
    assert "hidden" in last_days(page)
    assert "Last day" not in words(page)


def test_an_add_after_the_last_day_is_refused_with_the_way_to_ask(
    ada: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    set_deadlines(term, add_deadline=PAST)
    form = ada.get(pages.address(section, "pick"))
    assert "The last day to add classes was" in words(form.text)
    assert f"/terms/{term.id}/applications/new/late_add?section={section.id}" in unescape(form.text)
    answer = ada.post(pages.address(section, "pick"), data=pages.hidden(form.text))
    assert answer.status_code == 422
    assert 'data-reason="add_deadline"' in answer.text
    assert held(term, cast.ada) == []


def test_a_page_from_before_the_deadline_is_decided_by_the_new_one(
    ada: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    set_deadlines(term, add_deadline=AHEAD)
    form = pages.hidden(ada.get(pages.address(section, "pick")).text)
    set_deadlines(term, add_deadline=PAST)
    answer = ada.post(pages.address(section, "pick"), data=form)
    assert (answer.status_code, held(term, cast.ada)) == (422, [])


def test_a_drop_after_the_last_day_is_refused_with_the_way_to_withdraw(
    ada: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    press(ada, section, "pick")
    set_deadlines(term, drop_deadline=PAST, withdraw_deadline=AHEAD)
    answer = press(ada, section, "drop")
    assert answer.status_code == 422
    assert "The last day to drop classes was" in words(answer.text)
    assert "You can ask to withdraw until" in words(answer.text)
    new = f"/terms/{term.id}/applications/new/withdrawal?section={section.id}"
    assert new in unescape(answer.text)
    assert held(term, cast.ada) == [section.id]


def test_after_the_last_day_to_withdraw_the_office_is_asked(
    ada: FlaskClient, term: Term, section: Section
) -> None:
    press(ada, section, "pick")
    set_deadlines(term, drop_deadline=PAST - 1, withdraw_deadline=PAST)
    answer = press(ada, section, "drop")
    assert "Ask the registrar’s office." in words(answer.text)
    assert "/applications/new/withdrawal" not in answer.text


def test_a_swap_drops_a_seat_and_names_that_seat_in_the_way_to_withdraw(
    ada: FlaskClient, term: Term, section: Section
) -> None:
    other = builders.a_section(builders.a_course("MAT-1"), term)
    press(ada, section, "pick")
    set_deadlines(term, drop_deadline=PAST)
    answer = ada.get(pages.address(other, f"swap?swap_out={section.id}"))
    assert 'data-reason="drop_deadline"' in answer.text
    assert f"new/withdrawal?section={section.id}" in unescape(answer.text)


def test_a_plan_is_refused_after_the_last_day_to_add_and_kept(
    ada: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    set_deadlines(term, add_deadline=PAST)
    plan(term, cast.ada, line(section.id))
    assert "The last day to add classes was" in words(ada.get(f"/terms/{term.id}/plan").text)
    answer = submit(ada, term)
    assert 'data-outcome="refused"' in result(answer.text, 1)
    assert f'href="/terms/{term.id}/applications"' in answer.text
    assert f"new/late_add?section={section.id}" in unescape(result(answer.text, 1))
    assert held(term, cast.ada) == []
    kept: Any = plan_of(term.id, cast.ada.id)
    assert section.id in kept.sections


def test_after_the_last_day_to_apply_the_office_is_asked(
    ada: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    with transaction() as session:
        stored = session.get_one(Term, term.id)
        stored.starts_on = date.today() - timedelta(days=90)  # noqa: DTZ011
        stored.catalog_version += 1
    set_deadlines(term, add_deadline=-30)
    page = ada.get(pages.address(section, "pick")).text
    assert "/applications/new/late_add" not in page
    assert "It is too late to apply here. Ask the registrar’s office." in words(page)
    plan(term, cast.ada, line(section.id))
    refused = result(submit(ada, term).text, 1)
    assert "Ask the registrar’s office." in words(refused)


def test_rows_offer_no_add_after_the_last_day(
    ada: FlaskClient, term: Term, section: Section
) -> None:
    set_deadlines(term, add_deadline=AHEAD)
    assert "Add" in words(pages.cell(ada.get(f"/terms/{term.id}").text, section))
    [shown] = re.findall(r'/stage\?shown=([^"]*)', ada.get(f"/terms/{term.id}").text)
    set_deadlines(term, add_deadline=PAST)
    page = ada.get(f"/terms/{term.id}").text
    assert "Too late to add" in words(pages.cell(page, section))
    assert ">Add<" not in pages.cell(page, section)
    # Open pages ask for the list again.
    again = ada.get(f"/terms/{term.id}/stage?shown={shown}").text
    assert "Too late to add" in words(again)


def test_waitlists_do_not_start_again_after_the_last_day_to_add(
    app: Flask, ada: FlaskClient, backend: Backend, term: Term, section: Section
) -> None:
    press(browser_of(app, "ben"), section, "pick")
    press(ada, section, "pick", wait="1")
    for window in backend.ledger.windows(term.id):
        backend.ledger.close_window(term.id, window.id, "tests")
    builders.a_coming_window(term, minutes=5 * 24 * 60)
    limits.forget_windows()
    set_deadlines(term, add_deadline=AHEAD)
    page = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "The waitlists start moving again" not in page
    assert "The last day to add classes is before your next window." in page


def test_waitlists_say_that_they_have_stopped_and_promote_no_one(
    app: Flask, ada: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    press(browser_of(app, "ben"), section, "pick")
    press(ada, section, "pick", wait="1")
    set_deadlines(term, add_deadline=PAST)
    press(browser_of(app, "ben"), section, "drop")
    assert promote(term.id, "tests") == 0
    page = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "The last day to add classes has passed. The waitlists no longer move." in page
    assert held(term, cast.ada) == []
    set_deadlines(term, add_deadline=AHEAD)
    assert promote(term.id, "tests") == 1
    assert held(term, cast.ada) == [section.id]


def test_programs_get_the_same_refusals(
    app: Flask, term: Term, section: Section, cast: Cast
) -> None:
    other = builders.a_section(builders.a_course("MAT-1"), term)
    ada = caller(app, "ada")
    body = {"student_id": cast.ada.id, "semester_id": term.id, "section_ids": [section.id]}
    ada.post("/register", body)
    set_deadlines(term, add_deadline=PAST, drop_deadline=PAST)
    dropped = ada.post("/register/drop", {"student_id": cast.ada.id, "section_id": section.id})
    assert "drop_deadline" in dropped.text
    added = ada.post("/register", body | {"section_ids": [other.id]})
    assert "add_deadline" in added.text
    assert held(term, cast.ada) == [section.id]


def test_deadlines_hold_while_postgresql_is_away(
    term: Term, section: Section, cast: Cast, backend: Backend
) -> None:
    set_deadlines(term, add_deadline=PAST)
    assert catalog_of(term.id).section(section.id)
    assert profile(cast.ada.id).account  # both are in memory now
    context = register.context(cast.ada.id, term.id)
    db.connect("postgresql://nobody@127.0.0.1:1/nothing").dispose()
    try:
        [decided] = commands.claim(context, Choice(((SectionRequest(section.id),),)))
    finally:
        db.connect(backend.settings.database_url)
    [reason] = decided.reasons
    assert reason.code == "add_deadline"
