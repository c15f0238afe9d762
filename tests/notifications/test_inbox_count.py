"""GET /inbox/count: the number beside the link, and what an open page has not told of yet."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.core.outage import postgresql
from portal.notifications import inbox
from portal.people import caches
from tests.cast import Cast
from tests.notifications.stories import Story, notices, set_section
from tests.recorder.processes import wait_for
from tests.statements import statements
from tests.web.pages import words
from tests.web.visitors import browser_of


@pytest.fixture
def ada(app: Flask, story: Story) -> FlaskClient:
    assert story
    return browser_of(app, "ada")


def cancel(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    set_section(story.section, status="CANCELED")
    story.record()


def test_none_is_no_number(ada: FlaskClient) -> None:
    assert words(ada.get("/inbox/count?after=0").text).strip() == ""


def test_it_counts_and_says_so_in_words(ada: FlaskClient, story: Story, cast: Cast) -> None:
    cancel(story, cast)
    page = ada.get("/inbox/count").text
    assert 'id="inbox-count"' in page
    assert "1 unread" in words(page)
    assert f"after={notices()[0].id}" in page


def test_a_page_tells_of_what_came_since_with_a_link(
    ada: FlaskClient, story: Story, cast: Cast
) -> None:
    cancel(story, cast)
    page = ada.get("/inbox/count?after=0").text
    assert 'hx-swap-oob="beforeend:#toasts"' in page
    assert "CSC 1100-01 has been canceled" in words(page)
    assert f'href="/inbox/{notices()[0].id}"' in page


def test_it_shows_no_second_toast(ada: FlaskClient, story: Story, cast: Cast) -> None:
    cancel(story, cast)
    assert "toast" not in ada.get(f"/inbox/count?after={notices()[0].id}").text
    ada.get(f"/inbox/{notices()[0].id}")
    assert "toast" not in ada.get("/inbox/count?after=0").text


def test_a_promotion_is_announced_by_its_own_event(app: Flask, story: Story, cast: Cast) -> None:
    story.hand_over(cast.ada, cast.ben)
    page = browser_of(app, "ben").get("/inbox/count?after=0").text
    assert "1 unread" in words(page)
    assert "toast" not in page


def test_anothers_are_not_counted(app: Flask, story: Story, cast: Cast) -> None:
    cancel(story, cast)
    assert words(browser_of(app, "ben").get("/inbox/count?after=0").text).strip() == ""


def test_every_page_has_the_number_without_asking_postgresql(
    ada: FlaskClient, story: Story, cast: Cast
) -> None:
    cancel(story, cast)
    address = f"/terms/{story.term.id}"
    assert "1 unread" in words(ada.get(address).text)

    def asks() -> bool:
        with statements() as asked:
            ada.get(address)
        return any("notifications" in statement for statement in asked)

    wait_for(lambda: not asks())  # at first, what has just happened is looked up


def test_what_another_process_has_made_is_known_within_seconds(story: Story, cast: Cast) -> None:
    account = cast.ada.account_id
    assert inbox.unread(account) == inbox.UnreadCount(0, 0)
    cancel(story, cast)

    def seen() -> bool:
        caches.refresh()  # as every request does
        return inbox.unread(account) == inbox.UnreadCount(1, notices()[0].id)

    wait_for(seen)


def test_while_postgresql_is_away_there_is_no_number(cast: Cast) -> None:
    postgresql.begin()
    try:
        assert inbox.unread(cast.dan.account_id) is None
    finally:
        postgresql.end()
