"""From the outbox to a mail server in trouble: nothing is lost or doubled, and it is left alone."""

from socket import create_server

import pytest
from sqlalchemy import func, update

from portal.core.breakers import FAILURES
from portal.core.db import transaction
from portal.notifications.mail_sender import MailSender
from portal.notifications.mail_transport import SmtpConnection, SmtpServer
from portal.notifications.models import OutboxEntry
from portal.notifications.outbox import retry
from tests.notifications.mail_server import Postman
from tests.notifications.senders import all_sent, only, until
from tests.notifications.stories import Story
from tests.recorder.processes import wait_for

pytestmark = pytest.mark.timeout(60)


def test_a_server_that_refuses_for_good_is_not_left_alone(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    for _ in range(FAILURES + 1):
        postman.answers = ["550 no such user"]
        relay.send_due()
        with transaction() as session:
            retry(session, OutboxEntry, [only().id])
    assert postman.asked == FAILURES + 1


def test_a_server_that_is_away_costs_no_try(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    postman.close()
    for _ in range(3):
        relay.send_due()
        with transaction() as session:
            session.execute(update(OutboxEntry).values(due_at=func.now()))
    assert (only().tries, only().dead_at) == (0, None)
    assert "127.0.0.1" in only().error


def test_after_five_failures_it_is_left_alone(
    news: Story, relay: MailSender, postman: Postman
) -> None:
    assert news
    postman.close()
    until(relay, lambda: relay.breaker.state == "open")
    postman.open()
    before = only()
    assert relay.send_due() == 0
    assert (postman.asked, only().tries, only().due_at) == (0, before.tries, before.due_at)


def test_then_one_mail_shows_whether_it_is_back(
    much_news: Story, relay: MailSender, postman: Postman
) -> None:
    assert much_news
    postman.close()
    until(relay, lambda: relay.breaker.state == "open")
    wait_for(lambda: relay.breaker.state == "half-open")
    until(relay, lambda: relay.breaker.state == "open")  # one more was tried, in vain
    postman.open()
    until(relay, all_sent)
    assert relay.breaker.state == "closed"


def test_a_server_away_and_back_loses_nothing_and_doubles_nothing(
    much_news: Story, relay: MailSender, postman: Postman
) -> None:
    assert much_news
    postman.answers = ["451 busy"]
    relay.send_due(seconds=0.001)
    postman.close()
    until(relay, lambda: relay.breaker.state == "open")
    postman.open()
    until(relay, all_sent)
    names = ("ada", "ben", "cleo", "dan")
    assert sorted(postman.recipients) == [f"{name}@u.example" for name in names]
    assert len(set(postman.ids)) == 4


def test_a_server_that_never_answers_is_not_waited_for(news: Story, postman: Postman) -> None:
    assert news
    with create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        relay = MailSender(lambda: SmtpConnection(SmtpServer("127.0.0.1", port), timeout=0.2))
        assert relay.send_due() == 0
    assert "timed out" in only().error
    assert postman.mails == []
