"""GET and POST /admin/webhooks and below: receivers made, changed, switched, tested, deleted."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.core.db import transaction
from portal.notifications.webhooks import receivers
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.receivers import signing_secret
from portal.notifications.webhooks.sender import WebhookSender
from tests.audit_trail import entries
from tests.cast import Cast
from tests.notifications.webhooks.conftest import a_webhook
from tests.notifications.webhooks.deliveries import deliveries
from tests.notifications.webhooks.receiver import Receiver
from tests.web.visitors import browser_of

PAGE = "/admin/webhooks"
URL = "https://campus.example/hook"
WHY = "The library wants to know."


@pytest.fixture
def known(cast: Cast) -> Webhook:
    return a_webhook(URL, cast)


def wish(**changed: Any) -> dict[str, Any]:
    return {"url": URL, "names": ["enrolled", "dropped"], "reason": WHY, **changed}


def now(webhook: Webhook) -> Webhook | None:
    with transaction() as session:
        return receivers.webhook(session, webhook.id)


def test_a_new_one_shows_its_secret_this_once(admin: FlaskClient) -> None:
    answer = admin.post(PAGE, data=wish())
    with transaction() as session:
        (made,) = receivers.webhooks(session)
    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert signing_secret(made.seed) in answer.text
    assert signing_secret(made.seed) not in admin.get(f"{PAGE}/{made.id}").text
    assert (made.url, made.names, made.is_on) == (URL, ["enrolled", "dropped"], True)
    (entry,) = entries("webhook.%")
    assert (entry.action, entry.subject) == ("webhook.make", f"webhook:{made.id}")
    assert entry.reason == WHY
    assert made.seed not in str(entry.after)


def test_two_presses_make_one_receiver(app: Flask, admin: FlaskClient) -> None:
    browsers = [admin, browser_of(app, "max")]
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(lambda browser: browser.post(PAGE, data=wish()), browsers))
    assert sorted(answer.status_code for answer in answers) == [201, 409]
    (late,) = (answer for answer in answers if answer.status_code == 409)
    assert "A webhook with this address already exists" in late.text
    with transaction() as session:
        assert len(receivers.webhooks(session)) == 1


def test_no_other_can_be_given_its_address(admin: FlaskClient, known: Webhook, cast: Cast) -> None:
    other = a_webhook("https://campus.example/other", cast)
    answer = admin.post(f"{PAGE}/{other.id}/edit", data=wish(version=1))
    assert answer.status_code == 422
    assert "A webhook with this address already exists" in answer.text
    found = now(other)
    assert found
    assert (found.url, found.version) == (other.url, 1)
    admin.post(f"{PAGE}/{known.id}/delete", data={"reason": WHY, "version": 1})
    assert admin.post(f"{PAGE}/{other.id}/edit", data=wish(version=1)).status_code == 303


def test_the_list_leads_to_each(admin: FlaskClient, known: Webhook) -> None:
    page = admin.get(PAGE).text
    assert f'href="{PAGE}/{known.id}"' in page
    assert URL in page


def test_operations_leads_to_the_list(admin: FlaskClient) -> None:
    assert f'href="{PAGE}"' in admin.get("/admin/operations").text


@pytest.mark.parametrize(
    "wrong",
    [{"url": "http://[::1/"}, {"url": ""}, {"names": []}, {"names": ["refused"]}, {"reason": ""}],
)
def test_errors_are_reported_and_nothing_is_made(admin: FlaskClient, wrong: dict[str, Any]) -> None:
    answer = admin.post(PAGE, data=wish(**wrong))
    assert answer.status_code == 422
    assert f'href="#{next(iter(wrong))}"' in answer.text
    assert not entries("webhook.%")


def test_it_can_be_changed(admin: FlaskClient, known: Webhook) -> None:
    data = wish(url="https://other.example/", names=["left"], version=known.version)
    assert admin.post(f"{PAGE}/{known.id}/edit", data=data).status_code == 303
    after = now(known)
    assert after
    assert (after.url, after.names) == ("https://other.example/", ["left"])
    assert entries("webhook.%")[-1].before == {"url": URL, "names": known.names}


@pytest.mark.parametrize("path", ["edit", "off", "secret", "delete"])
def test_two_admins_do_not_overwrite_each_other(
    admin: FlaskClient, known: Webhook, path: str
) -> None:
    data = wish(version=known.version)
    admin.post(f"{PAGE}/{known.id}/edit", data=data)
    before = now(known)
    answer = admin.post(f"{PAGE}/{known.id}/{path}", data=data | {"url": "https://z.example/"})
    assert answer.status_code == 409
    after = now(known)
    assert before
    assert after
    assert after.version == before.version


@pytest.mark.parametrize("action", ["off", "delete"])
def test_it_is_off_once_it_is_switched_off_or_deleted(
    admin: FlaskClient, known: Webhook, action: str
) -> None:
    asked = admin.get(f"{PAGE}/{known.id}/{action}").text
    assert f'name="version" value="{known.version}"' in asked
    data = {"version": known.version, "reason": WHY}
    assert admin.post(f"{PAGE}/{known.id}/{action}", data=data).status_code == 303
    after = now(known)
    assert after is None if action == "delete" else after and not after.is_on
    assert entries("webhook.%")[-1].reason == WHY
    assert admin.get(f"{PAGE}/{known.id}").status_code == (404 if action == "delete" else 200)


def test_a_new_secret_is_shown_this_once(admin: FlaskClient, known: Webhook) -> None:
    answer = admin.post(f"{PAGE}/{known.id}/secret", data={"version": known.version, "reason": WHY})
    after = now(known)
    assert after
    assert after.seed != known.seed
    assert signing_secret(after.seed) in answer.text
    assert signing_secret(after.seed) not in admin.get(f"{PAGE}/{known.id}").text


def test_a_test_is_sent_and_seen(
    admin: FlaskClient, cast: Cast, receiver: Receiver, relay: WebhookSender, backend: Backend
) -> None:
    webhook = a_webhook(receiver.url, cast)
    assert admin.post(f"{PAGE}/{webhook.id}/test").status_code == 303
    assert entries("webhook.%")[-1].action == "webhook.test"
    assert "Waiting" in admin.get(f"{PAGE}/{webhook.id}").text
    jobs = backend.redis.lrange("rq:queue:background", 0, -1)
    assert any(job.startswith(b"deliver-0-") for job in jobs)
    relay.send_due()
    assert "Delivered" in admin.get(f"{PAGE}/{webhook.id}").text


def test_one_that_was_switched_off_meanwhile_is_sent_no_test(
    admin: FlaskClient, known: Webhook
) -> None:
    admin.post(f"{PAGE}/{known.id}/off", data={"version": known.version, "reason": WHY})
    answer = admin.post(f"{PAGE}/{known.id}/test")
    assert answer.status_code == 409
    assert "Someone else has changed this" in answer.text
    assert not deliveries()
    assert entries("webhook.%")[-1].action == "webhook.switch"


def test_the_trail_tells_how_it_was_before_a_switch(admin: FlaskClient, known: Webhook) -> None:
    for version in (known.version, known.version + 1):
        admin.post(f"{PAGE}/{known.id}/off", data={"version": version, "reason": WHY})
    assert [each.before for each in entries("webhook.%")[-2:]] == [{"on": True}, {"on": False}]


def test_the_page_says_that_one_is_left_alone(
    admin: FlaskClient, cast: Cast, receiver: Receiver, relay: WebhookSender
) -> None:
    receiver.close()
    webhook = a_webhook(receiver.url, cast)
    relay.rest = 60
    for _ in range(5):
        admin.post(f"{PAGE}/{webhook.id}/test")
    relay.pauses = (60.0,)
    relay.send_due()
    page = admin.get(f"{PAGE}/{webhook.id}").text
    assert "The next try is at" in page
    assert "Connection refused" in page
    assert all(each.tries == 1 for each in deliveries())


@pytest.mark.parametrize("who", ["ada", "iris"])
def test_no_one_else_may(app: Flask, cast: Cast, known: Webhook, who: str) -> None:
    assert cast
    other = browser_of(app, who)
    assert other.get(PAGE).status_code == 403
    assert other.post(PAGE, data=wish()).status_code == 403
    assert other.get(f"{PAGE}/{known.id}").status_code == 403
    for action in ("edit", "test", "off", "on", "secret", "delete", "deliveries/all/retry"):
        assert other.post(f"{PAGE}/{known.id}/{action}", data=wish()).status_code == 403
