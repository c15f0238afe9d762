"""What docs/webhooks.md tells receivers to do."""

import re
from pathlib import Path
from typing import Any

from portal.core.db import transaction
from portal.core.settings import ROOT
from portal.notifications.webhooks import outbox
from portal.notifications.webhooks.models import EVENT_NAMES, Webhook
from portal.notifications.webhooks.receivers import signing_secret
from portal.notifications.webhooks.sender import PAUSES, WebhookSender
from tests.notifications.webhooks.receiver import Receiver

DOCS = Path(ROOT / "docs" / "webhooks.md").read_text()


def test_a_message_is_verified_as_they_say(
    webhook: Webhook, receiver: Receiver, relay: WebhookSender
) -> None:
    with transaction() as session:
        outbox.queue_test(session, webhook.id)
    relay.send_due()
    (told,) = receiver.told
    said: dict[str, Any] = {}
    exec(DOCS.split("```python\n")[1].split("```")[0], said)  # noqa: S102  our own example
    is_ours, whsec = said["is_ours"], signing_secret(webhook.seed)
    old = told.headers | {"webhook-timestamp": str(int(told.headers["webhook-timestamp"]) - 400)}
    assert is_ours(whsec, told.headers, told.body)
    assert not is_ours(whsec, told.headers, told.body + b" ")
    assert not is_ours(signing_secret("another"), told.headers, told.body)
    assert not is_ours(whsec, old, told.body)


def test_they_name_each_event() -> None:
    table = DOCS.split("| `name` |")[1].split("\n\n")[0]
    named = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line)}
    assert named >= set(EVENT_NAMES) | {"test"}


def test_they_report_the_pauses() -> None:
    assert PAUSES == (5, 60, 300, 1800, 7200)
    assert "after 5 s, 1 min, 5 min, 30 min and 2 h" in DOCS
