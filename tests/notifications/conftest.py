"""A section with one seat that several students want, and a mail server that takes the news."""

from collections.abc import Iterator

import pytest

from portal.notifications.mail_sender import MailSender, mail_breaker
from portal.notifications.mail_transport import SmtpConnection, SmtpServer
from tests.cast import Cast
from tests.notifications.mail_server import Postman, a_postman
from tests.notifications.stories import Story, a_story, set_section


@pytest.fixture
def story(cast: Cast) -> Story:
    return a_story(cast)


@pytest.fixture
def postman() -> Iterator[Postman]:
    with a_postman() as postman:
        yield postman


@pytest.fixture
def relay(postman: Postman) -> MailSender:
    """To the postman; so quick that no test waits."""
    server = SmtpServer("127.0.0.1", postman.port)
    return MailSender(
        lambda: SmtpConnection(server, timeout=30),
        mail_breaker(rest=0.3),
        pauses=(0.02, 0.04, 0.08),
    )


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
