"""/inbox/settings: what comes by mail."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.core.db import transaction
from portal.notifications.creation import FOR_STUDENTS
from portal.notifications.models import NotificationSetting
from portal.people.models import Account
from tests.cast import Cast
from tests.notifications.stories import Story, outbox, told
from tests.web.pages import words
from tests.web.visitors import browser_of


@pytest.fixture
def ben(app: Flask, story: Story) -> FlaskClient:
    assert story
    return browser_of(app, "ben")


def checked(page: str) -> set[str]:
    return set(re.findall(r'value="(\w+)" aria-describedby="[^"]*" checked', page))


def wished(account: int) -> dict[str, bool]:
    with transaction() as session:
        mine = NotificationSetting.account_id == account
        return {
            row.kind: row.by_mail
            for row in session.scalars(select(NotificationSetting).where(mine))
        }


def test_at_first_everything_comes_by_mail(ben: FlaskClient) -> None:
    page = ben.get("/inbox/settings").text
    assert checked(page) == FOR_STUDENTS
    assert "We send emails to ben@u.example." in words(page)


def test_what_is_left_unchecked_comes_no_more(ben: FlaskClient, story: Story, cast: Cast) -> None:
    answer = ben.post("/inbox/settings", data={"by_mail": ["section_canceled"]})
    assert (answer.status_code, answer.location) == (303, "/inbox/settings")
    assert checked(ben.get("/inbox/settings").text) == {"section_canceled"}
    story.hand_over(cast.ada, cast.ben)
    assert (told(cast.ben), outbox()) == (["promoted"], [])


def test_it_can_be_turned_on_again(ben: FlaskClient, cast: Cast) -> None:
    ben.post("/inbox/settings")
    assert set(wished(cast.ben.account_id).values()) == {False}
    ben.post("/inbox/settings", data={"by_mail": ["promoted", "window_soon"]})
    wanted = {kind for kind, by_mail in wished(cast.ben.account_id).items() if by_mail}
    assert wanted == {"promoted", "window_soon"}


def test_nonsense_is_not_kept(ben: FlaskClient, cast: Cast) -> None:
    ben.post("/inbox/settings", data={"by_mail": ["promoted", "horoscope"]})
    assert set(wished(cast.ben.account_id)) == FOR_STUDENTS


def test_one_changes_only_ones_own(ben: FlaskClient, cast: Cast) -> None:
    ben.post("/inbox/settings")
    assert wished(cast.ada.account_id) == {}


def test_it_says_that_it_was_saved(ben: FlaskClient) -> None:
    assert "Settings saved." in ben.post("/inbox/settings", follow_redirects=True).text


def test_who_has_no_address_reads_so(ben: FlaskClient) -> None:
    with transaction() as session:
        session.execute(update(Account).values(email=""))
    assert "We don’t have your email address." in ben.get("/inbox/settings").text
