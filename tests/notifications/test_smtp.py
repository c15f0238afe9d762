"""FAIRSEAT_SMTP: which mail server, and how we come to an understanding with it."""

from typing import Any

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from portal.notifications.mail import Mail
from portal.notifications.mail_transport import Deferred, SmtpConnection, SmtpServer, Unreachable
from tests.cast import Cast
from tests.notifications.mail_server import Postman
from tests.notifications.stories import Story, a_letter

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")

ADDRESSES = {
    "smtp://mail.u.example": SmtpServer("mail.u.example", 25),
    "smtp://mail.u.example:587?starttls=1": SmtpServer("mail.u.example", 587, starttls=True),
    "smtps://me:p%40ss@mail.u.example": SmtpServer("mail.u.example", 465, "me", "p@ss", tls=True),
}


@pytest.fixture
def mail(story: Story, cast: Cast) -> Mail:
    story.hand_over(cast.ada, cast.ben)
    return a_letter()


def authenticate(_: Any, __: Any, ___: Any, ____: str, given: LoginPassword) -> AuthResult:
    return AuthResult(success=given == LoginPassword(b"us", b"secret"), handled=False)


def ask_for_a_password(postman: Postman) -> None:
    postman.close()
    postman.open(authenticator=authenticate, auth_required=True, auth_require_tls=False)


@pytest.mark.parametrize("url", ADDRESSES)
def test_an_address_names_host_port_login_and_encryption(url: str) -> None:
    assert SmtpServer.of(url) == ADDRESSES[url]


@pytest.mark.parametrize("url", ["mail.u.example", "http://mail.u.example", "smtp://", "smtp:25"])
def test_what_is_no_address_is_reported_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="FAIRSEAT_SMTP is no address"):
        SmtpServer.of(url)


def test_it_logs_in(postman: Postman, mail: Mail) -> None:
    ask_for_a_password(postman)
    talk = SmtpConnection(SmtpServer("127.0.0.1", postman.port, "us", "secret"))
    talk.send(mail)
    talk.close()
    assert len(postman.mails) == 1


def test_a_login_that_is_refused_is_no_fault_of_the_mail(postman: Postman, mail: Mail) -> None:
    ask_for_a_password(postman)
    with pytest.raises(Unreachable, match="535"):
        SmtpConnection(SmtpServer("127.0.0.1", postman.port, "us", "guess")).send(mail)
    with pytest.raises(Unreachable, match="530"):
        SmtpConnection(SmtpServer("127.0.0.1", postman.port)).send(mail)


def test_where_encryption_is_required_nothing_goes_in_the_clear(
    postman: Postman, mail: Mail
) -> None:
    with pytest.raises(Unreachable, match="STARTTLS"):
        SmtpConnection(SmtpServer("127.0.0.1", postman.port, "us", "secret", starttls=True)).send(
            mail
        )
    assert (postman.asked, postman.mails) == (0, [])


def test_a_broken_connection_is_opened_again(postman: Postman, mail: Mail) -> None:
    talk = SmtpConnection(SmtpServer("127.0.0.1", postman.port))
    talk.send(mail)
    postman.close()
    postman.open()
    with pytest.raises(Deferred):  # the first to notice
        talk.send(mail)
    talk.send(mail)
    talk.close()
    assert len(postman.mails) == 2
