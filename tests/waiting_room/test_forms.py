"""Claim forms: admitted students get the form, others the queue or the captcha."""

from time import time
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.registration import plan_store, plans
from portal.registration.requests import SectionRequest
from portal.runtime.embedded_servers import Servers
from portal.waiting_room import access_tokens
from portal.waiting_room.access_tokens import AccessToken
from tests import cast as builders
from tests.cast import Cast
from tests.operations.test_health import stalled
from tests.waiting_room.lobby import come, facts, look, shut
from tests.waiting_room.token_holders import written
from tests.web.pages import DIALOG, address, held, hidden, press, words
from tests.web.visitors import browser_of


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(), term, capacity=1)


def test_form_admits_and_claims_if_the_queue_is_empty(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    builders.an_open_window(term)
    assert press(ada, section, "pick").status_code == 303
    assert held(term, cast.ada) == [section.id]


def test_swap_is_admitted_if_the_queue_is_empty(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    other = builders.a_section(builders.a_course("MAT-1010"), term)
    builders.an_open_window(term)
    press(ada, section, "pick")
    assert press(ada, other, f"swap?swap_out={section.id}").status_code == 303
    assert held(term, cast.ada) == [other.id]


def test_claim_of_another_section_of_a_held_course_is_admitted(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    course = builders.a_course("MAT-1010")
    one, two = (builders.a_section(course, term) for _ in range(2))
    builders.an_open_window(term)
    press(ada, one, "pick")
    form = ada.get(address(two, "pick"))
    answer = ada.post(address(two, f"swap?swap_out={one.id}"), data=hidden(form.text))
    assert answer.status_code == 303
    assert held(term, cast.ada) == [two.id]
    assert section.id


def test_refused_form_can_be_sent_again(ada: FlaskClient, term: Any, section: Any) -> None:
    builders.an_open_window(term)
    refused = press(ada, section, "pick", credits="99")
    assert refused.status_code == 422
    assert ada.post(address(section, "pick"), data=hidden(refused.text)).status_code == 303


def test_unanswered_form_can_be_sent_again(
    ada: FlaskClient, term: Any, section: Any, servers: Servers, cast: Cast
) -> None:
    builders.an_open_window(term)
    form = hidden(ada.get(address(section, "pick")).text)
    with stalled(servers, "valkey"):
        silent = ada.post(address(section, "pick"), data={**form, "unsure": "1"})
    assert silent.status_code == 503
    assert ada.post(address(section, "pick"), data=hidden(silent.text)).status_code == 303
    assert held(term, cast.ada) == [section.id]


def test_form_is_replaced_by_the_queue_while_others_are_first(
    ada: FlaskClient, term: Any, section: Any
) -> None:
    shut(term, builders.an_open_window(term))
    page = ada.get(address(section, "pick"), headers=DIALOG).text
    assert "You are number 1 in the queue" in page
    assert 'name="request"' not in page
    assert f'hx-get="{address(section, "pick")}"' in page
    assert 'hx-trigger="fs:turn from:body' in page


def test_form_appears_when_the_student_is_admitted(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    ada.get(address(section, "pick"))
    shut(term, window, inside=1)
    assert press(ada, section, "pick").status_code == 303
    assert held(term, cast.ada) == [section.id]


def test_queued_swap_returns_to_the_same_swap(ada: FlaskClient, term: Any, section: Any) -> None:
    other = builders.a_section(builders.a_course("MAT-1010"), term)
    shut(term, builders.an_open_window(term))
    page = ada.get(address(other, f"swap?swap_out={section.id}"), headers=DIALOG).text
    assert f'hx-get="{address(other, f"swap?swap_out={section.id}")}"' in page


def test_captcha_replaces_the_form_until_it_is_solved(
    guarded: Flask, term: Any, section: Any
) -> None:
    builders.an_open_window(term)
    page = browser_of(guarded, "ada").get(address(section, "pick"), headers=DIALOG).text
    assert "data-captcha=" in page
    assert "fs:proven from:body" in page
    assert 'name="request"' not in page


def test_form_shows_likely_refusals_before_the_opening(
    ada: FlaskClient, term: Any, section: Any
) -> None:
    builders.a_coming_window(term)
    assert "opens" in words(ada.get(address(section, "pick")).text)


def test_plan_is_refused_until_the_student_is_admitted(
    ada: FlaskClient, term: Any, section: Any
) -> None:
    builders.an_open_window(term)
    form = {"plan": f"{section.id}", "request": "a-key-of-its-own"}
    submit = f"/terms/{term.id}/plan/submit"
    refused = ada.post(submit, data=form, headers=DIALOG)
    assert (refused.status_code, refused.headers["Fairseat-Gate"]) == (403, "pass")
    come(ada, term)
    assert ada.post(submit, data=form, headers=DIALOG).headers.get("Fairseat-Gate") is None


def test_plan_page_admits_if_the_queue_is_empty(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    builders.an_open_window(term)
    look(ada, term)
    assert ada.get_cookie("pass", path=f"/terms/{term.id}") is None
    part = (SectionRequest(section.id),)
    plan_store.change(term.id, cast.ada.id, 0, lambda _: plans.add(plans.Plan(), part))
    look(ada, term)
    assert ada.get_cookie("pass", path=f"/terms/{term.id}")


def test_plan_begun_in_an_open_window_can_be_submitted_at_once(
    ada: FlaskClient, term: Any, section: Any
) -> None:
    builders.an_open_window(term)
    form = hidden(ada.get(address(section, "plan"), headers=DIALOG).text)
    assert ada.post(address(section, "plan"), data=form, headers=DIALOG).status_code == 200
    assert ada.get_cookie("pass", path=f"/terms/{term.id}")


def test_refusal_links_to_the_queue(guarded: Flask, ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    page = ada.post(f"/terms/{term.id}/plan/submit").text
    assert f'href="/terms/{term.id}/room"' in page
    assert guarded


def test_token_is_renewed_by_page_views(
    guarded: Flask, ada: FlaskClient, term: Any, cast: Cast
) -> None:
    window = builders.an_open_window(term)
    come(ada, term)
    soon = int(time() * 1000) + access_tokens.LIFETIME // 3
    held = AccessToken(cast.ada.account_id, term.id, window.id, soon)
    ada.set_cookie("pass", written(guarded, held), path=f"/terms/{term.id}")
    until = int(facts(look(ada, term))["until"])
    assert until > soon
    assert int(facts(look(ada, term))["until"]) == until
