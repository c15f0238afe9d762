"""`fairseat mail` lists mails that were given up, and sends them again."""

import pytest
from click.testing import CliRunner, Result

from portal.backend import Backend
from portal.cli import main
from portal.notices.relay import Relay
from tests.cast import Cast
from tests.notices.postman import Postman
from tests.notices.stories import Story, outbox


@pytest.fixture
def dead(story: Story, cast: Cast, relay: Relay, postman: Postman) -> Relay:
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
    assert "No mail has been given up." in said.stderr


def test_it_lists_each_with_its_error(dead: Relay) -> None:
    assert dead
    said = mail()
    assert said.exit_code == 1
    assert "promoted for ben@u.example" in said.stdout
    assert "550 no such user" in said.stdout


def test_it_has_them_sent_again(backend: Backend, dead: Relay, postman: Postman) -> None:
    assert mail("--retry").exit_code == 0
    assert backend.redis.llen("rq:queue:notify") == 1
    dead.send_due()
    assert postman.recipients == ["ben@u.example"]
    assert (mail().exit_code, outbox()[0].dead_at) == (0, None)
