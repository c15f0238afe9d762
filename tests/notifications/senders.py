"""What a relay is watched by."""

from collections.abc import Callable

from portal.notifications.mail_sender import MailSender
from portal.notifications.models import OutboxEntry
from portal.notifications.webhooks.sender import WebhookSender
from tests.notifications.stories import outbox
from tests.recorder.processes import wait_for


def until(relay: MailSender | WebhookSender, what: Callable[[], object]) -> None:
    """Let the relay work, as the clock would call it, until it is true."""

    def work() -> object:
        relay.send_due()
        return what()

    wait_for(work)


def only() -> OutboxEntry:
    """The one mail that is due, or was."""
    (mail,) = outbox()
    return mail


def all_sent() -> bool:
    """Return whether no mail is left to send."""
    return all(mail.sent_at for mail in outbox())
