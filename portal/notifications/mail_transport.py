"""How a mail leaves: by a mail server, or into a folder where there is none."""

import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from portal.core.private_files import owner_only
from portal.notifications.mail import Mail


class Refused(Exception):  # noqa: N818  answers, not mistakes
    """The server will never take this mail."""


class Deferred(Exception):  # noqa: N818
    """The server did not take this mail now."""


class Unreachable(Exception):  # noqa: N818
    """There was no server to ask."""


class MailTransport(Protocol):
    """One talk, of many mails."""

    def send(self, letter: Mail) -> None:
        """Hand over a mail; raises Refused, Deferred or Unreachable."""

    def close(self) -> None:
        """End the talk."""


# A folder of mails in place of a mail server, for demos and tries.


class MailFolder:
    """Keeps each mail as a file; what is sent again takes its own place."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def send(self, letter: Mail) -> None:
        """Write the mail; raises Unreachable where the disk does not let us."""
        partial = self.path / f".{letter.id}.part"
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(partial, "wb", opener=owner_only) as out:
                out.write(bytes(letter.message))
            partial.replace(self.path / f"{letter.id}.eml")
        except OSError as error:
            raise Unreachable(f"{self.path}: {error.strerror}") from error

    def close(self) -> None:
        """Nothing is left open."""


# A mail server, and what its answers mean for a mail.

SMTP_TIMEOUT = 10.0  # seconds for each answer of the server
PORTS = {"smtp": 25, "smtps": 465}
PERMANENT = 500


@dataclass(frozen=True)
class SmtpServer:
    """Where a mail server is and how to talk to it."""

    host: str
    port: int
    user: str = ""
    password: str = ""
    tls: bool = False  # from the first byte on
    starttls: bool = False

    @classmethod
    def of(cls, url: str) -> "SmtpServer":
        """The server of smtp://user:password@host:port, smtps://…, or …?starttls=1.

        Raises ValueError where it is no such address.
        """
        parts = urlsplit(url)
        if parts.scheme not in PORTS or not parts.hostname:
            raise ValueError("FAIRSEAT_SMTP is no address such as smtp://user:password@host:587")
        return cls(
            host=parts.hostname,
            port=parts.port or PORTS[parts.scheme],
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            tls=parts.scheme == "smtps",
            starttls=parse_qs(parts.query).get("starttls") == ["1"],
        )


class SmtpConnection:
    """One connection for many mails, begun with the first, and anew after it broke."""

    def __init__(self, server: SmtpServer, patience: float = SMTP_TIMEOUT) -> None:
        self.server = server
        self.patience = patience
        self._connection: smtplib.SMTP | None = None

    def send(self, letter: Mail) -> None:
        """Hand over a mail; raises Refused, Deferred or Unreachable."""
        connection = self._connection or self._connect(letter.domain)
        try:
            connection.send_message(letter.message, to_addrs=[letter.to])
        except OSError as error:  # all that smtplib raises is one
            self.close()
            raise _meaning(error) from error

    def close(self) -> None:
        """Say goodbye, if there is still somebody to hear it."""
        connection, self._connection = self._connection, None
        with suppress(OSError):
            if connection and connection.sock:
                connection.quit()

    def _connect(self, domain: str) -> smtplib.SMTP:
        try:
            connection = self._open(domain)
            self._connection = connection
            if self.server.starttls:
                connection.starttls(context=ssl.create_default_context())
            if self.server.user:
                connection.login(self.server.user, self.server.password)
        except OSError as error:
            self.close()
            raise Unreachable(f"{self.server.host}:{self.server.port}: {_said(error)}") from error
        return connection

    def _open(self, domain: str) -> smtplib.SMTP:
        # The name is given, as smtplib would ask the DNS for it, for minutes perhaps.
        where = (self.server.host, self.server.port, domain)
        if self.server.tls:
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(*where, timeout=self.patience, context=context)
        return smtplib.SMTP(*where, timeout=self.patience)


def _meaning(error: OSError) -> Refused | Deferred | Unreachable:
    """What a failure says about the mail; a sender that is refused says nothing about it."""
    if isinstance(error, smtplib.SMTPSenderRefused | smtplib.SMTPHeloError):
        return Unreachable(_said(error))
    if isinstance(error, smtplib.SMTPNotSupportedError) or _code(error) >= PERMANENT:
        return Refused(_said(error))
    return Deferred(_said(error))


def _code(error: OSError) -> int:
    """The server's number, 0 where it said none."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return max(code for code, _ in error.recipients.values())
    return error.smtp_code if isinstance(error, smtplib.SMTPResponseException) else 0


def _said(error: OSError) -> str:
    """The server's own words, else those of the failure."""
    answers: list[tuple[int, bytes | str]] = []
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        answers = list(error.recipients.values())
    elif isinstance(error, smtplib.SMTPResponseException):
        answers = [(error.smtp_code, error.smtp_error)]
    told = [
        f"{code} {said.decode(errors='replace') if isinstance(said, bytes) else said}"
        for code, said in answers
    ]
    return "; ".join(told) or str(error) or type(error).__name__
