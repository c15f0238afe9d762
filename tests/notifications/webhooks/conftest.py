"""A full section that students want, and a program that is told of it."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network

import pytest

from portal.backend import Backend
from portal.core.db import transaction
from portal.notifications.webhooks import receivers
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.receivers import ChangedBy
from portal.notifications.webhooks.sender import WebhookSender
from tests.cast import Cast
from tests.notifications.stories import Story, a_story
from tests.notifications.webhooks.receiver import Receiver, a_receiver

WITHIN = "127.0.0.0/8"


@pytest.fixture(autouse=True)
def within(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Receivers on our own machine may be told, by the tests' own processes too."""
    monkeypatch.setenv("FAIRSEAT_WEBHOOK_NETWORKS", WITHIN)
    before = backend.settings
    backend.settings = replace(before, webhook_networks=(ip_network(WITHIN),))
    yield
    backend.settings = before


@pytest.fixture
def story(cast: Cast) -> Story:
    return a_story(cast)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with a_receiver() as receiver:
        yield receiver


@pytest.fixture
def webhook(story: Story, receiver: Receiver, cast: Cast) -> Webhook:
    """The receiver is to be told of seats."""
    story.record()
    return a_webhook(receiver.url, cast)


@pytest.fixture
def relay() -> WebhookSender:
    """So quick that no test waits."""
    return WebhookSender(pauses=(0.02, 0.04, 0.08), rest=0.3, time_limit=2)


def a_webhook(url: str, cast: Cast, *names: str) -> Webhook:
    """One that is told of events of these names, by default of seats."""
    with transaction() as session:
        wanted = names or ("enrolled", "dropped", "promoted")
        return receivers.make(session, url, wanted, ChangedBy(cast.max.id, "for tests"))
