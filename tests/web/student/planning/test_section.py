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
from tests.web.student.plans import own_fields, plan_section, planned
from tests.web.visitors import browser_of


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(title="Data Structures"), term, capacity=9)


def test_section_can_be_planned_before_the_window(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    answer = plan_section(ada, section)
    assert (answer.status_code, answer.location) == (
        303,
        f"/terms/{term.id}#section-{section.id}",
    )
    page = ada.get(f"/terms/{term.id}").text
    assert f"Added to your plan: CSC 1100-{section.number}." in words(page)
    assert planned(term, cast.ada) == [[[section.id]]]


def test_row_shows_that_a_section_is_planned(ada: FlaskClient, term: Any, section: Any) -> None:
    mark = f'name="remove" value="{section.id}" aria-pressed="true"'
    assert mark not in ada.get(f"/terms/{term.id}").text
    plan_section(ada, section)
    assert mark in ada.get(f"/terms/{term.id}").text


def test_dialog_closes_with_the_new_panel(ada: FlaskClient, section: Any) -> None:
    form = ada.get(address(section, "plan"), headers=DIALOG)
    assert "<html" not in form.text
    answer = ada.post(address(section, "plan"), data=own_fields(form.text), headers=DIALOG)
    assert answer.headers["HX-Trigger-After-Settle"] == "fs:close"
    assert 'hx-swap-oob="true" id="plan"' in answer.text
    assert f'data-sections="{section.id}"' in answer.text


def test_dialog_shows_current_and_earlier_occupancy(ada: FlaskClient, term: Any) -> None:
    course = builders.a_course()
    past = a_past_term(2029)
    ended(builders.a_section(course, past, capacity=60), 58, waiting=12)
    section = builders.a_section(course, term, capacity=9)
    _courses.clear()
    page = ada.get(address(section, "plan")).text
    assert f'data-counts="seats-{section.id}"' in page
    assert "9 of 9 open" in words(page)
    assert "In Fall 2029: 58 of 60 seats taken, 12 on the waitlist." in words(page)


def test_likely_refusals_do_not_block_planning(ada: FlaskClient, term: Any, cast: Cast) -> None:
    other = builders.a_section(builders.a_course("PHY-1"), term, meetings=(Meets(),))
    needs = {"prerequisites": {"course": "MAT-1010"}}
    section = builders.a_section(builders.a_course(), term, meetings=(Meets(),), **needs)
    plan_section(ada, other)
    page = ada.get(address(section, "plan")).text
    for code in ("time_conflict", "prerequisite"):
        assert f'data-reason="{code}"' in page
    assert "You can still plan it" in words(page)
    plan_section(ada, section)
    assert planned(term, cast.ada) == [[[other.id]], [[section.id]]]


def test_planned_credits_are_shown_with_the_limit(
    ada: FlaskClient, term: Any, section: Any
) -> None:
    heavy = builders.a_section(builders.a_course("PHY-1", credits=19), term)
    plan_section(ada, section)
    page = ada.get(address(heavy, "plan")).text
    assert "23 of 21 with your whole plan" in words(page)
    assert 'data-reason="credit_limit"' in page


def test_another_section_of_the_course_is_offered_as_an_alternative(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    course = builders.a_course()
    lone = builders.a_section(builders.a_course("PHY-1"), term)
    first, other = (builders.a_section(course, term) for _ in range(2))
    for each in (lone, first):
        plan_section(ada, each)
    page = ada.get(address(other, "plan")).text
    assert 'value="else-1" selected' in page
    assert f"Backup for CSC 1100-{first.number} (choice 2)" in words(page)
    assert 'data-reason="same_course"' not in page
    plan_section(ada, other, "else-1")
    assert planned(term, cast.ada) == [[[lone.id]], [[first.id], [other.id]]]


def test_lab_joins_its_lecture(ada: FlaskClient, term: Any, cast: Cast) -> None:
    lecture = builders.a_section(
        builders.a_course("CHE-1"), term, corequisites={"course": "CHE-1L"}
    )
    lab = builders.a_section(builders.a_course("CHE-1L"), term, corequisites={"course": "CHE-1"})
    plan_section(ada, lab)
    page = ada.get(address(lecture, "plan")).text
    assert 'value="join-0-0" selected' in page
    assert "both or neither" in words(page)
    plan_section(ada, lecture, "join-0-0")
    assert planned(term, cast.ada) == [[[lab.id, lecture.id]]]


def test_lecture_is_planned_with_the_chosen_lab(ada: FlaskClient, term: Any, cast: Cast) -> None:
    lecture = builders.a_section(
        builders.a_course("CHE-1"), term, corequisites={"course": "CHE-1L"}
    )
    labs = builders.a_course("CHE-1L")
    first, second = (
        builders.a_section(labs, term, corequisites={"course": "CHE-1"}) for _ in range(2)
    )
    page = ada.get(address(lecture, "plan")).text
    assert f'value="{first.id}" checked' in page
    plan_section(ada, lecture, **{"with-1": second.id})
    assert planned(term, cast.ada) == [[[lecture.id, second.id]]]


def test_credits_of_a_range_are_chosen(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term, credits_min=1, credits_max=3)
    assert '<option value="3">3</option>' in ada.get(address(section, "plan")).text
    plan_section(ada, section, credits="3")
    assert '<option value="3" selected>3</option>' in ada.get(f"/terms/{term.id}/plan").text


@pytest.mark.parametrize("fields", [{"credits": "9"}, {"version": "x"}, {"with-1": "999999"}])
def test_invalid_input_is_refused(
    ada: FlaskClient, term: Any, section: Any, cast: Cast, fields: dict[str, str]
) -> None:
    assert plan_section(ada, section, **fields).status_code in {400, 404}
    assert planned(term, cast.ada) == []


@pytest.mark.parametrize("where", ["else-7", "join-0-0", "", "anywhere"])
def test_missing_place_in_the_plan_is_reported(ada: FlaskClient, section: Any, where: str) -> None:
    answer = plan_section(ada, section, where)
    assert answer.status_code == 422
    assert "no longer in your plan" in answer.text


def test_form_of_an_older_plan_changes_nothing(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    other = builders.a_section(builders.a_course("PHY-1"), term)
    form = own_fields(ada.get(address(section, "plan")).text)
    plan_section(ada, other)
    answer = ada.post(address(section, "plan"), data=form)
    assert answer.status_code == 422
    assert "Your plan has changed, maybe in another tab" in words(answer.text)
    assert planned(term, cast.ada) == [[[other.id]]]
    ada.post(address(section, "plan"), data=own_fields(answer.text))
    assert len(planned(term, cast.ada)) == 2


def test_planned_section_can_be_removed(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    plan_section(ada, section)
    page = ada.get(address(section, "plan")).text
    assert f"CSC 1100-{section.number} is in your plan" in words(page)
    ada.post(address(section, "plan"), data={**own_fields(page), "do": "out"})
    assert planned(term, cast.ada) == []


def test_full_plan_offers_no_button(ada: FlaskClient, term: Any) -> None:
    courses = [builders.a_course(f"PHY-{each}") for each in range(21)]
    sections = [builders.a_section(course, term) for course in courses]
    for each in sections[:20]:
        plan_section(ada, each)
    page = ada.get(address(sections[20], "plan")).text
    assert "A plan holds at most 20 choices" in words(page)
    assert "Add to plan" not in page


def test_hold_is_shown_with_other_reasons(ada: FlaskClient, section: Any, cast: Cast) -> None:
    with transaction() as session:
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    plan_section(ada, section)
    page = ada.get(f"/terms/{section.term_id}/plan").text
    assert page.count('data-reason="hold"') == 1


def test_invisible_section_is_not_found(ada: FlaskClient, term: Any) -> None:
    hidden_one = builders.a_section(builders.a_course(public=False), term)
    assert ada.get(address(hidden_one, "plan")).status_code == 404


def test_planning_while_the_ledger_is_silent_is_refused(
    ada: FlaskClient, term: Any, section: Any, cast: Cast, servers: Servers
) -> None:
    form = own_fields(ada.get(address(section, "plan"), headers=DIALOG).text)
    with stalled(servers, "valkey"):
        answer = ada.post(address(section, "plan"), data=form, headers=DIALOG)
    assert answer.status_code == 503
    assert "Nothing was changed" in words(answer.text)
    assert planned(term, cast.ada) == []


def test_page_is_for_students(app: Flask, section: Any) -> None:
    assert browser_of(app, "iris").get(address(section, "plan")).status_code == 403
