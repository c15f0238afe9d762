"""A student is told what is permitted past a rule, what to do with it, and when it is gone."""

from datetime import UTC, datetime
from typing import Any

from flask import Flask
from sqlalchemy import func, select, update

from portal.core.db import transaction
from portal.instructor_requests import service
from portal.people import permissions
from portal.people.models import Account, Permission
from portal.people.permissions import NewPermission
from tests.cast import Cast
from tests.notifications.stories import Story, a_letter, outbox, told
from tests.web.pages import words
from tests.web.visitors import browser_of

RULE = ["prerequisite"]


def permit(story: Story, cast: Cast, **fields: Any) -> None:
    wanted = NewPermission(cast.ada.id, story.section.id, RULE, "Took it abroad.", **fields)
    with transaction() as session:
        permissions.grant(session, wanted, cast.max.id)


def take_back(cast: Cast) -> None:
    with transaction() as session:
        [number] = session.scalars(select(Permission.id))
    assert permissions.revoke(cast.ada.id, number, "A mistake.", by=cast.max.id)


def test_it_says_what_may_be_picked_past_which_rules_until_when(
    app: Flask, story: Story, cast: Cast
) -> None:
    permit(story, cast, until=datetime(2030, 11, 4, 5, tzinfo=UTC))  # midnight in New York
    text = words(browser_of(app, "ada").get("/inbox").text)
    assert f"You have a permission for CSC 1100-{story.section.number}: Prerequisites" in text
    assert "These rules don’t apply to you: Prerequisites. All others do." in text
    assert "You can now add" not in text
    assert "Valid until Sun, Nov 3, 2030, 11:59:59 pm EST." in text
    assert "Took it abroad." not in text


def test_it_comes_by_mail_with_the_way_to_the_section(story: Story, cast: Cast) -> None:
    permit(story, cast)
    mail = a_letter()
    assert mail.to == "ada@u.example"
    assert f"/terms/{story.term.id}?q=CSC+1100" in mail.message.get_content()
    assert "until" not in mail.message.get_content()


def test_no_mail_comes_to_who_wants_none(app: Flask, story: Story, cast: Cast) -> None:
    browser_of(app, "ada").post("/inbox/settings", data={"by_mail": []})
    permit(story, cast)
    assert (told(cast.ada), outbox()) == (["permitted"], [])


def test_the_very_same_is_notified_once(story: Story, cast: Cast) -> None:
    permit(story, cast)
    permit(story, cast)
    assert told(cast.ada) == ["permitted"]


def test_an_approved_request_tells_the_student_too(story: Story, cast: Cast) -> None:
    iris = cast.iris.account_id or 0
    asked = service.request_override(story.section.id, cast.ada.id, RULE, "Knows it.", iris)
    assert told(cast.ada) == []
    service.approve(asked, cast.max.id, "")
    assert told(cast.ada) == ["permitted"]


def test_what_is_taken_back_is_notified_and_a_seat_stays(
    app: Flask, story: Story, cast: Cast
) -> None:
    permit(story, cast)
    take_back(cast)
    assert told(cast.ada) == ["permitted", "permitted"]
    text = words(browser_of(app, "ada").get("/inbox").text)
    assert f"Your permission for CSC 1100-{story.section.number} was removed" in text
    assert "If you have a seat, you keep it." in text


def test_deleted_account_gets_no_notification(story: Story, cast: Cast) -> None:
    with transaction() as session:
        deleted = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(deleted.values(deleted_at=func.now()))
    permit(story, cast)
    assert told(cast.ada) == []
