"""GET /inbox and what is read in it."""

import re
from datetime import UTC, datetime

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert, select, update

from portal.core.db import transaction
from portal.notifications.kinds import text_of as words
from portal.notifications.models import Notification
from portal.people.models import Student
from tests.cast import Cast
from tests.notifications.stories import Story, notices
from tests.web.pages import HTMX
from tests.web.pages import words as text_of
from tests.web.visitors import browser_of


@pytest.fixture
def ben(app: Flask, story: Story, cast: Cast) -> FlaskClient:
    """Ben's browser, when he has just been promoted."""
    story.hand_over(cast.ada, cast.ben)
    return browser_of(app, "ben")


def many(story: Story, student: Student, number: int) -> list[int]:
    """So many notices for a student; gives their ids."""
    rows = [
        {
            "account_id": student.account_id,
            "term_id": story.term.id,
            "kind": "promoted",
            "data": {"code": "CSC-1100", "number": f"{each:02}", "title": "Data Structures"},
            "made_at": datetime.now(UTC),
            "seq": 10_000 + each,
            "lead": 0,
        }
        for each in range(number)
    ]
    with transaction() as session:
        made = insert(Notification).returning(Notification.id, sort_by_parameter_order=True)
        return list(session.scalars(made, rows))


def unread() -> list[int]:
    with transaction() as session:
        found = select(Notification.id).where(Notification.read_at.is_(None))
        return list(session.scalars(found.order_by(Notification.id)))


def only() -> Notification:
    (notice,) = notices()
    return notice


def shown(page: str) -> list[int]:
    return [int(each) for each in re.findall(r'id="notice-(\d+)"', page)]


def test_it_tells_what_has_happened_and_that_it_is_new(ben: FlaskClient) -> None:
    text = text_of(ben.get("/inbox").text)
    assert "New You got a seat in CSC 1100-01" in text
    assert "A seat opened and you got it." in text
    assert "1 unread" in text


def test_an_empty_one_says_what_will_be_in_it(app: Flask, story: Story) -> None:
    assert story
    assert "No notifications yet." in browser_of(app, "ada").get("/inbox").text


@pytest.mark.parametrize("username", ["iris", "max"])
def test_everyone_who_is_logged_in_has_one(app: Flask, story: Story, username: str) -> None:
    assert story
    assert browser_of(app, username).get("/inbox").status_code == 200


@pytest.mark.parametrize("address", ["/inbox", "/inbox/1", "/inbox/count", "/inbox/settings"])
def test_who_is_not_logged_in_has_none(client: FlaskClient, address: str) -> None:
    assert client.get(address).location.startswith("/login")


def test_the_newest_comes_first(ben: FlaskClient, story: Story, cast: Cast) -> None:
    more = many(story, cast.ben, 3)
    assert shown(ben.get("/inbox").text) == [*reversed(more), notices()[0].id]


def test_older_ones_are_on_pages_behind(app: Flask, story: Story, cast: Cast) -> None:
    ids = many(story, cast.ada, 45)[::-1]
    ada, found, address = browser_of(app, "ada"), [], "/inbox"
    for _ in range(3):
        page = ada.get(address).text
        found.append(shown(page))
        older = re.search(r'href="(/inbox\?before=[^"]+)"[^>]*>Older', page)
        address = older[1].replace("&amp;", "&") if older else ""
    assert found == [ids[:20], ids[20:40], ids[40:]]
    assert address == ""


def test_whoever_follows_it_has_read_it(ben: FlaskClient, story: Story) -> None:
    answer = ben.get(f"/inbox/{only().id}")
    assert answer.location == f"/terms/{story.term.id}/mine"
    assert unread() == []
    assert "unread" not in text_of(ben.get("/inbox").text)


def test_it_can_be_marked_as_read(ben: FlaskClient) -> None:
    answer = ben.post(f"/inbox/{only().id}/read")
    assert (answer.status_code, answer.location) == (303, "/inbox")
    assert unread() == []


def test_it_is_marked_in_its_place(ben: FlaskClient) -> None:
    answer = ben.post(f"/inbox/{only().id}/read", headers=HTMX)
    assert f'id="notice-{only().id}" hx-swap-oob="true"' in answer.text
    assert 'id="inbox-count" hx-swap-oob="true"' in answer.text
    assert "unread" not in text_of(answer.text)
    assert "Mark as read" not in answer.text


def test_all_can_be_marked_but_those_that_came_since(
    ben: FlaskClient, story: Story, cast: Cast
) -> None:
    page = ben.get("/inbox").text
    found = re.search(r'name="through" value="(\d+)"', page)
    assert found
    newer = many(story, cast.ben, 2)
    assert ben.post("/inbox/read", data={"through": found[1]}).status_code == 303
    assert unread() == newer


def test_what_makes_no_sense_is_refused(ben: FlaskClient) -> None:
    assert ben.post("/inbox/read", data={"through": "x"}).status_code == 400
    assert ben.post("/inbox/read").status_code == 400


def test_anothers_is_not_there(app: Flask, ben: FlaskClient) -> None:
    ada, notice = browser_of(app, "ada"), only().id
    assert shown(ada.get("/inbox").text) == []
    assert ada.get(f"/inbox/{notice}").status_code == 404
    assert ada.post(f"/inbox/{notice}/read").status_code == 404
    ada.post("/inbox/read", data={"through": notice + 1000})
    assert unread() == [notice]
    assert ben


@pytest.mark.parametrize("address", ["/inbox/read", "/inbox/1/read", "/inbox/settings"])
def test_a_form_of_another_site_changes_nothing(app: Flask, ben: FlaskClient, address: str) -> None:
    app.config["WTF_CSRF_ENABLED"] = True
    try:
        assert ben.post(address, data={"through": "100000"}).status_code == 400
    finally:
        app.config["WTF_CSRF_ENABLED"] = False
    assert unread() == [only().id]


def test_what_has_been_marked_stays_marked_as_of_the_first_time(ben: FlaskClient) -> None:
    ben.post(f"/inbox/{only().id}/read")
    first = only().read_at
    ben.get(f"/inbox/{only().id}")
    assert only().read_at == first


def test_the_seat_that_went_for_it_is_named() -> None:
    old = {"code": "MAT-1010", "number": "02"}
    data = {"code": "CSC-1100", "number": "01", "title": "Data Structures", "instead": old}
    told = words(Notification(kind="promoted", term_id=1, section_id=1, data=data)).text
    assert told[1] == "As you asked, you dropped MAT 1010-02 for it."


def test_titles_are_no_markup(ben: FlaskClient) -> None:
    evil = {"code": "<b>X", "number": "1", "title": "", "had": "seat"}
    with transaction() as session:
        session.execute(update(Notification).values(kind="section_canceled", data=evil))
    page = ben.get("/inbox").text
    assert "<b>X" not in page
    assert "&lt;b&gt;X" in page
