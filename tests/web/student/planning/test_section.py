"""GET and POST /terms/<t>/sections/<s>/plan."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.core.db import transaction
from portal.people.models import Hold
from portal.runtime.embedded_servers import Servers
from portal.web.student.earlier_terms import _courses
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.operations.test_health import stalled
from tests.registration.test_earlier_terms import a_past_term, ended
from tests.web.pages import DIALOG, address, words
from tests.web.student.plans import own_fields, place, planned
from tests.web.visitors import browser_of


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(title="Data Structures"), term, capacity=9)


def test_a_section_is_planned_before_selection_opens(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    answer = place(ada, section)
    assert (answer.status_code, answer.location) == (
        303,
        f"/terms/{term.id}#section-{section.id}",
    )
    page = ada.get(f"/terms/{term.id}").text
    assert f"Added to your plan: CSC 1100-{section.number}." in words(page)
    assert planned(term, cast.ada) == [[[section.id]]]


def test_the_row_says_that_it_is_planned(ada: FlaskClient, term: Any, section: Any) -> None:
    mark = f'data-section="{section.id}" data-planned'
    assert mark not in ada.get(f"/terms/{term.id}").text
    place(ada, section)
    assert mark in ada.get(f"/terms/{term.id}").text


def test_the_dialog_comes_without_a_page_round_it_and_closes_with_the_new_panel(
    ada: FlaskClient, section: Any
) -> None:
    form = ada.get(address(section, "plan"), headers=DIALOG)
    assert "<html" not in form.text
    answer = ada.post(address(section, "plan"), data=own_fields(form.text), headers=DIALOG)
    assert answer.headers["HX-Trigger-After-Settle"] == "fs:close"
    assert 'hx-swap-oob="true" id="plan"' in answer.text
    assert f'data-sections="{section.id}"' in answer.text


def test_it_tells_how_full_it_is_and_how_full_it_was(ada: FlaskClient, term: Any) -> None:
    course = builders.a_course()
    past = a_past_term(2029)
    ended(builders.a_section(course, past, capacity=60), 58, waiting=12)
    section = builders.a_section(course, term, capacity=9)
    _courses.clear()
    page = ada.get(address(section, "plan")).text
    assert f'data-counts="seats-{section.id}"' in page
    assert "9 of 9 open" in words(page)
    assert "In Fall 2029: 58 of 60 seats taken, 12 on the waitlist." in words(page)


def test_what_is_foreseen_is_told_and_blocks_nothing(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    other = builders.a_section(builders.a_course("PHY-1"), term, meetings=(Meets(),))
    needs = {"prerequisites": {"course": "MAT-1010"}}
    section = builders.a_section(builders.a_course(), term, meetings=(Meets(),), **needs)
    place(ada, other)
    page = ada.get(address(section, "plan")).text
    for code in ("time_conflict", "prerequisite"):
        assert f'data-reason="{code}"' in page
    assert "You can still plan it" in words(page)
    place(ada, section)
    assert planned(term, cast.ada) == [[[other.id]], [[section.id]]]


def test_the_load_is_told_against_the_limit(ada: FlaskClient, term: Any, section: Any) -> None:
    heavy = builders.a_section(builders.a_course("PHY-1", credits=19), term)
    place(ada, section)
    page = ada.get(address(heavy, "plan")).text
    assert "23 of 21 with your whole plan" in words(page)
    assert 'data-reason="credit_limit"' in page


def test_another_section_of_the_course_is_first_offered_as_a_fallback(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    course = builders.a_course()
    lone = builders.a_section(builders.a_course("PHY-1"), term)
    first, other = (builders.a_section(course, term) for _ in range(2))
    for each in (lone, first):
        place(ada, each)
    page = ada.get(address(other, "plan")).text
    assert 'value="else-1" selected' in page
    assert f"As a backup for CSC 1100-{first.number} (choice 2)" in words(page)
    assert 'data-reason="same_course"' not in page
    place(ada, other, "else-1")
    assert planned(term, cast.ada) == [[[lone.id]], [[first.id], [other.id]]]


def test_a_lab_joins_its_lecture(ada: FlaskClient, term: Any, cast: Cast) -> None:
    lecture = builders.a_section(
        builders.a_course("CHE-1"), term, corequisites={"course": "CHE-1L"}
    )
    lab = builders.a_section(builders.a_course("CHE-1L"), term, corequisites={"course": "CHE-1"})
    place(ada, lab)
    page = ada.get(address(lecture, "plan")).text
    assert 'value="join-0-0" selected' in page
    assert "both or neither" in words(page)
    place(ada, lecture, "join-0-0")
    assert planned(term, cast.ada) == [[[lab.id, lecture.id]]]


def test_a_lecture_is_planned_with_the_lab_that_is_chosen(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    lecture = builders.a_section(
        builders.a_course("CHE-1"), term, corequisites={"course": "CHE-1L"}
    )
    labs = builders.a_course("CHE-1L")
    first, second = (
        builders.a_section(labs, term, corequisites={"course": "CHE-1"}) for _ in range(2)
    )
    page = ada.get(address(lecture, "plan")).text
    assert f'value="{first.id}" checked' in page
    place(ada, lecture, **{"with-1": second.id})
    assert planned(term, cast.ada) == [[[lecture.id, second.id]]]


def test_credits_of_a_range_are_chosen(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term, credits_min=1, credits_max=3)
    assert '<option value="3">3</option>' in ada.get(address(section, "plan")).text
    place(ada, section, credits="3")
    assert '<option value="3" selected>3</option>' in ada.get(f"/terms/{term.id}/plan").text


@pytest.mark.parametrize("fields", [{"credits": "9"}, {"version": "x"}, {"with-1": "999999"}])
def test_nonsense_is_refused(
    ada: FlaskClient, term: Any, section: Any, cast: Cast, fields: dict[str, str]
) -> None:
    assert place(ada, section, **fields).status_code in {400, 404}
    assert planned(term, cast.ada) == []


@pytest.mark.parametrize("where", ["else-7", "join-0-0", "", "anywhere"])
def test_a_place_that_is_none_is_said_to_be_gone(
    ada: FlaskClient, section: Any, where: str
) -> None:
    answer = place(ada, section, where)
    assert answer.status_code == 422
    assert "no longer in your plan" in answer.text


def test_a_form_of_an_older_plan_changes_nothing_and_says_so(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    other = builders.a_section(builders.a_course("PHY-1"), term)
    form = own_fields(ada.get(address(section, "plan")).text)
    place(ada, other)
    answer = ada.post(address(section, "plan"), data=form)
    assert answer.status_code == 422
    assert "Your plan has changed, maybe in another tab" in words(answer.text)
    assert planned(term, cast.ada) == [[[other.id]]]
    ada.post(address(section, "plan"), data=own_fields(answer.text))
    assert len(planned(term, cast.ada)) == 2


def test_what_is_planned_can_be_taken_out(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    place(ada, section)
    page = ada.get(address(section, "plan")).text
    assert f"CSC 1100-{section.number} is in your plan" in words(page)
    ada.post(address(section, "plan"), data=own_fields(page))
    assert planned(term, cast.ada) == []


def test_a_full_plan_says_so_and_offers_no_button(ada: FlaskClient, term: Any) -> None:
    courses = [builders.a_course(f"PHY-{each}") for each in range(21)]
    sections = [builders.a_section(course, term) for course in courses]
    for each in sections[:20]:
        place(ada, each)
    page = ada.get(address(sections[20], "plan")).text
    assert "A plan holds at most 20 choices" in words(page)
    assert "Add to plan" not in page


def test_a_hold_is_told_with_the_rest(ada: FlaskClient, section: Any, cast: Cast) -> None:
    with transaction() as session:
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    place(ada, section)
    page = ada.get(f"/terms/{section.term_id}/plan").text
    assert page.count('data-reason="hold"') == 1


def test_what_a_student_may_not_see_has_no_page(ada: FlaskClient, term: Any) -> None:
    hidden_one = builders.a_section(builders.a_course(public=False), term)
    assert ada.get(address(hidden_one, "plan")).status_code == 404


def test_while_the_ledger_is_silent_nothing_is_planned_as_is_said(
    ada: FlaskClient, term: Any, section: Any, cast: Cast, servers: Servers
) -> None:
    form = own_fields(ada.get(address(section, "plan"), headers=DIALOG).text)
    with stalled(servers, "valkey"):
        answer = ada.post(address(section, "plan"), data=form, headers=DIALOG)
    assert answer.status_code == 503
    assert "Nothing was changed" in words(answer.text)
    assert planned(term, cast.ada) == []


def test_it_is_for_students(app: Flask, section: Any) -> None:
    assert browser_of(app, "iris").get(address(section, "plan")).status_code == 403
