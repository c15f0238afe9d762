"""GET and POST /admin/webhooks/<id>/deliveries/<id or all>/retry and …/discard."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.core.db import transaction
from portal.notifications.webhooks import outbox
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.sender import WebhookSender
from tests.audit_trail import entries
from tests.cast import Cast
from tests.notifications.webhooks.conftest import a_webhook
from tests.notifications.webhooks.deliveries import all_sent, deliveries
from tests.notifications.webhooks.receiver import Receiver

WHY = "The program was mended."


@pytest.fixture
def dead(webhook: Webhook, receiver: Receiver, relay: WebhookSender) -> list[int]:
    """Three that the receiver would not take."""
    relay.pauses, receiver.answers = (), [410] * 3
    with transaction() as session:
        for _ in range(3):
            outbox.queue_test(session, webhook.id)
    relay.send_due()
    assert all(each.dead_at for each in deliveries())
    return [each.id for each in deliveries()]


def address(webhook: Webhook, which: object, fate: str) -> str:
    return f"/admin/webhooks/{webhook.id}/deliveries/{which}/{fate}"


def seen(admin: FlaskClient, page: str) -> dict[str, Any]:
    """The form as its page shows it, with a reason."""
    through = admin.get(page).text.split('name="through" value="')[1].split('"')[0]
    return {"through": through, "reason": WHY}


def test_operations_and_the_page_report_them(
    admin: FlaskClient, webhook: Webhook, dead: list[int]
) -> None:
    assert "3 webhook deliveries failed" in admin.get("/admin/operations").text
    page = admin.get(f"/admin/webhooks/{webhook.id}").text
    assert "410 Gone" in page
    assert "None" not in page
    assert f'href="{address(webhook, dead[0], "retry")}"' in page
    assert f'href="{address(webhook, "all", "discard")}"' in page


def test_one_is_sent_again(
    admin: FlaskClient, webhook: Webhook, dead: list[int], relay: WebhookSender, receiver: Receiver
) -> None:
    page = address(webhook, dead[1], "retry")
    assert admin.post(page, data=seen(admin, page)).status_code == 303
    relay.send_due()
    assert receiver.ids == [f"test-{dead[1]}"]
    (entry,) = entries("webhook.retry")
    assert (entry.after, entry.reason) == ({"deliveries": [dead[1]]}, WHY)


def test_all_are_sent_again(
    admin: FlaskClient, webhook: Webhook, dead: list[int], relay: WebhookSender
) -> None:
    page = address(webhook, "all", "retry")
    assert admin.post(page, data=seen(admin, page)).status_code == 303
    assert entries("webhook.retry")[0].after == {"deliveries": dead}
    relay.send_due()
    assert all_sent()


def test_one_is_discarded(admin: FlaskClient, webhook: Webhook, dead: list[int]) -> None:
    page = address(webhook, dead[0], "discard")
    assert admin.post(page, data=seen(admin, page)).status_code == 303
    assert [each.id for each in deliveries()] == dead[1:]


def test_the_second_admin_reads_so(admin: FlaskClient, webhook: Webhook, dead: list[int]) -> None:
    page = address(webhook, dead[0], "discard")
    data = seen(admin, page)
    admin.post(page, data=data)
    assert admin.post(page, data=data).status_code == 409
    assert len(entries("webhook.discard")) == 1


def test_a_reason_is_needed(admin: FlaskClient, webhook: Webhook, dead: list[int]) -> None:
    page = address(webhook, "all", "discard")
    assert admin.post(page, data=seen(admin, page) | {"reason": ""}).status_code == 422
    assert len(deliveries()) == len(dead)


@pytest.mark.parametrize("through", ["2031-01-01T00:00:00", "yesterday"])
def test_what_is_no_time_with_a_zone_is_refused(
    admin: FlaskClient, webhook: Webhook, dead: list[int], through: str
) -> None:
    page = address(webhook, "all", "discard")
    assert admin.post(page, data={"through": through, "reason": WHY}).status_code == 400
    assert len(deliveries()) == len(dead)


def test_those_of_another_webhook_are_out_of_reach(
    admin: FlaskClient, webhook: Webhook, dead: list[int], cast: Cast
) -> None:

    other = a_webhook("https://other.example/", cast)
    assert admin.get(address(other, dead[0], "retry")).status_code == 409
    assert webhook.id != other.id
