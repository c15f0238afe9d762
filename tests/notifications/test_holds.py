"""A student is told of a hold as it is placed and as it is lifted: inbox, page and mail."""

from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from portal.core.db import transaction
from portal.core.i18n import in_language
from portal.notifications.kinds import text_of as words
from portal.people import holds
from portal.people.holds import NewHold
from portal.people.models import Hold
from tests.cast import Cast
from tests.notifications.stories import Story, a_letter, notices, outbox, told
from tests.web.pages import words as text_of
from tests.web.visitors import browser_of

BILL = {"kind": "Bursar", "reason": "a bill is unpaid", "office": "the bursar’s office"}


def place(cast: Cast, **fields: Any) -> None:
    wish = NewHold(**{**BILL, **fields})
    holds.place(cast.ada.id, wish, by=cast.max.id, why="Unpaid.")


def lift(cast: Cast) -> None:
    with transaction() as session:
        [number] = session.scalars(select(Hold.id))
    holds.lift(cast.ada.id, number, by=cast.max.id, why="Paid.")


def said(language: str = "en") -> tuple[str, ...]:
    last = notices()[-1]
    with in_language(language):
        found = words(last)
    return (found.title, *found.text)


@pytest.mark.usefixtures("story")
def test_a_hold_that_is_placed_says_why_who_lifts_it_and_what_it_means(
    app: Flask, cast: Cast
) -> None:
    place(cast)
    inbox = text_of(browser_of(app, "ada").get("/inbox").text)
    assert "There is a hold on your record: Bursar" in inbox
    assert "a bill is unpaid. Contact the bursar’s office to have it lifted." in inbox
    assert "While the hold is active you can’t add classes" in inbox
    assert "Unpaid." not in inbox  # the registrar's own reason
    assert told(cast.ben) == []


@pytest.mark.usefixtures("story")
def test_it_goes_by_mail(cast: Cast) -> None:
    place(cast)
    mail = a_letter()
    assert mail.to == "ada@u.example"
    assert mail.message["Subject"] == "There is a hold on your record: Bursar"
    assert "the bursar’s office" in " ".join(mail.message.get_content().split())
    assert "Fall 2030" not in mail.message.get_content()


@pytest.mark.usefixtures("story")
def test_the_inbox_names_no_term_for_it(app: Flask, cast: Cast) -> None:
    place(cast)
    page = browser_of(app, "ada").get("/inbox").text
    assert "There is a hold on your record: Bursar" in page
    assert "Fall 2030" not in page.split('class="inbox-when"')[1].split("</p>")[0]


@pytest.mark.usefixtures("story")
def test_the_days_of_a_hold_are_shown(cast: Cast) -> None:
    place(
        cast,
        starts_at=datetime(2030, 11, 4, 5, tzinfo=UTC),
        ends_at=datetime(2030, 12, 1, 5, tzinfo=UTC),
    )
    told_of = " ".join(said())
    assert "It starts Mon, Nov 4, 2030" in told_of
    assert "It ends Sat, Nov 30, 2030" in told_of


@pytest.mark.usefixtures("story")
def test_a_hold_that_is_lifted_is_notified_once(cast: Cast) -> None:
    place(cast)
    place(cast)
    lift(cast)
    lift(cast)
    assert told(cast.ada) == ["hold", "hold"]
    assert len(outbox()) == 2
    assert said()[0] == "The hold on your record was lifted: Bursar"


def test_a_hold_without_any_term_is_placed_all_the_same(cast: Cast) -> None:
    place(cast)
    assert notices() == []


def test_who_wants_no_mail_of_it_gets_none(app: Flask, story: Story, cast: Cast) -> None:
    browser_of(app, "ada").post("/inbox/settings", data={"by_mail": []})
    place(cast)
    assert (told(cast.ada), outbox()) == (["hold"], [])
    assert story
