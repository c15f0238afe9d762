"""How mail leaves the system: by a mail server, or into a folder if there is none."""

import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from portal.core.private_files import owner_only
from portal.notifications.mail import Mail


class Refused(Exception):
    """The server will never accept this mail."""


class Deferred(Exception):
    """The server did not accept this mail now."""


class Unreachable(Exception):
    """The server could not be reached."""


class MailTransport(Protocol):
    """One session that sends many mails."""

    def send(self, mail: Mail) -> None:
        """Send a mail; raise Refused, Deferred or Unreachable."""

    def close(self) -> None:
        """End the session."""


# A folder of mails instead of a mail server, for demos and trials.


class MailFolder:
    """Stores each mail as a file; a mail sent again replaces its file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def send(self, mail: Mail) -> None:
        """Write the mail; raise Unreachable if the disk fails."""
        partial = self.path / f".{mail.id}.part"
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(partial, "wb", opener=owner_only) as out:
                out.write(bytes(mail.message))
            partial.replace(self.path / f"{mail.id}.eml")
        except OSError as error:
            raise Unreachable(f"{self.path}: {error.strerror}") from error

    def close(self) -> None:
        """Do nothing: there is no connection."""


# A mail server, and what its replies mean for a mail.

SMTP_TIMEOUT = 10.0  # seconds for each reply of the server
PORTS = {"smtp": 25, "smtps": 465}
PERMANENT = 500


@dataclass(frozen=True)
class SmtpServer:
    """The address of a mail server, and how to connect to it."""

    host: str
    port: int
    user: str = ""
    password: str = ""
    tls: bool = False  # from the first byte
    starttls: bool = False

    @classmethod
    def of(cls, url: str) -> "SmtpServer":
        """Return the server of smtp://user:password@host:port, smtps://…, or …?starttls=1.

        Raises ValueError for any other address.
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
    """One connection for many mails; opens with the first, and again after a failure."""

    def __init__(self, server: SmtpServer, timeout: float = SMTP_TIMEOUT) -> None:
        self.server = server
        self.timeout = timeout
        self._connection: smtplib.SMTP | None = None

    def send(self, mail: Mail) -> None:
        """Send a mail; raise Refused, Deferred or Unreachable."""
        connection = self._connection or self._connect(mail.domain)
        try:
            connection.send_message(mail.message, to_addrs=[mail.to])
        except OSError as error:  # every smtplib error is an OSError
            self.close()
            raise _meaning(error) from error

    def close(self) -> None:
        """Close the connection politely, if the server still answers."""
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
            raise Unreachable(
                f"{self.server.host}:{self.server.port}: {_error_text(error)}"
            ) from error
        return connection

    def _open(self, domain: str) -> smtplib.SMTP:
        # Pass the name: smtplib would otherwise ask the DNS for it, possibly for minutes.
        where = (self.server.host, self.server.port, domain)
        if self.server.tls:
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(*where, timeout=self.timeout, context=context)
        return smtplib.SMTP(*where, timeout=self.timeout)


def _meaning(error: OSError) -> Refused | Deferred | Unreachable:
    """Return what a failure means for the mail; a refused sender is no fault of the mail."""
    if isinstance(error, smtplib.SMTPSenderRefused | smtplib.SMTPHeloError):
        return Unreachable(_error_text(error))
    permanent = any(code >= PERMANENT for code, _ in _replies(error))
    if permanent or isinstance(error, smtplib.SMTPNotSupportedError):
        return Refused(_error_text(error))
    return Deferred(_error_text(error))


def _replies(error: OSError) -> list[tuple[int, bytes | str]]:
    """Return the server's replies: codes and texts."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return list(error.recipients.values())
    if isinstance(error, smtplib.SMTPResponseException):
        return [(error.smtp_code, error.smtp_error)]
    return []


def _error_text(error: OSError) -> str:
    """Return the server's text, or else the failure's."""
    replies = [
        f"{code} {text.decode(errors='replace') if isinstance(text, bytes) else text}"
        for code, text in _replies(error)
    ]
    return "; ".join(replies) or str(error) or type(error).__name__
