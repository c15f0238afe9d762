"""Too many simultaneous logins are refused at once."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from argon2 import PasswordHasher
from sqlalchemy import update

from portal.core.db import transaction
from portal.people.models import Account
from tests.cast import PASSWORD, Cast
from tests.live.nodes import Node, a_node

TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
CROWD = 8  # fewer than the attempts that an account may make at once


@pytest.fixture
def node(cast: Cast, tmp_path: Path) -> object:
    with transaction() as session:
        # Verification takes so long that the others arrive meanwhile, on any machine.
        slow = PasswordHasher(time_cost=100, memory_cost=19456, parallelism=1).hash(PASSWORD)
        mine = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(mine.values(password_hash=slow))
    with a_node(
        tmp_path, {"FAIRSEAT_GATE": "0"}, app="tests.web.account.one_password_at_a_time:app"
    ) as node:
        yield node


def log_in(node: Node, browser: requests.Session) -> requests.Response:
    (token, *_) = TOKEN.findall(browser.get(f"{node.origin}/login").text)
    form = {"csrf_token": token, "username": "ada", "password": PASSWORD}
    return browser.post(f"{node.origin}/login", data=form, allow_redirects=False)


def test_overloaded_login_says_when_to_retry(node: Node) -> None:
    with ThreadPoolExecutor(CROWD) as pool, requests.Session() as patient:
        crowd = [requests.Session() for _ in range(CROWD)]
        answers = list(pool.map(lambda browser: log_in(node, browser), crowd))
        assert {answer.status_code for answer in answers} == {302, 503}
        turned_away = next(answer for answer in answers if answer.status_code == 503)
        assert int(turned_away.headers["Retry-After"])
        assert "Too many people are logging in right now." in turned_away.text
        assert log_in(node, patient).status_code == 302
        for browser in crowd:
            browser.close()
