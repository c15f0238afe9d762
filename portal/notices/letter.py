"""A notice as a mail: plain text that reads well, in the language of whoever gets it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from textwrap import fill

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.languages import speaking
from portal.notices.kinds import KINDS
from portal.notices.models import Notice, Outgoing
from portal.notices.words import News, Words, words
from portal.people.models import Account
from portal.words import _, reader

WIDTH = 72


class Unaddressable(ValueError):  # noqa: N818  a fact about an address
    """An address that no mail can be sent to."""


@dataclass(frozen=True)
class Letter:
    """A mail and whom it is for; `id` stays the same however often it is sent."""

    id: str
    domain: str  # of the sender
    to: str
    message: EmailMessage


def letter(session: Session, outgoing: Outgoing) -> Letter:
    """The mail of a row of the outbox; raises Unaddressable."""
    row = session.execute(
        select(Notice, Account, Term.name)
        .join(Account, Account.id == Notice.account_id)
        .join(Term, Term.id == Notice.term_id)
        .where(Notice.id == outgoing.notice_id)
    ).one()
    notice, account, term = row
    to, sender = _address(account.name, account.email), _sender()
    name = f"notice-{notice.made_at:%Y%m%d%H%M%S}-{outgoing.id}"
    message = EmailMessage(policy=SMTP)
    message["Message-ID"] = f"<{name}@{sender.domain}>"
    message["Date"] = format_datetime(datetime.now(UTC))
    message["From"], message["To"] = sender, to
    message["Auto-Submitted"] = "auto-generated"
    message["List-Unsubscribe"] = f"<{_settings_url()}>"
    with speaking(account.language):
        told = words(News(notice.kind, notice.term_id, notice.section_id, notice.data))
        message["Subject"] = _one_line(told.title)
        text = _text(told, notice.kind, account.name, term)
        message.set_content(text, cte="7bit" if text.isascii() else "quoted-printable")
        message["Content-Language"] = str(reader())
    return Letter(name, sender.domain, to.addr_spec, message)


def _text(told: Words, kind: str, name: str, term: str) -> str:
    """The body: what has happened first, why this mail came last."""
    settings = backend().settings
    why = _(
        "You get this email because you want to hear of this: %(kind)s. Choose what you want by"
        " email:",
        kind=KINDS[kind].label,
    )
    parts = (
        _filled(_("Hello %(name)s,", name=name)),
        *(_filled(each) for each in (f"{told.title}.", *told.text)),
        f"{_filled(told.step.label)}:\n{settings.url}{told.step.url}",
        f"{_filled(why)}\n{_settings_url()}",
        f"-- \n{_filled(f'{settings.institution}, {term}')}",
    )
    return "\n\n".join(parts) + "\n"


def _filled(text: str) -> str:
    return fill(_one_line(text), WIDTH, break_long_words=False, break_on_hyphens=False)


def _one_line(text: str) -> str:
    """The text without line breaks and control characters, which a header must not have."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())


def _address(name: str, address: str) -> Address:
    try:
        found = Address(display_name=_one_line(name), addr_spec=address)
    except (ValueError, IndexError, MessageError) as error:
        raise Unaddressable(f"{address!r} is no address for mail") from error
    if found.addr_spec != address:
        raise Unaddressable(f"{address!r} is read as {found.addr_spec!r}")
    return found


def _sender() -> Address:
    """Whom the mails are from, by name the institution unless the setting has another."""
    name, address = parseaddr(backend().settings.mail_from)
    return _address(name or backend().settings.institution, address)


def _settings_url() -> str:
    return f"{backend().settings.url}/inbox/settings"
