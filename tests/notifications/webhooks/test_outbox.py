"""What is recorded is put into the outbox with it, for those who want to hear of it."""

from rq import Queue

from portal.backend import backend
from portal.core.db import transaction
from portal.notifications.webhooks import receivers
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.receivers import ChangedBy
from portal.recorder.sweep import Sweeper
from tests.cast import Cast
from tests.notifications.stories import Story
from tests.notifications.webhooks.conftest import a_webhook
from tests.notifications.webhooks.deliveries import deliveries


def called() -> int:
    """How many jobs wait that tell receivers."""
    ids = Queue("background", connection=backend().redis).get_job_ids()
    return sum(each.startswith("deliver-0-") for each in ids)


def test_an_event_that_is_wanted_is_queued(story: Story, cast: Cast, webhook: Webhook) -> None:
    story.claim(cast.ada)
    story.record()
    (only,) = deliveries()
    assert (only.webhook_id, only.term_id) == (webhook.id, story.term.id)
    assert called() == 1


def test_an_event_that_no_one_wants_is_not(story: Story, cast: Cast, webhook: Webhook) -> None:
    story.claim(cast.ada)
    story.record()
    story.claim(cast.ben)  # in line
    story.record()
    assert len(deliveries()) == 1
    assert webhook.names == ["enrolled", "dropped", "promoted"]


def test_each_receiver_gets_it(story: Story, cast: Cast, webhook: Webhook) -> None:
    other = a_webhook("https://other.example/", cast, "enrolled", "waitlisted")
    story.claim(cast.ada, cast.ben)
    story.record()
    assert [each.webhook_id for each in deliveries()] == [webhook.id, other.id, other.id]


def test_one_that_is_off_gets_nothing(story: Story, cast: Cast, webhook: Webhook) -> None:
    with transaction() as session:
        receivers.switch(session, webhook, ChangedBy(cast.max.id, "over"), on=False)
    story.claim(cast.ada)
    story.record()
    assert not deliveries()
    assert called() == 0


def test_what_was_recorded_before_is_not_sent(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    story.record()
    a_webhook("https://late.example/", cast)
    story.record()
    assert not deliveries()


def test_the_clock_calls_where_the_call_was_lost(
    story: Story, cast: Cast, webhook: Webhook
) -> None:
    assert webhook
    story.claim(cast.ada)
    story.record()
    backend().redis.delete("rq:queue:background")
    sweeper = Sweeper()
    sweeper.read_terms()
    sweeper.enqueue_due()
    assert called() == 1
