"""Each solution counts once, wherever it is sent, and never if the portal can't check that."""

import sys
from multiprocessing.pool import ThreadPool
from subprocess import run

from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.protection import captcha
from tests.cast import Cast
from tests.protection.captcha.solving import is_proven, redis_away, send, solved, work
from tests.web.visitors import browser_of

USED = "was already used"
ON_ANOTHER_NODE = """
import sys
from portal.app import create_app
from portal.protection import captcha
with create_app().app_context():
    captcha.check(sys.argv[1], int(sys.argv[2]))
"""


def test_another_session_of_the_account_cannot_use_it(ada: FlaskClient, guarded: Flask) -> None:
    payload = work(ada)
    send(ada, payload)
    again = browser_of(guarded, "ada")
    answer = send(again, payload)
    assert answer.status_code == 422
    assert USED in answer.text
    assert not is_proven(again)


def test_what_was_used_on_another_node_counts_no_more(ada: FlaskClient, cast: Cast) -> None:
    payload = work(ada)
    command = [sys.executable, "-c", ON_ANOTHER_NODE, payload, str(cast.ada.account_id)]
    run(command, check=True)
    assert USED in send(ada, payload).text


def test_of_many_at_the_same_time_one_counts(guarded: Flask, cast: Cast) -> None:
    account = cast.ada.account_id
    with guarded.app_context():
        payload = solved(captcha.challenge(account)).to_base64()

    def use(_: int) -> str:
        with guarded.app_context():
            try:
                captcha.check(payload, account)
            except captcha.NotProven as refused:
                return refused.reason
            return "taken"

    with ThreadPool(8) as threads:
        outcomes = threads.map(use, range(8))
    assert sorted(outcomes) == ["replayed"] * 7 + ["taken"]


def test_another_spelling_of_it_is_the_same(ada: FlaskClient, guarded: Flask) -> None:
    payload = work(ada)
    send(ada, payload)
    again = browser_of(guarded, "ada")
    assert USED in send(again, f"\n{payload}\n").text


def test_it_is_remembered_until_it_has_expired(ada: FlaskClient) -> None:
    send(ada, work(ada))
    [key] = backend().redis.keys("captcha:used:*")
    assert 20 * 60 < backend().redis.ttl(key) <= 21 * 60


def test_what_does_not_count_is_not_used_up(ada: FlaskClient) -> None:
    assert send(ada, "garbage").status_code == 422
    assert not backend().redis.keys("captcha:*")


def test_without_redis_nothing_counts_and_nothing_is_lost(ada: FlaskClient) -> None:
    payload = work(ada)
    with redis_away():
        answer = send(ada, payload)
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert not is_proven(ada)
    assert send(ada, payload).status_code == 204
