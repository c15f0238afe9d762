"""A mail server in a process of its own, to be killed and frozen; what came is in its folder.

The process: `python -m tests.faults.mailserver folder port`.
"""

import asyncio
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

BEFORE, BEHIND = "before", "behind"  # a mail is kept
HALT, HALTED = "halt", "halted"


@dataclass
class MailServer:
    """As the suite sees it; `port` stays the same while it is away."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes]"

    def open(self) -> None:
        """Have it listen again, with no order to halt any more."""
        for order in (HALT, HALTED):
            (self.folder / order).unlink(missing_ok=True)
        self.process = _listening(self.folder, self.port)

    def close(self) -> None:
        """Kill -9, whoever is talking to it."""
        self.process.kill()
        self.process.communicate()

    def halt(self, moment: str) -> None:
        """Whatever mail comes next is not answered: BEFORE it is kept, or BEHIND that."""
        (self.folder / HALT).write_text(moment)

    def halted(self) -> bool:
        """Return whether such a mail has come."""
        return (self.folder / HALTED).exists()

    def came(self) -> list[EmailMessage]:
        """The mails that came since they were forgotten."""
        found = self.folder.glob("*.eml")
        return [message_from_bytes(file.read_bytes(), policy=policy.default) for file in found]

    def forget(self) -> None:
        """Keep none of those that came."""
        for file in self.folder.glob("*.eml"):
            file.unlink()


@contextmanager
def a_mail_server(folder: Path, port: int) -> Iterator[MailServer]:
    """One that listens until the block ends."""
    folder.mkdir()
    server = MailServer(folder, port, _listening(folder, port))
    try:
        yield server
    finally:
        server.close()


def _listening(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.faults.mailserver", str(folder), str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline(), "the mail server does not start"
    return process


@dataclass
class Keeper:
    """Keeps each mail whole or not at all, and halts where it is told to."""

    folder: Path

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802
        """Keep the mail."""
        order = self.folder / HALT
        halts = order.read_text() if order.exists() else ""
        if halts == BEFORE:
            await self._halt()
        self._keep(envelope)
        if halts == BEHIND:
            await self._halt()
        return "250 taken"

    async def _halt(self) -> None:
        (self.folder / HALTED).touch()
        await asyncio.Event().wait()

    def _keep(self, envelope: Envelope) -> None:
        draft = self.folder / f"{secrets.token_hex(8)}.new"
        draft.write_bytes(envelope.original_content or b"")
        draft.rename(draft.with_suffix(".eml"))


def main(folder: str, port: str) -> None:
    """Listen, say so, and serve until a signal comes."""
    Controller(Keeper(Path(folder)), hostname="127.0.0.1", port=int(port)).start()
    print("It listens.", flush=True)
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
