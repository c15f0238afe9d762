"""Jobs of the queue `notify`."""

from portal.notifications import mail_sender, reminders


def notify(term: int) -> None:
    """Remind of the windows of a term, and send what is due."""
    reminders.remind(term)
    mail_sender.mail_sender().send_due()
