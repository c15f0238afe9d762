"""What a receiver is told, and that it can tell whom it is from."""

from datetime import datetime, timedelta

from portal.core.db import transaction
from portal.notifications.webhooks import outbox, receivers
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.receivers import ChangedBy, signing_secret
from portal.notifications.webhooks.sender import WebhookSender
from tests.cast import Cast
from tests.notifications.stories import Story
from tests.notifications.webhooks.conftest import a_webhook
from tests.notifications.webhooks.deliveries import deliveries
from tests.notifications.webhooks.receiver import Receiver, signed


def test_it_says_who_got_a_seat_where_and_when(
    story: Story, cast: Cast, webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    story.claim(cast.ada)
    story.record()
    relay.send_due()
    (told,), (only,) = receiver.told, deliveries()
    facts = told.facts
    assert datetime.fromisoformat(facts.pop("at")).utcoffset() == timedelta(0)
    assert facts == {
        "id": f"{story.term.id}-{only.seq}",
        "name": "enrolled",
        "seq": only.seq,
        "semester_id": story.term.id,
        "semester": story.term.name,
        "section_id": story.section.id,
        "crn": story.section.crn,
        "section": f"CSC 1100-{story.section.number}",
        "student_id": cast.ada.id,
        "student_number": cast.ada.number,
        "seats": {"status": "OPEN", "capacity": 1, "taken": 1, "waiting": 0},
    }
    assert webhook.id == only.webhook_id


def test_it_is_posted_as_standard_webhooks_has_it(
    story: Story, cast: Cast, webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    story.claim(cast.ada)
    story.record()
    relay.send_due()
    (told,) = receiver.told
    assert told.path == "/hook?of=fairseat"
    assert told.headers["content-type"] == "application/json"
    assert told.id == told.facts["id"]
    assert signed(signing_secret(webhook.seed), told)
    assert not signed(signing_secret("another"), told)


def test_a_new_secret_signs_from_then_on(
    story: Story, cast: Cast, webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    story.claim(cast.ada)
    story.record()
    with transaction() as session:
        newer = receivers.renew(session, webhook, ChangedBy(cast.max.id, "it was seen"))
    relay.send_due()
    assert signed(signing_secret(newer.seed), receiver.told[0])


def test_a_window_and_a_section_are_sent_without_a_student(
    story: Story, cast: Cast, receiver: Receiver, relay: WebhookSender
) -> None:
    a_webhook(receiver.url, cast, "section_set", "window_set")
    story.record()
    relay.send_due()
    told = {each.facts["name"]: each.facts for each in receiver.told}
    assert told["window_set"]["window_id"] == story.rush.window
    assert told["section_set"]["crn"] == story.section.crn
    assert not any("student_id" in facts for facts in told.values())


def test_a_test_tells_of_no_event(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    with transaction() as session:
        outbox.queue_test(session, webhook.id)
    relay.send_due()
    (told,) = receiver.told
    assert told.facts == {"id": told.id, "name": "test"}
    assert signed(signing_secret(webhook.seed), told)
