"""The mail sender: sends due mail at least once; a failing server gets a pause."""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from traceback import format_exc

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core import flags
from portal.core.breakers import REST, Breaker, BreakerOpen
from portal.core.correlation import following
from portal.core.db import transaction
from portal.core.i18n import _k, stored_message
from portal.core.settings import var_folder
from portal.notifications import outbox
from portal.notifications.mail import InvalidAddress, Mail, compose, report_sent
from portal.notifications.mail_transport import (
    Deferred,
    MailFolder,
    MailTransport,
    Refused,
    SmtpConnection,
    SmtpServer,
    Unreachable,
)
from portal.notifications.models import OutboxEntry

PAUSES = (2.0, 4.0, 8.0)  # seconds before each retry
LONGEST = 8.0  # seconds; the scheduler starts another job if mail is left

log = logging.getLogger(__name__)


def mail_breaker(rest: float = REST) -> Breaker:
    """Return the breaker of a mail server; occasional deferrals do not open it."""
    return Breaker("The mail server", (Deferred, Unreachable), "mail", rest=rest, in_a_row=True)


@dataclass
class MailSender:
    """Sends mail from the outbox to a mail server or a folder."""

    post: Callable[[], MailTransport]
    breaker: Breaker = field(default_factory=mail_breaker)
    pauses: Sequence[float] = PAUSES

    def send_due(self, seconds: float = LONGEST) -> int:
        """Send due mail over one connection until none is left or the server fails.

        Returns the number of mails handled; 0 while mail is switched off. Each has its own
        transaction: a killed process leaves at most one mail that is sent twice, under the same id.
        """
        until, done = time.monotonic() + seconds, 0
        if not flags.on("mail"):
            return done
        with closing(self.post()) as post, suppress(BreakerOpen):
            while time.monotonic() < until and self._send_one(post):
                done += 1
        return done

    def _send_one(self, post: MailTransport) -> bool:
        """Handle one mail; return whether there was one and the server works. Raise BreakerOpen."""
        self.breaker.check()  # before a long report is made for nothing
        with transaction() as session:
            outgoing = outbox.take(session)
            if outgoing is None:
                return False
            with following(outgoing.correlation):
                if outgoing.until < datetime.now(UTC):
                    last = _k("Too old to send. Last error: %(what)s")
                    error = stored_message(last, what=outgoing.error) if outgoing.error else ""
                    outbox.mark_dead(outgoing, error or _k("Too old to send."))
                    return True
                try:
                    mail = compose(session, outgoing)
                except SQLAlchemyError:
                    raise
                except Exception as error:  # noqa: BLE001  a mail must not block others
                    known = isinstance(error, InvalidAddress)
                    outbox.mark_dead(outgoing, str(error) if known else format_exc())
                    return True
                if mail is None:
                    session.delete(outgoing)
                    return True
                return self._send(session, outgoing, mail, post)

    def _send(
        self, session: Session, outgoing: OutboxEntry, mail: Mail, post: MailTransport
    ) -> bool:
        try:
            self.breaker.call(post.send, mail)
        except Unreachable as error:  # a fault of the server, not of this mail
            log.warning("No mail server to be had: %s", error)
            outbox.postpone(outgoing, self.pauses[0], str(error))
            return False
        except Refused as error:
            outbox.mark_dead(outgoing, str(error))
        except Deferred as error:
            outbox.retry_later(outgoing, str(error), self.pauses)
        else:
            outbox.mark_sent(outgoing)
            if outgoing.kind == outbox.REPORT:
                report_sent.send(session, outgoing)
        return True


@cache
def mail_sender() -> MailSender:
    """Return the sender from the settings; raise ValueError if they are invalid."""
    settings = backend().settings
    if not settings.smtp:
        return MailSender(lambda: MailFolder(var_folder() / "mail"))
    server = SmtpServer.of(settings.smtp)
    return MailSender(lambda: SmtpConnection(server))
