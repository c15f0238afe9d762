"""A notification as plain-text mail, in the recipient's language."""

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
from portal.core.correlation import HEADER
from portal.core.i18n import _, current_locale, in_language
from portal.notifications import account_mails, outbox
from portal.notifications.kinds import KINDS
from portal.notifications.models import Notification, OutboxEntry
from portal.notifications.texts import NotificationContent, NotificationText, text_of
from portal.people.models import Account
from portal.protection import captcha_codes

WIDTH = 72


class InvalidAddress(ValueError):  # noqa: N818  a fact about an address
    """An address that cannot receive mail."""


@dataclass(frozen=True)
class Mail:
    """A mail and its recipient; `id` stays the same at each attempt."""

    id: str
    domain: str  # of the sender
    to: str
    message: EmailMessage


def compose(session: Session, outgoing: OutboxEntry) -> Mail:
    """Return the mail of an outbox row; raise InvalidAddress."""
    write = {outbox.CODE: _code, outbox.ALERT: _alert}.get(outgoing.kind, _notice)
    written = write(session, outgoing)
    if outgoing.correlation:
        written.message[HEADER] = outgoing.correlation
    return written


def _notice(session: Session, outgoing: OutboxEntry) -> Mail:
    row = session.execute(
        select(Notification, Account, Term.name)
        .join(Account, Account.id == Notification.account_id)
        .join(Term, Term.id == Notification.term_id)
        .where(Notification.id == outgoing.notice_id)
    ).one()
    notice, account, term = row
    name = f"notice-{notice.made_at:%Y%m%d%H%M%S}-{outgoing.id}"
    with in_language(account.language):
        told = text_of(
            NotificationContent(notice.kind, notice.term_id, notice.section_id, notice.data)
        )
        text = _text(told, notice.kind, account.name, term)
        written = _letter(name, account, told.title, text)
    written.message["List-Unsubscribe"] = f"<{_settings_url()}>"
    return written


def _code(session: Session, outgoing: OutboxEntry) -> Mail:
    account = session.get_one(Account, outgoing.account_id)
    name = f"code-{outgoing.until:%Y%m%d%H%M%S}-{outgoing.id}"
    digits = captcha_codes.code(account.id, (outgoing.data or {})["seed"])
    with in_language(account.language):
        title = _("Your code is %(code)s", code=f"{digits[:4]} {digits[4:]}")
        return _letter(name, account, title, _text_of_code(title, account.name))


def _alert(session: Session, outgoing: OutboxEntry) -> Mail:
    account = session.get_one(Account, outgoing.account_id)
    name = f"alert-{outgoing.until:%Y%m%d%H%M%S}-{outgoing.id}"
    with in_language(account.language):
        title, *text = account_mails.alert_text(outgoing.data or {})
        return _letter(name, account, title, _plain(account.name, f"{title}.", *text))


def _letter(name: str, account: Account, title: str, text: str) -> Mail:
    """Return a mail in the current language; raise InvalidAddress."""
    to, sender = _address(account.name, account.email), _sender()
    message = EmailMessage(policy=SMTP)
    message["Message-ID"] = f"<{name}@{sender.domain}>"
    message["Date"] = format_datetime(datetime.now(UTC))
    message["From"], message["To"] = sender, to
    message["Auto-Submitted"] = "auto-generated"
    message["Subject"] = _one_line(title)
    message.set_content(text, cte="7bit" if text.isascii() else "quoted-printable")
    message["Content-Language"] = str(current_locale())
    return Mail(name, sender.domain, to.addr_spec, message)


def _text(told: NotificationText, kind: str, name: str, term: str) -> str:
    """Return the body: what happened comes first, why the reader gets this mail comes last."""
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


def _text_of_code(title: str, name: str) -> str:
    return _plain(
        name,
        f"{title}.",
        _("Type it on the page that asked for it. It is good for ten minutes, and for one time."),
        _(
            "If you have not asked for it, somebody else may be logged in with your account:"
            " change your password."
        ),
    )


def _plain(name: str, *paragraphs: str) -> str:
    """Return the body of a mail without a notification."""
    parts = (_("Hello %(name)s,", name=name), *paragraphs)
    return "\n\n".join([*map(_filled, parts), f"-- \n{backend().settings.institution}"]) + "\n"


def _filled(text: str) -> str:
    return fill(_one_line(text), WIDTH, break_long_words=False, break_on_hyphens=False)


def _one_line(text: str) -> str:
    """Return the text without line breaks and control characters, for use in a header."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())


def _address(name: str, address: str) -> Address:
    try:
        found = Address(display_name=_one_line(name), addr_spec=address)
    except (ValueError, IndexError, MessageError) as error:
        raise InvalidAddress(f"{address!r} is no address for mail") from error
    if found.addr_spec != address:
        raise InvalidAddress(f"{address!r} is read as {found.addr_spec!r}")
    return found


def _sender() -> Address:
    """Return the sender, named after the institution unless the setting has another name."""
    name, address = parseaddr(backend().settings.mail_from)
    return _address(name or backend().settings.institution, address)


def _settings_url() -> str:
    return f"{backend().settings.url}/inbox/settings"
