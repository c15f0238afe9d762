"""Notices and mails are kept for so many days, and what is not sent yet for as long as it takes."""

from sqlalchemy import func, select, text

from jobs.background import delete_expired
from portal.core.db import transaction
from portal.notifications import outbox
from portal.notifications.mail_sender import MailSender
from portal.notifications.models import Notification, OutboxEntry
from tests.notifications.stories import Story


def age(days: int) -> None:
    """All that was told, sent or given up was so long ago."""
    with transaction() as session:
        for table, column in (
            ("notifications", "made_at"),
            ("outbox", "sent_at"),
            ("outbox", "dead_at"),
        ):
            session.execute(
                text(f"UPDATE {table} SET {column} = {column} - make_interval(days => :days)"),  # noqa: S608
                {"days": days},
            )


def left() -> tuple[int, int]:
    with transaction() as session:
        counts = [select(func.count()).select_from(table) for table in (Notification, OutboxEntry)]
        notices, mails = (session.scalar(count) or 0 for count in counts)
    return notices, mails


def test_what_is_old_and_done_goes_and_the_rest_stays(news: Story, relay: MailSender) -> None:
    assert news
    relay.send_due()
    before = left()
    assert min(before) > 0
    age(399)
    delete_expired()
    assert left() == before
    age(2)
    delete_expired()
    assert left() == (0, 0)


def test_a_mail_that_waits_keeps_its_notification(news: Story) -> None:
    assert news
    before = left()
    age(500)
    with transaction() as session:
        outbox.delete_old(session, 400)
    assert left() == before
