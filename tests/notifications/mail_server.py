"""A real mail server that keeps what it is given, and says no when it is told to."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.ports import free_port

TAKEN = "250 taken"


class Office(Controller):
    """Knows who talks to it, so that it can end every talk."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.talks: list[SMTP] = []

    def factory(self) -> SMTP:
        self.talks.append(super().factory())
        return self.talks[-1]

    def hang_up(self) -> None:
        asyncio.run_coroutine_threadsafe(self._hang_up(), self.loop).result(60)

    async def _hang_up(self) -> None:
        for talk in self.talks:
            if talk.transport:
                talk.transport.close()
        await asyncio.sleep(0)  # that they may notice


@dataclass
class Postman:
    """What came, and what the next mails are answered; `port` stays the same while it is away."""

    port: int
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)  # to the next recipients, then all is well
    asked: int = 0
    office: "Office | None" = None

    def open(self, **options: Any) -> None:
        """Begin to listen."""
        self.office = Office(self, hostname="127.0.0.1", port=self.port, **options)
        self.office.start()

    def close(self) -> None:
        """Go away, whoever is still talking."""
        if self.office:
            self.office.hang_up()
            self.office.stop()
        self.office = None

    async def handle_RCPT(  # noqa: N802  aiosmtpd's name
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        """Take the recipient, or say what is to be said."""
        self.asked += 1
        answer = self.answers.pop(0) if self.answers else TAKEN
        if answer == TAKEN:
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802
        """Keep the mail."""
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        self.recipients += envelope.rcpt_tos
        return TAKEN

    @property
    def ids(self) -> list[str]:
        """The ids of the mails that came."""
        return [mail["Message-ID"] for mail in self.mails]


@contextmanager
def a_postman() -> Iterator[Postman]:
    """One that listens until the block ends."""
    postman = Postman(free_port())
    postman.open()
    try:
        yield postman
    finally:
        postman.close()
