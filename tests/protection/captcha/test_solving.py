"""A puzzle that is solved shows once per login that no robot sits there."""

from time import time

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.protection import captcha, captcha_puzzle
from tests.cast import Cast
from tests.protection.captcha.solving import ask, is_proven, redis_away, send, solved, work
from tests.web.visitors import browser_of


def test_who_has_just_logged_in_has_shown_nothing(ada: FlaskClient) -> None:
    assert not is_proven(ada)


def test_a_solution_counts_for_the_session(ada: FlaskClient) -> None:
    answer = send(ada, work(ada))
    assert answer.status_code == 204
    assert answer.headers["HX-Trigger"] == "fs:proven"
    assert is_proven(ada)


def test_a_form_without_scripts_leads_on(ada: FlaskClient) -> None:
    answer = ada.post("/captcha", data={"payload": work(ada), "next": "/inbox"})
    assert (answer.status_code, answer.location) == (303, "/inbox")
    assert "Checked: you are not a robot." in ada.get("/inbox").text


def test_it_never_leads_to_another_site(ada: FlaskClient) -> None:
    answer = ada.post("/captcha", data={"payload": work(ada), "next": "//evil.example"})
    assert answer.location == "/"


def test_it_counts_until_the_logout(ada: FlaskClient, guarded: Flask) -> None:
    send(ada, work(ada))
    ada.post("/logout")
    again = browser_of(guarded, "ada")
    assert not is_proven(again)


def test_it_counts_for_twelve_hours(ada: FlaskClient, cast: Cast) -> None:
    send(ada, work(ada))
    with ada.session_transaction() as session:
        account, until = session["proven"]
        session["proven"] = (account, int(time()) - 1)
    assert account == cast.ada.account_id
    assert until == pytest.approx(time() + 12 * 60 * 60, abs=60)
    assert not is_proven(ada)


def test_what_another_account_has_shown_does_not_count(ada: FlaskClient, cast: Cast) -> None:
    with ada.session_transaction() as session:
        session["proven"] = (cast.ben.account_id, int(time()) + 1000)
    assert not is_proven(ada)


def test_no_puzzle_is_given_out_twice(ada: FlaskClient) -> None:
    assert ask(ada)["signature"] != ask(ada)["signature"]


def test_a_puzzle_costs_redis_nothing(guarded: Flask) -> None:
    with guarded.app_context(), redis_away():
        assert captcha.challenge(1)


def test_a_puzzle_costs_at_most_what_is_set_and_at_least_half(guarded: Flask) -> None:
    with guarded.app_context():
        for _ in range(30):
            tries = solved(captcha_puzzle.make(1, cost=8000).to_dict()).solution.counter + 1
            assert 4000 < tries * captcha_puzzle.ROUNDS <= 8000


def test_a_puzzle_may_cost_next_to_nothing(guarded: Flask) -> None:
    with guarded.app_context():
        assert solved(captcha_puzzle.make(1, cost=0).to_dict()).solution.counter == 0


@pytest.mark.parametrize("address", ["/captcha", "/captcha/challenge", "/captcha/code"])
def test_who_is_not_logged_in_has_no_need_of_it(guarded: Flask, address: str) -> None:
    assert guarded.test_client().get(address).location.startswith("/login")
