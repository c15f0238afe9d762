"""Jobs of the queue `notify`."""

from portal.notifications import relay, reminders


def notify(term: int) -> None:
    """Remind of the windows of a term, and send what is due."""
    reminders.remind(term)
    relay.of_this_process().send_due()
