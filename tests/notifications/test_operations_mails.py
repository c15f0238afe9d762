"""GET and POST /admin/operations/mails/<id or all>/retry and …/discard, of mails truly refused."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.notifications.mail_sender import MailSender
from tests.audit_trail import entries
from tests.cast import Cast
from tests.notifications.mail_server import Postman
from tests.notifications.stories import Story, outbox
from tests.registration import database_outage
from tests.web.visitors import browser_of

PAGE = "/admin/operations"
WHY = "The address was mended."


@pytest.fixture
def dead(admin: FlaskClient, much_news: Story, relay: MailSender, postman: Postman) -> list[int]:
    """Four mails that were refused for good."""
    assert admin
    assert much_news
    postman.answers = ["550 no such user"] * 4
    relay.send_due()
    assert all(each.dead_at for each in outbox())
    return [each.id for each in outbox()]


def address(which: object, fate: str) -> str:
    return f"{PAGE}/mails/{which}/{fate}"


def seen(admin: FlaskClient, which: object, fate: str) -> dict[str, Any]:
    """The form as its page shows it, with a reason."""
    page = admin.get(address(which, fate)).text
    through = page.split('name="through" value="')[1].split('"')[0]
    return {"through": through, "reason": WHY}


def test_the_page_shows_each_with_what_went_wrong(admin: FlaskClient, dead: list[int]) -> None:
    page = admin.get(PAGE).text
    assert "4 emails were not delivered." in page
    assert page.count("550 no such user") == 4
    assert "ben@u.example" in page
    assert "A section is canceled" in page
    assert f'href="{address(dead[0], "retry")}"' in page
    assert f'href="{address("all", "discard")}"' in page


def test_one_is_sent_again(  # noqa: PLR0917  who and what has a part in it
    admin: FlaskClient,
    dead: list[int],
    relay: MailSender,
    postman: Postman,
    backend: Backend,
    cast: Cast,
) -> None:
    one = dead[1]
    assert admin.post(address(one, "retry"), data=seen(admin, one, "retry")).status_code == 303
    assert any(job.startswith(b"0-") for job in backend.redis.lrange("rq:queue:notify", 0, -1))
    relay.send_due()
    assert len(postman.recipients) == 1
    (entry,) = entries("mail.%")
    assert (entry.account_id, entry.action) == (cast.max.id, "mail.retry")
    assert (entry.subject, entry.reason) == (f"mail:{one}", WHY)
    assert "550 no such user" in entry.before["error"]
    assert "3 emails were not delivered." in admin.get(PAGE).text


def test_all_that_were_seen_are_sent_again_and_no_later_one(
    admin: FlaskClient, dead: list[int], relay: MailSender, postman: Postman
) -> None:
    form = seen(admin, "all", "retry")
    one = dead[0]
    admin.post(address(one, "retry"), data=seen(admin, one, "retry"))
    postman.answers = ["550 still no such user"]
    relay.send_due()  # it dies again, after the form was shown
    assert admin.post(address("all", "retry"), data=form).status_code == 303
    assert entries("mail.%")[-1].after == {"mails": dead[1:]}
    assert [bool(each.dead_at) for each in outbox()] == [True, False, False, False]


def test_discarded_ones_are_forgotten(admin: FlaskClient, dead: list[int]) -> None:
    one = dead[0]
    admin.post(address(one, "discard"), data=seen(admin, one, "discard"))
    assert [each.id for each in outbox()] == dead[1:]
    admin.post(address("all", "discard"), data=seen(admin, "all", "discard"))
    assert outbox() == []
    assert [entry.subject for entry in entries("mail.%")] == [f"mail:{one}", "mail:all"]
    assert "No undelivered email." in admin.get(PAGE).text


def test_the_second_admin_reads_so_and_nothing_happens_twice(
    app: Flask, admin: FlaskClient, dead: list[int]
) -> None:
    other, one = browser_of(app, "max"), dead[0]
    both = [
        (each, seen(each, one, fate), fate) for each, fate in ((admin, "retry"), (other, "discard"))
    ]
    codes = [each.post(address(one, fate), data=form).status_code for each, form, fate in both]
    assert codes == [303, 409]
    assert [each.id for each in outbox()] == dead
    assert [entry.action for entry in entries("mail.%")] == ["mail.retry"]
    assert "Someone else handled it" in other.get(address(one, "discard")).text


def test_it_needs_a_reason_and_a_form_of_ours(admin: FlaskClient, dead: list[int]) -> None:
    form = seen(admin, dead[0], "discard")
    assert admin.post(address(dead[0], "discard"), data=form | {"reason": ""}).status_code == 422
    for through in ("x", "2031-01-01T00:00:00"):  # the other without a zone
        unread = admin.post(address(dead[0], "discard"), data=form | {"through": through})
        assert unread.status_code == 400
        assert "Go back, reload the page" in unread.text
    assert admin.post(address(dead[0], "discard"), data={"reason": WHY}).status_code == 400
    assert (len(outbox()), entries("mail.%")) == (4, [])


def test_nothing_is_done_while_postgresql_is_away(admin: FlaskClient, dead: list[int]) -> None:
    form = seen(admin, "all", "discard")
    admin.get(PAGE)
    with database_outage.away():
        assert admin.post(address("all", "discard"), data=form).status_code == 503
        assert "4 emails were not delivered." in admin.get(PAGE).text  # as last known
    assert [each.id for each in outbox()] == dead
