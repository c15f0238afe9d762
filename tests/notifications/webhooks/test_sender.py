"""The relay: at least once, later where it fails, given up in the end, one receiver at a time."""

from portal.core import flags
from portal.core.breakers import FAILURES
from portal.core.db import transaction
from portal.core.flags import Flag
from portal.notifications.outbox import retry
from portal.notifications.webhooks import outbox, receivers
from portal.notifications.webhooks.models import Delivery, Webhook
from portal.notifications.webhooks.receivers import ChangedBy
from portal.notifications.webhooks.sender import WebhookSender
from tests.cast import Cast
from tests.notifications.senders import until
from tests.notifications.stories import Story
from tests.notifications.webhooks.conftest import a_webhook
from tests.notifications.webhooks.deliveries import all_sent, deliveries
from tests.notifications.webhooks.receiver import Receiver, a_receiver

LONG = (60.0,)  # seconds until a further try: longer than any test


def a_seat_is_given(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    story.record()


def due_to(webhook: Webhook, number: int) -> None:
    """So many messages are due."""
    with transaction() as session:
        for _ in range(number):
            outbox.queue_test(session, webhook.id)


def test_more_than_a_batch_is_sent_in_order(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    due_to(webhook, outbox.BATCH + 5)
    assert relay.send_due() == outbox.BATCH + 5
    assert receiver.ids == [f"test-{each.id}" for each in deliveries()]
    assert relay.send_due() == 0


def test_what_fails_is_sent_again_under_the_same_id(
    story: Story, cast: Cast, webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    receiver.answers = [500, 429]
    a_seat_is_given(story, cast)
    relay.send_due()
    until(relay, all_sent)
    (only,) = deliveries()
    assert receiver.ids == [f"{story.term.id}-{only.seq}"]
    assert (only.tries, only.error) == (3, "")
    assert webhook.id == only.webhook_id


def test_what_always_fails_is_a_dead_letter_that_says_why(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    receiver.answers = [400] * 4
    due_to(webhook, 1)
    until(relay, lambda: deliveries()[0].dead_at)
    (only,) = deliveries()
    assert (only.tries, only.error) == (4, "400 Bad Request")
    with transaction() as session:
        assert outbox.number_dead(session) == 1
        assert retry(session, Delivery, [only.id]) == [only.id]
    until(relay, all_sent)


def test_a_refusal_that_no_database_could_store_is_one_all_the_same(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    receiver.answers, receiver.refusal = [400], b"no\0\xff"
    relay.pauses = (60.0,)  # a retry must not come due while this sends
    due_to(webhook, 1)
    assert relay.send_due() == 1
    assert [(each.tries, each.error) for each in deliveries()] == [(1, "400 Bad Request: no\ufffd")]


def test_a_delivery_without_its_event_in_the_log_is_a_dead_letter_at_once(
    story: Story, webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    with transaction() as session:
        lost = {"term_id": story.term.id, "seq": 10**9, "tries": 0, "error": ""}
        session.add(Delivery(webhook_id=webhook.id, **lost))
    due_to(webhook, 1)
    assert relay.send_due() == 2
    given_up, sent = deliveries()
    assert given_up.dead_at
    assert given_up.error == "Its event is not in the event log."
    assert receiver.ids == [f"test-{sent.id}"]


def test_a_redirection_is_not_followed(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    relay.pauses = LONG
    receiver.answers = [302]
    due_to(webhook, 1)
    relay.send_due()
    assert deliveries()[0].error == "302 Found"
    assert receiver.asked == 1


def test_one_that_is_away_is_left_alone_and_sent_to_once_it_is_back(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    receiver.close()
    due_to(webhook, FAILURES + 3)
    until(relay, lambda: sum(each.tries for each in deliveries()) >= FAILURES)
    assert relay.breakers[webhook.id].state != "closed"
    tried = sum(each.tries for each in deliveries())
    assert tried == FAILURES
    receiver.open()
    until(relay, all_sent)
    assert len(set(receiver.ids)) == FAILURES + 3


def test_one_that_hangs_is_cut_off(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    relay.time_limit, relay.pauses = 0.2, (0.5,) * 50
    receiver.go_on.clear()
    due_to(webhook, 1)
    relay.send_due()
    assert deliveries()[0].tries >= 1
    assert deliveries()[0].error
    relay.time_limit = 30
    receiver.go_on.set()
    until(relay, all_sent)


def test_one_that_fails_does_not_hold_up_another(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender, cast: Cast
) -> None:
    with a_receiver() as other:
        second = a_webhook(other.url, cast)
        relay.pauses, receiver.answers = LONG, [500] * 3
        due_to(webhook, 3)
        due_to(second, 3)
        relay.send_due()
        assert (receiver.asked, len(other.told)) == (3, 3)


def test_nothing_is_sent_to_one_that_is_off(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender, cast: Cast
) -> None:
    due_to(webhook, 1)
    who = ChangedBy(cast.max.id, "a pause")
    with transaction() as session:
        receivers.switch(session, webhook, who, on=False)
    assert relay.send_due() == 0
    with transaction() as session:
        on = receivers.webhook(session, webhook.id)
        assert on
        receivers.switch(session, on, who, on=True)
    assert relay.send_due() == len(receiver.told) == 1


def test_nothing_is_sent_while_webhooks_are_switched_off(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    due_to(webhook, 1)
    with transaction() as session:
        session.add(Flag(name="webhooks", is_on=False, version=1, reason="a test"))
    flags.read()
    assert relay.send_due() == 0
    assert not receiver.asked


def test_what_is_old_is_deleted_and_what_waits_is_kept(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    due_to(webhook, 1)
    relay.send_due()
    assert receiver.told
    due_to(webhook, 1)
    with transaction() as session:
        outbox.delete_old(session, 0)
    (left,) = deliveries()
    assert left.sent_at is None
