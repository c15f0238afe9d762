"""From the outbox to a mail server: at least once each, and no harm to a server in trouble."""

from collections import Counter
from collections.abc import Callable
from socket import create_server

import pytest
from sqlalchemy import func, text, update

from portal.breakers import FAILURES
from portal.db import transaction
from portal.notices.models import Outgoing
from portal.notices.outbox import revive
from portal.notices.relay import PAUSES, Relay
from portal.notices.smtp import Server, Smtp
from tests.cast import Cast
from tests.notices.postman import Postman
from tests.notices.stories import Story, outbox, set_section
from tests.record.processes import wait_for

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def news(story: Story, cast: Cast) -> Story:
    """One mail is due: Ben has been promoted."""
    story.hand_over(cast.ada, cast.ben)
    return story


@pytest.fixture
def much_news(story: Story, cast: Cast) -> Story:
    """Four mails are due, as a section was canceled."""
    story.claim(cast.ada, cast.ben, cast.cleo, cast.dan)
    set_section(story.section, status="CANCELED")
    story.record()
    return story


def until(relay: Relay, what: Callable[[], object]) -> None:
    """Let the relay work, as the clock would call it, until it is true."""

    def work() -> object:
        relay.send_due()
        return what()

    wait_for(work)


def only() -> Outgoing:
    (mail,) = outbox()
    return mail


def all_sent() -> bool:
    return all(mail.sent_at for mail in outbox())


def test_what_is_due_is_sent_once(news: Story, relay: Relay, postman: Postman) -> None:
    assert news
    assert relay.send_due() == 1
    assert relay.send_due() == 0
    assert postman.recipients == ["ben@u.example"]
    assert "You have a seat in CSC 1100-" in postman.mails[0]["Subject"]


def test_many_mails_go_over_one_connection(
    much_news: Story, relay: Relay, postman: Postman
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

    Relay(Counted).send_due()
    assert list(connections.values()) == [4]
    assert len(set(postman.ids)) == 4


def test_a_mail_that_is_not_taken_now_is_sent_again(
    news: Story, relay: Relay, postman: Postman
) -> None:
    assert news
    postman.answers = ["451 later", "450 later", "452 later"]
    until(relay, all_sent)
    assert (only().tries, only().error) == (3, "")
    assert len(postman.mails) == 1


def test_it_waits_two_four_and_eight_seconds() -> None:
    assert PAUSES == (2.0, 4.0, 8.0)


def test_the_pauses_grow(news: Story, relay: Relay, postman: Postman) -> None:
    assert news
    patient = Relay(relay.post, relay.breaker)
    for pause in PAUSES:
        postman.answers = ["451 later"]
        with transaction() as session:
            session.execute(update(Outgoing).values(due_at=func.now()))
        patient.send_due()
        with transaction() as session:
            left = session.scalar(text("SELECT extract(epoch FROM due_at - now()) FROM outbox"))
        assert pause - 1 < float(left or 0) <= pause


def test_after_three_more_tries_it_is_given_up(news: Story, relay: Relay, postman: Postman) -> None:
    assert news
    postman.answers = ["451 not today"] * 10
    until(relay, lambda: only().dead_at)
    assert only().tries == 4
    assert only().error == "451 not today"
    assert relay.send_due() == 0
    assert postman.asked == 4


def test_a_recipient_refused_for_good_is_given_up_at_once(
    news: Story, relay: Relay, postman: Postman
) -> None:
    assert news
    postman.answers = ["550 no such user"]
    relay.send_due()
    assert only().dead_at
    assert only().error == "550 no such user"


def test_a_server_that_refuses_for_good_is_not_left_alone(
    news: Story, relay: Relay, postman: Postman
) -> None:
    assert news
    for _ in range(FAILURES + 1):
        postman.answers = ["550 no such user"]
        relay.send_due()
        revive([only().id])
    assert postman.asked == FAILURES + 1


def test_one_dead_letter_holds_up_no_other(
    much_news: Story, relay: Relay, postman: Postman
) -> None:
    assert much_news
    postman.answers = ["550 no such user"]
    relay.send_due()
    assert len(postman.mails) == 3
    assert [bool(mail.dead_at) for mail in outbox()].count(True) == 1


def test_a_mail_that_can_not_be_written_is_given_up_alone(
    much_news: Story, relay: Relay, postman: Postman
) -> None:
    assert much_news
    with transaction() as session:
        session.execute(
            text("UPDATE notices SET data = '{}' WHERE id = (SELECT min(id) FROM notices)")
        )
    relay.send_due()
    assert len(postman.mails) == 3
    (dead,) = [mail for mail in outbox() if mail.dead_at]
    assert "Traceback" in dead.error


def test_a_server_that_is_away_costs_no_try(news: Story, relay: Relay, postman: Postman) -> None:
    assert news
    postman.close()
    for _ in range(3):
        relay.send_due()
        with transaction() as session:
            session.execute(update(Outgoing).values(due_at=func.now()))
    assert (only().tries, only().dead_at) == (0, None)
    assert "127.0.0.1" in only().error


def test_after_five_failures_it_is_left_alone(news: Story, relay: Relay, postman: Postman) -> None:
    assert news
    postman.close()
    until(relay, lambda: relay.breaker.state == "open")
    postman.open()
    before = only()
    assert relay.send_due() == 0
    assert (postman.asked, only().tries, only().due_at) == (0, before.tries, before.due_at)


def test_then_one_mail_shows_whether_it_is_back(
    much_news: Story, relay: Relay, postman: Postman
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
    much_news: Story, relay: Relay, postman: Postman
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


def test_what_is_sent_again_has_the_same_id(news: Story, relay: Relay, postman: Postman) -> None:
    assert news
    relay.send_due()
    with transaction() as session:  # as if we had died before it was noted
        session.execute(update(Outgoing).values(sent_at=None))
    relay.send_due()
    assert len(postman.ids) == 2
    assert len(set(postman.ids)) == 1


def test_two_relays_send_no_mail_twice(much_news: Story, relay: Relay, postman: Postman) -> None:
    assert much_news
    second = Relay(relay.post)

    class Meanwhile(Smtp):
        """While one mail is under way, another relay sends what else is due."""

        def send(self, letter: object) -> None:
            second.send_due()
            super().send(letter)  # type: ignore[arg-type]

    Relay(lambda: Meanwhile(Server("127.0.0.1", postman.port))).send_due()
    assert len(postman.ids) == len(set(postman.ids)) == 4


def test_news_of_seats_goes_before_reminders(
    much_news: Story, relay: Relay, postman: Postman
) -> None:
    assert much_news
    last = outbox()[-1].id
    with transaction() as session:
        session.execute(update(Outgoing).where(Outgoing.id != last).values(rank=1))
    relay.send_due(seconds=30)
    assert f"-{last}@" in postman.ids[0]


def test_what_is_too_late_to_be_of_use_is_not_sent(
    news: Story, relay: Relay, postman: Postman
) -> None:
    assert news
    with transaction() as session:
        session.execute(update(Outgoing).values(until=func.now() - text("interval '1 minute'")))
    relay.send_due()
    assert postman.mails == []
    assert only().error == "Too late to be of use."


def test_a_server_that_never_answers_is_not_waited_for(news: Story, postman: Postman) -> None:
    assert news
    with create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        relay = Relay(lambda: Smtp(Server("127.0.0.1", port), patience=0.2))
        assert relay.send_due() == 0
    assert "timed out" in only().error
    assert postman.mails == []
