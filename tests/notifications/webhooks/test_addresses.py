"""Which addresses a receiver may have."""

import socket
from ipaddress import ip_network
from pathlib import Path

import pytest

from portal.core.db import transaction
from portal.core.settings import Settings, SettingsError
from portal.notifications.webhooks import addresses, outbox
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.sender import WebhookSender
from tests.cast import Cast
from tests.docker.front import certificate
from tests.notifications.webhooks.conftest import a_webhook
from tests.notifications.webhooks.deliveries import deliveries
from tests.notifications.webhooks.receiver import Receiver

OURS = (ip_network("127.0.0.0/8"),)


def tell(webhook: Webhook, relay: WebhookSender) -> None:
    """Try to tell it something, once."""
    with transaction() as session:
        outbox.queue_test(session, webhook.id)
    relay.send_due()


@pytest.mark.parametrize(
    "url",
    [
        "http://example.edu/hook",
        "ftp://example.edu/",
        "https://",
        "https://user:secret@example.edu/",
        "https://example.edu/#part",
        "https://example.edu/a b",
        "https://example.edu/\r\nHost: other",
        "https://exämple.edu/",
        "https://example.edu:0/",
        "https://example.edu:99999/",
        f"https://example.edu/{'a' * 2000}",
        "https://hooks..example.edu/x",
        f"https://{'a' * 64}.example.edu/",
        "nonsense",
    ],
)
def test_what_is_no_address_for_a_receiver(url: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  some are urllib's own
        addresses.parts(url, ())


@pytest.mark.parametrize("url", ["https://example.edu", "https://example.edu:8443/hook?key=1"])
def test_what_is_one(url: str) -> None:
    assert addresses.parts(url, ()).hostname == "example.edu"


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("0.0.0.0", "240.0.0.1"),  # noqa: S104  it is asked, not listened at
        *("100.64.0.1", "224.0.0.1", "localhost", "2130706433", "0x7f000001"),
        *("[::1]", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"),
        *("[fec0::1]", "[2002:7f00:1::]", "[64:ff9b:1::1]", "[::7f00:1]"),
    ],
)
def test_no_private_address_is_asked(host: str) -> None:
    with pytest.raises(addresses.Forbidden):
        addresses.connect(addresses.parts(f"https://{host}:1/", ()), 1, ())


def test_a_network_of_ours_may_be_asked(receiver: Receiver) -> None:
    addresses.connect(addresses.parts(receiver.url, OURS), 5, OURS).close()


def test_plain_http_leaves_no_network_of_ours() -> None:
    with pytest.raises(addresses.Forbidden):
        addresses.connect(addresses.parts("http://93.184.215.14/", OURS), 1, OURS)


def test_a_name_that_leads_to_us_is_put_off_and_says_why(
    cast: Cast, relay: WebhookSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = socket.getaddrinfo

    def to_metadata(host: str, *more: object, **options: object) -> object:
        host = "169.254.169.254" if host == "rebound.example" else host
        return looked_up(host, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", to_metadata)
    webhook = a_webhook("https://rebound.example/", cast)
    relay.pauses = (60.0,)
    tell(webhook, relay)
    assert "not on the public internet" in deliveries()[0].error


def test_only_one_with_a_valid_certificate_is_sent_to(
    cast: Cast, receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate(tmp_path / "tls")
    receiver.close()
    receiver.scheme = "https"
    receiver.open(tmp_path / "tls")
    webhook = a_webhook(receiver.url, cast)
    relay = WebhookSender()
    tell(webhook, relay)
    assert "CERTIFICATE_VERIFY_FAILED" in deliveries()[0].error
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls" / "fullchain.pem"))
    tell(webhook, relay)
    assert receiver.ids == [f"test-{deliveries()[1].id}"]


def test_networks_that_are_none_stop_the_portal(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings
    monkeypatch.setenv("FAIRSEAT_WEBHOOK_NETWORKS", "ten dot something")
    with pytest.raises(SettingsError, match="FAIRSEAT_WEBHOOK_NETWORKS"):
        Settings.read()
