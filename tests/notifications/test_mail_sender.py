"""From the outbox to a mail server: at least once each, and what is not taken again later."""

from collections import Counter

import pytest
from sqlalchemy import func, text, update

from portal.core.db import transaction
from portal.notifications.mail import send_link
from portal.notifications.mail_sender import PAUSES, MailSender
from portal.notifications.mail_transport import SmtpConnection, SmtpServer
from portal.notifications.models import OutboxEntry
from portal.people.mail_links import RECOVERY
from tests.notifications.mail_server import Postman
from tests.notifications.senders import all_sent, only, until
from tests.notifications.stories import Story, outbox

pytestmark = pytest.mark.timeout(60)


def test_what_is_due_is_sent_once(news: Story, relay: MailSender, postman: Postman) -> None:
    assert news
    assert relay.send_due() == 1
    assert relay.send_due() == 0
    assert postman.recipients == ["ben@u.example"]
    assert "You got a seat in CSC 1100-" in postman.mails[0]["Subject"]


def test_nothing_is_sent_for_an_address_without_an_account(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    send_link("nobody@u.example", RECOVERY, "en")
    assert relay.send_due() == 2
    assert postman.recipients == ["ben@u.example"]
    assert [each.kind for each in outbox()] == ["mail"]


def test_many_mails_go_over_one_connection(
    much_news: Story, relay: MailSender, postman: Postman
) -> None:
    assert much_news
    connections = Counter[object]()
    talk = relay.post()

    class Counted:
        def send(self, letter: object) -> None:
            talk.send(letter)  # type: ignore[arg-type]
            connections[talk._connection] += 1  # type: ignore[attr-defined]  # noqa: SLF001

        def close(self) -> None:
            talk.close()

    MailSender(Counted).send_due()
    assert list(connections.values()) == [4]
    assert len(set(postman.ids)) == 4


def test_a_mail_that_is_not_taken_now_is_sent_again(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    postman.answers = ["451 later", "450 later", "452 later"]
    until(relay, all_sent)
    assert (only().tries, only().error) == (3, "")
    assert len(postman.mails) == 1


def test_it_waits_two_four_and_eight_seconds() -> None:
    assert PAUSES == (2.0, 4.0, 8.0)


def test_the_pauses_grow(news: Story, relay: MailSender, postman: Postman) -> None:
    assert news
    patient = MailSender(relay.post, relay.breaker)
    for pause in PAUSES:
        postman.answers = ["451 later"]
        with transaction() as session:
            session.execute(update(OutboxEntry).values(due_at=func.now()))
        patient.send_due()
        with transaction() as session:
            left = session.scalar(text("SELECT extract(epoch FROM due_at - now()) FROM outbox"))
        assert pause - 1 < float(left or 0) <= pause


def test_after_three_more_tries_it_is_a_dead_letter(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    postman.answers = ["451 not today"] * 10
    until(relay, lambda: only().dead_at)
    assert only().tries == 4
    assert only().error == "451 not today"
    assert relay.send_due() == 0
    assert postman.asked == 4


def test_a_recipient_refused_for_good_is_a_dead_letter_at_once(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    postman.answers = ["550 no such user"]
    relay.send_due()
    assert only().dead_at
    assert only().error == "550 no such user"


def test_a_refusal_that_no_database_could_store_is_one_all_the_same(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    postman.answers = ["550 no such\0 user"]
    assert relay.send_due() == 1
    assert only().error == "550 no such user"


def test_one_dead_letter_holds_up_no_other(
    much_news: Story, relay: MailSender, postman: Postman
) -> None:
    assert much_news
    postman.answers = ["550 no such user"]
    relay.send_due()
    assert len(postman.mails) == 3
    assert [bool(mail.dead_at) for mail in outbox()].count(True) == 1


def test_a_mail_that_can_not_be_written_is_the_only_dead_letter(
    much_news: Story, relay: MailSender, postman: Postman
) -> None:
    assert much_news
    with transaction() as session:
        session.execute(
            text(
                "UPDATE notifications SET data = '{}'"
                " WHERE id = (SELECT min(id) FROM notifications)"
            )
        )
    relay.send_due()
    assert len(postman.mails) == 3
    (dead,) = [mail for mail in outbox() if mail.dead_at]
    assert "Traceback" in dead.error


def test_what_is_sent_again_has_the_same_id(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    relay.send_due()
    with transaction() as session:  # as if we had died before it was noted
        session.execute(update(OutboxEntry).values(sent_at=None))
    relay.send_due()
    assert len(postman.ids) == 2
    assert len(set(postman.ids)) == 1


def test_two_relays_send_no_mail_twice(
    much_news: Story, relay: MailSender, postman: Postman
) -> None:
    assert much_news
    second = MailSender(relay.post)

    class Meanwhile(SmtpConnection):
        """While one mail is under way, another relay sends what else is due."""

        def send(self, letter: object) -> None:
            second.send_due()
            super().send(letter)  # type: ignore[arg-type]

    MailSender(lambda: Meanwhile(SmtpServer("127.0.0.1", postman.port))).send_due()
    assert len(postman.ids) == len(set(postman.ids)) == 4


def test_notifications_of_seats_go_before_reminders(
    much_news: Story, relay: MailSender, postman: Postman
) -> None:
    assert much_news
    last = outbox()[-1].id
    with transaction() as session:
        session.execute(update(OutboxEntry).where(OutboxEntry.id != last).values(rank=1))
    relay.send_due(seconds=30)
    assert f"-{last}@" in postman.ids[0]


def test_what_is_too_late_to_be_of_use_is_not_sent(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    with transaction() as session:
        session.execute(update(OutboxEntry).values(until=func.now() - text("interval '1 minute'")))
    relay.send_due()
    assert postman.mails == []
    assert only().error == "Too old to send."
