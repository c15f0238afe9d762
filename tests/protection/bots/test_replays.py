"""What was good once is sent again: a pass, a captcha, the cookie of a session."""

from collections.abc import Callable
from dataclasses import replace
from time import time
from typing import Any

import pytest
from flask import Flask

from portal.backend import backend
from portal.waiting_room.access_tokens import LIFETIME, AccessToken
from tests.cast import Cast
from tests.protection.bots.bot import Bot
from tests.protection.bots.conftest import Meet
from tests.protection.bots.test_scripts import decisions, inside
from tests.recorder.processes import wait_for
from tests.waiting_room.token_holders import written
from tests.web.pages import held


@pytest.fixture
def given(cast: Cast, term: Any, window: Any) -> AccessToken:
    """A pass of Ada's."""
    return AccessToken(cast.ada.account_id, term.id, window.id, int(time() * 1000) + LIFETIME)


@pytest.fixture
def bot(meet: Meet, cast: Cast) -> Bot:
    """A script of Ada's."""
    return meet(cast.ada)


Carry = Callable[[AccessToken], None]


@pytest.fixture
def carry(bot: Bot, application: Flask, term: Any) -> Carry:
    """Has it send another pass."""
    return lambda held: bot.keep("pass", written(application, held), f"/terms/{term.id}")


def test_a_pass_ends_by_itself(
    bot: Bot, carry: Carry, term: Any, section: Any, given: AccessToken
) -> None:
    inside(bot, term)
    carry(replace(given, ends=int(time() * 1000) - 1))
    assert bot.claim(section).status_code == 403
    carry(given)
    assert bot.claim(section).status_code == 303


def test_a_pass_outlives_its_window_in_vain(
    bot: Bot, cast: Cast, term: Any, window: Any, section: Any
) -> None:
    inside(bot, term)
    backend().ledger.close_window(term.id, window.id, "tests")
    assert bot.claim(section).status_code == 422
    assert held(term, cast.ada) == []


@pytest.mark.parametrize("other", ["term", "window"])
def test_a_pass_is_good_for_its_own_window_alone(
    bot: Bot, carry: Carry, section: Any, given: AccessToken, other: str
) -> None:
    carry(replace(given, **{other: getattr(given, other) + 1}))
    assert bot.claim(section).status_code == 403


def test_a_captcha_counts_once(meet: Meet, cast: Cast, term: Any, window: Any) -> None:
    assert window
    first, copies = meet(cast.ada, proven=False), [meet(cast.ada, proven=False) for _ in range(3)]
    payload = first.solve()
    assert first.post("/captcha", payload=payload).status_code < 400
    for bot in (*copies, meet(cast.ben, proven=False)):
        assert bot.post("/captcha", payload=payload).status_code == 422
        assert bot.come(term) == "unproven"
    assert first.come(term) == "in"


def test_a_session_that_was_ended_is_nobodys(
    bot: Bot, meet: Meet, cast: Cast, term: Any, section: Any
) -> None:
    inside(bot, term)
    assert bot.post("/account/sessions/end").status_code < 400
    stolen = meet(cast.ada)
    stolen.keep("pass", bot.http.cookies["pass"], f"/terms/{term.id}")
    wait_for(lambda: stolen.get("/inbox").status_code == 302)  # all nodes hear within two seconds
    assert stolen.claim(section).status_code == 303
    assert decisions(term) == 0
