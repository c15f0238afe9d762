"""A connection to a receiver: what can't be told ends in time, and harms no other receiver."""

import socket
import time
from socket import getaddrinfo as look_up
from typing import Any

import pytest

from portal.core.db import transaction
from portal.notifications.webhooks import outbox
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.sender import READ_BYTES, WebhookSender
from tests.cast import Cast
from tests.notifications.webhooks.conftest import a_webhook
from tests.notifications.webhooks.deliveries import deliveries
from tests.notifications.webhooks.receiver import Receiver
from tests.notifications.webhooks.slow_server import a_dripper

LONG = (60.0,)  # seconds until a further try: longer than any test
NAME = "hooks.example"
LAST = b"HTTP/1.1 500 Oh\r\nConnection: close\r\n\r\n"


def tell(relay: WebhookSender, *webhooks: Webhook) -> None:
    """Try to tell each of them something, once."""
    relay.pauses = LONG
    with transaction() as session:
        for webhook in webhooks:
            outbox.queue_test(session, webhook.id)
    relay.send_due()


@pytest.mark.parametrize(
    "url",
    ["https://hooks..example.edu/", f"https://{'a' * 64}.example.edu/", "https://[fd00::abcd]/"],
)
def test_an_address_that_leads_nowhere_harms_no_other(
    cast: Cast, receiver: Receiver, relay: WebhookSender, url: str
) -> None:
    tell(relay, a_webhook(url, cast), a_webhook(receiver.url, cast))
    first, second = deliveries()
    assert first.error
    assert receiver.ids == [f"test-{second.id}"]


def test_the_last_answer_of_a_connection_is_cut_off_too(cast: Cast, relay: WebhookSender) -> None:
    relay.time_limit = 3
    with a_dripper(LAST) as dripper:
        tell(relay, a_webhook(dripper.url, cast))
    assert deliveries()[0].error.startswith("500 Oh")
    assert dripper.sent < READ_BYTES / 2


def test_one_whose_name_is_found_too_late_is_not_asked(
    cast: Cast, receiver: Receiver, relay: WebhookSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(host: str, *more: Any, **options: Any) -> Any:
        if host != NAME:
            return look_up(host, *more, **options)
        time.sleep(2 * relay.time_limit)
        return look_up("127.0.0.1", *more, **options)

    relay.time_limit = 0.2
    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    tell(relay, a_webhook(f"http://{NAME}:{receiver.port}/", cast))
    assert deliveries()[0].error == "timed out"
    assert not receiver.asked


def test_an_address_that_is_silent_leaves_time_for_the_next(
    cast: Cast, receiver: Receiver, relay: WebhookSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    def two(host: str, *more: Any, **options: Any) -> Any:
        hosts = ["127.0.0.2", "127.0.0.1"] if host == NAME else [host]
        return [found for each in hosts for found in look_up(each, *more, **options)]

    webhook = a_webhook(f"http://{NAME}:{receiver.port}/", cast)
    monkeypatch.setattr(socket, "getaddrinfo", two)
    with (
        socket.create_server(("127.0.0.2", receiver.port), backlog=0) as silent,
        socket.create_connection(silent.getsockname()),  # there is no room for another
    ):
        tell(relay, webhook)
    assert len(receiver.told) == 1
