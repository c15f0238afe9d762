"""Jobs of the queue `notify`."""

from portal.notifications import mail_sender, reminders


def notify(term: int) -> None:
    """Create the reminders of a term, and send due mail."""
    reminders.remind(term)
    mail_sender.mail_sender().send_due()
