"""`fairseat mail` lists mails that were given up, and sends them again."""

import pytest
from click.testing import CliRunner, Result

from portal.backend import Backend
from portal.notifications.mail import send_code
from portal.notifications.mail_sender import MailSender
from portal.people import tokens
from portal.people.tokens import TokenRequest
from portal.runtime.cli import main
from tests.audit_trail import entries
from tests.cast import Cast
from tests.notifications.mail_server import Postman
from tests.notifications.stories import Story, give_addresses, outbox


@pytest.fixture
def dead(story: Story, cast: Cast, relay: MailSender, postman: Postman) -> MailSender:
    """Ben's mail has been refused for good."""
    story.hand_over(cast.ada, cast.ben)
    postman.answers = ["550 no such user"]
    relay.send_due()
    return relay


def mail(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["mail", *arguments])


def test_it_says_that_there_is_none(backend: Backend) -> None:  # noqa: ARG001
    said = mail()
    assert (said.exit_code, said.stdout) == (0, "")
    assert "No undelivered email." in said.stderr


def test_it_lists_each_with_its_error(dead: MailSender) -> None:
    assert dead
    said = mail()
    assert said.exit_code == 1
    assert "promoted for ben@u.example" in said.stdout
    assert "550 no such user" in said.stdout


def test_it_has_them_sent_again(backend: Backend, dead: MailSender, postman: Postman) -> None:
    assert mail("--retry").exit_code == 0
    assert any(job.startswith(b"0-") for job in backend.redis.lrange("rq:queue:notify", 0, -1))
    dead.send_due()
    assert postman.recipients == ["ben@u.example"]
    assert (mail().exit_code, outbox()[0].dead_at) == (0, None)
    (entry,) = entries()
    assert (entry.action, entry.reason) == ("mail.retry", "command line")


def test_mails_about_the_safety_of_an_account_are_among_them_and_codes_are_not(
    cast: Cast, relay: MailSender, postman: Postman
) -> None:
    give_addresses()
    tokens.create(cast.ada.account_id, TokenRequest("script"))
    send_code(cast.ben.account_id)
    postman.answers = ["550 no such user"] * 2
    relay.send_due()
    said = mail().stdout
    assert "alert for ada@u.example" in said
    assert "ben@u.example" not in said
    assert mail("--retry").exit_code == 0
    relay.send_due()
    assert postman.recipients == ["ada@u.example"]
