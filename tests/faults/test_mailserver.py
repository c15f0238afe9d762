"""The mail server of the suite keeps each mail whole or not at all, however it ends."""

import smtplib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.faults.mailserver import BEFORE, BEHIND, MailServer, a_mail_server
from tests.ports import free_port
from tests.recorder.processes import wait_for


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MailServer]:
    with a_mail_server(tmp_path / "mail", free_port()) as server:
        yield server


def send(server: MailServer, text: str = "A seat is yours – ñ.") -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "u@u.example", "ada@u.example", "News"
    mail.set_content(text)
    with smtplib.SMTP("127.0.0.1", server.port, "u.example") as smtp:
        smtp.send_message(mail)


def test_what_came_is_read_as_it_was_written_until_it_is_forgotten(server: MailServer) -> None:
    send(server)
    [mail] = server.came()
    assert mail.get_content().strip() == "A seat is yours – ñ."
    server.forget()
    assert server.came() == []


@pytest.mark.parametrize(("moment", "kept"), [(BEFORE, 0), (BEHIND, 1)])
def test_killed_in_the_midst_it_answers_no_one_and_comes_back(
    server: MailServer, moment: str, kept: int
) -> None:
    server.halt(moment)
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(send, server)
        wait_for(server.halted)
        server.close()
        assert isinstance(sent.exception(), smtplib.SMTPServerDisconnected)
    server.open()
    assert len(server.came()) == kept
    send(server)
    assert len(server.came()) == kept + 1
