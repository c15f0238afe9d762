"""Plain-text mail in the recipient's language: notifications, one-time codes and alerts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.catalog.models import Term
from portal.core.correlation import HEADER
from portal.core.db import transaction
from portal.core.i18n import LANGUAGES, _, _n, current_locale, in_language, isolated
from portal.core.moments import milliseconds
from portal.core.signals import Signal
from portal.notifications import mail_texts, outbox
from portal.notifications.kinds import KINDS, text_of
from portal.notifications.mail_texts import Wording, filled, one_line
from portal.notifications.models import Notification, OutboxEntry
from portal.people import accounts, mail_links, staff
from portal.people.models import Account
from portal.protection import captcha_codes

ALERT_MINUTES = 24 * 60  # minutes before an alert expires
TEST_MINUTES = 60


class InvalidAddress(ValueError):
    """An address that cannot receive mail."""


@dataclass(frozen=True)
class Mail:
    """A mail and its recipient; `id` stays the same at each attempt."""

    id: str
    domain: str  # of the sender
    to: str
    message: EmailMessage


@dataclass(frozen=True)
class Report:
    """A report as a mail: its texts, links with a label, and a CSV file unless it is too large."""

    title: str
    text: Sequence[str]
    link: tuple[str, str]
    settings: tuple[str, str]  # why the person gets it, and where to change that
    term: str
    file: tuple[str, bytes] | None


# An entry of the outbox is to be sent: the subscriber makes its report, in the account's language,
# or returns None if no one is to get it. Reports are in an upper package.
report_wanted: Signal[Session, OutboxEntry] = Signal()
report_sent: Signal[Session, OutboxEntry] = Signal()


# Mail that belongs to no notification: sent whatever the settings, and not in the inbox.


def send_code(account: int) -> str:
    """Mail a new code to the account; return its address, or "" if it has none."""
    seed = captcha_codes.create_seed(account)
    return _send_now(account, outbox.CODE, {"seed": seed}, captcha_codes.MINUTES)


def send_test(account: int, kind: str, language: str, wording: Wording) -> str:
    """Mail a text with made-up data to the account; return its address, or "" if it has none."""
    data = {"of": kind, "language": language, "subject": wording.subject, "body": wording.body}
    return _send_now(account, outbox.TEST, data, TEST_MINUTES)


def _send_now(account: int, kind: str, data: dict[str, Any], minutes: int) -> str:
    with transaction() as session:
        address = session.get_one(Account, account).email
        if address:
            outbox.queue_mail(session, kind, account, data, minutes)
    return address


def is_address(text: str) -> bool:
    """Return whether mail could be sent to an address outside this machine."""
    try:
        found = _address("", text)
    except InvalidAddress:
        return False
    return bool(found.username) and "." in found.domain.strip(".")


def send_link(address: str, about: str, language: str) -> None:
    """Mail a link to an address: to `sign-up`, or for the `recovery` of an account's password.

    Neither the page nor the time that the answer takes shows whether the address has an account:
    the worker that sends the mail looks it up.
    """
    with transaction() as session:
        _queue_link(session, None, about, address, language)


def send_recovery(session: Session, account: Account, language: str, by: str) -> None:
    """Mail a link for a new password to an account, once the change is committed.

    `by` is the name of the admin who asked. An account without a password is explained.
    """
    language = account.language or language
    _queue_link(session, account.id, mail_links.RECOVERY, account.email, language, by=by)


def _queue_link(  # noqa: PLR0913, PLR0917  whose link, for what, where to and how
    session: Session, account: int | None, about: str, address: str, language: str, by: str = ""
) -> None:
    data = {"about": about, "address": address, "language": language, "by": by}
    outbox.queue_mail(session, outbox.LINK, account, data, mail_links.MINUTES)


def alert(session: Session, account: int, about: str, **facts: str) -> None:
    """Send an alert about a change to the account, once the transaction commits.

    It goes to the account's address, or to the `address` among the facts.
    """
    if not facts.get("address", session.get_one(Account, account).email):
        return
    data = {"about": about, "at": milliseconds(datetime.now(UTC)), **facts}
    outbox.queue_mail(session, outbox.ALERT, account, data, ALERT_MINUTES)


def alert_admins(session: Session, term: int, count: int) -> None:
    """Alert all admins that the ledger and the records of a term differ."""
    name = session.get_one(Term, term).name
    for admin in session.scalars(select(Account.id).where(Account.is_admin)):
        alert(session, admin, "differences", term=name, count=str(count))


ALERTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "password": lambda _data: _("Your password was changed"),
    "email": lambda _data: _("The email address of your account was changed"),
    "differences": lambda data: _n(
        "%(term)s: the audit found %(num)s difference",
        "%(term)s: the audit found %(num)s differences",
        data["count"],
        term=data["term"],
    ),
    "token": lambda data: _("Access token created: “%(name)s”", name=data["name"]),
}


# Composition


def compose(session: Session, outgoing: OutboxEntry) -> Mail | None:
    """Return the mail of an outbox row, None if no one is to get it; raise InvalidAddress."""
    writers: dict[str, Callable[[Session, OutboxEntry], Mail | None]] = {
        outbox.CODE: _code,
        outbox.LINK: _link,
        outbox.ALERT: _alert,
        outbox.TEST: _test,
        outbox.REPORT: _report,
    }
    written = writers.get(outgoing.kind, _notification)(session, outgoing)
    if written and outgoing.correlation:
        written.message[HEADER] = outgoing.correlation
    return written


def _notification(session: Session, outgoing: OutboxEntry) -> Mail:
    """Return a mail in which what happened comes first, and why it is sent comes last."""
    notification = session.get_one(Notification, outgoing.notification_id)
    account = session.get_one(Account, notification.account_id)
    settings, kind = backend().settings, notification.kind
    choices = f"{settings.url}/inbox/settings"
    with in_language(account.language):
        text = text_of(notification)
        why = _(
            "You get this email because your settings include “%(kind)s”. Change your"
            " email settings:",
            kind=KINDS[kind].label,
        )
        mail = _mail(
            f"notice-{notification.made_at:%Y%m%d%H%M%S}-{outgoing.id}",
            account,
            _wording(session, kind, outgoing),
            {
                "title": text.title,
                "text": _paragraphs(*map(filled, text.text)),
                "link": f"{filled(text.step.label)}:\n{settings.url}{text.step.url}",
                "settings": f"{filled(why)}\n{choices}",
                "term": notification.term.name,
            },
        )
    mail.message["List-Unsubscribe"] = f"<{choices}>"
    return mail


def _code(session: Session, outgoing: OutboxEntry) -> Mail:
    account = session.get_one(Account, outgoing.account_id)
    digits = captcha_codes.code(account.id, (outgoing.data or {})["seed"])
    with in_language(account.language):
        good = _(
            "Enter this code on the page that asked for it. You can use it once, within"
            " ten minutes."
        )
        warning = _(
            "If you did not ask for a code, someone else may be using your account. Change"
            " your password."
        )
        title = _("Your code is %(code)s", code=f"{digits[:4]} {digits[4:]}")
        text = _paragraphs(filled(good), filled(warning))
        return _of_kind(session, outgoing, account, title=title, text=text)


def _link(session: Session, outgoing: OutboxEntry) -> Mail | None:
    """Return a mail with links that prove that its reader has the address."""
    data = outgoing.data or {}
    address, recovery = data["address"], data["about"] == mail_links.RECOVERY
    known = _accounts_of(session, outgoing, address, recovery=recovery)
    if not known and (recovery or accounts.username_taken(session, address)):
        return None
    reader = Account(name="", email=address, language=data["language"])
    with in_language(data["language"]):
        lasts = _("The link works once, for %(minutes)s minutes.", minutes=mail_links.MINUTES)
        ignore = _("If you did not ask for this, ignore this email.")
        before: list[str] = []
        if data.get("by") and not known[0].password_hash:
            title = _("Your account for course registration: set your first password")
            before, links = _about_account(known[0], data["by"]), [_recovery(known[0])]
            ignore = _("If you did not expect an account, ask the registrar’s office first.")
        elif recovery:
            title = _("Choose a new password")
            links = [_recovery(each) for each in known]
        elif known:
            title, lasts = _("You already have an account"), ""
            then = _("Log in with this address. If you forgot your password, choose a new one:")
            links = [(then, "/recovery")]
        else:
            title = _("Confirm your email address")
            then = _("Open this link to choose a password and begin your application:")
            links = [(then, f"/sign-up/{mail_links.sign_up_token(address)}")]
        url = backend().settings.url
        parts = [f"{filled(then)}\n{url}{link}" for then, link in links]
        text = _paragraphs(*before, *parts, filled(lasts), filled(ignore))
        to = known[0] if len(known) == 1 else reader
        return _of_kind(session, outgoing, to, title=title, text=text)


def _accounts_of(
    session: Session, outgoing: OutboxEntry, address: str, *, recovery: bool
) -> Sequence[Account]:
    """Return the accounts that a mail with links is about."""
    if outgoing.account_id:
        return [session.get_one(Account, outgoing.account_id)]
    if recovery:
        return accounts.recoverable(session, address)
    account = accounts.of_address(session, address)
    return [account] if account else []


def _about_account(account: Account, by: str) -> list[str]:
    """Return who has set up an account, where, and for which role."""
    made = _(
        "The registrar’s office (%(by)s) has set up an account for you in Fairseat, the course"
        " registration portal of %(institution)s.",
        by=isolated(by),
        institution=backend().settings.institution,
    )
    roles = ", ".join(staff.role_labels(account))
    role = _("Your role: %(roles)s.", roles=roles)
    none = _("You have no role yet. The office gives you one later.")
    return [filled(made), filled(role if roles else none)]


def _recovery(account: Account) -> tuple[str, str]:
    """Return what to do with a link for a new password of an account, and the link."""
    then = _("Open this link to choose a new password:")
    if not account.password_hash:
        then = _(
            "Your username is %(username)s. Open this link to set your first password:",
            username=account.username,
        )
    elif account.username != account.email:
        then = _(
            "Your username is %(username)s. Open this link to choose a new password:",
            username=account.username,
        )
    return then, f"/recovery/{mail_links.recovery_token(account)}"


def _alert(session: Session, outgoing: OutboxEntry) -> Mail:
    """Return a mail about what was done, when, and what to do if it was not expected."""
    account = session.get_one(Account, outgoing.account_id)
    data, settings = outgoing.data or {}, backend().settings
    with in_language(account.language):
        when = LocalClock(settings.zone).full(data["at"])
        if data["about"] == "differences":
            then = _(
                "See the differences on the operations page. Run “%(command)s” to see how to"
                " repair them.",
                command="fairseat repair",
            )
            link = f"{_('Operations')}: {settings.url}/admin/operations"
        else:
            then = _(
                "If this was not you, someone else may be using your account. Change your"
                " password, revoke your access tokens and contact the registrar."
            )
            link = f"{_('My account')}: {settings.url}/account"
        to = Account(name=account.name, email=data.get("address", account.email))
        text = _paragraphs(*map(filled, (_("Time: %(when)s.", when=when), then, link)))
        return _of_kind(session, outgoing, to, title=ALERTS[data["about"]](data), text=text)


def _test(session: Session, outgoing: OutboxEntry) -> Mail:
    """Return a mail with a text that an admin tries, and made-up data."""
    account, data = session.get_one(Account, outgoing.account_id), outgoing.data or {}
    with in_language(data["language"]):
        wording, example = Wording(data["subject"], data["body"]), mail_texts.example(data["of"])
        return _mail(_name(outgoing), account, wording, example)


def _report(session: Session, outgoing: OutboxEntry) -> Mail | None:
    """Return a mail with a report and its file, None if no one is to get it."""
    account = session.get_one(Account, outgoing.account_id)
    url = backend().settings.url
    with in_language(account.language):
        report: Report | None = next(iter(report_wanted.send(session, outgoing)), None)
        if report is None:
            return None
        mail = _of_kind(
            session,
            outgoing,
            account,
            title=report.title,
            text=_paragraphs(*report.text),
            link=f"{filled(report.link[0])}:\n{url}{report.link[1]}",
            settings=f"{filled(report.settings[0])}\n{url}{report.settings[1]}",
            term=report.term,
        )
    mail.message["List-Unsubscribe"] = f"<{url}{report.settings[1]}>"
    if report.file:
        name, content = report.file
        mail.message.add_attachment(content, "text", "csv", filename=name)
    return mail


def _of_kind(session: Session, outgoing: OutboxEntry, account: Account, **values: str) -> Mail:
    """Return the mail of an outbox row without a notification, with the text of its kind."""
    wording = _wording(session, outgoing.kind, outgoing)
    return _mail(_name(outgoing), account, wording, values)


def _name(outgoing: OutboxEntry) -> str:
    return f"{outgoing.kind}-{outgoing.until:%Y%m%d%H%M%S}-{outgoing.id}"


def _wording(session: Session, kind: str, outgoing: OutboxEntry) -> Wording:
    """Return the text of a kind in the current language, as it was when the mail was queued."""
    language = next(code for code in LANGUAGES if code == str(current_locale()))
    return mail_texts.wording_of(session, kind, language, outgoing.id)


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _mail(name: str, account: Account, wording: Wording, values: Mapping[str, str]) -> Mail:
    """Return a mail in the current language; raise InvalidAddress."""
    to = _address(account.name, account.email)
    institution = backend().settings.institution
    from_name, from_address = parseaddr(backend().settings.mail_from)
    sender = _address(from_name or institution, from_address)
    person = {"name": account.name, "institution": institution}
    found = mail_texts.written(wording, person | {**values}, account.email)
    message = EmailMessage(policy=SMTP)
    message["Message-ID"] = f"<{name}@{sender.domain}>"
    message["Date"] = format_datetime(datetime.now(UTC))
    message["From"], message["To"] = sender, to
    message["Auto-Submitted"] = "auto-generated"
    message["Subject"] = found.subject
    message.set_content(found.body, cte="7bit" if found.body.isascii() else "quoted-printable")
    message["Content-Language"] = str(current_locale())
    return Mail(name, sender.domain, to.addr_spec, message)


def _address(name: str, address: str) -> Address:
    try:
        found = Address(display_name=one_line(name), addr_spec=address)
    except (ValueError, IndexError, MessageError) as error:
        raise InvalidAddress(f"{address!r} is no address for mail") from error
    if found.addr_spec != address:
        raise InvalidAddress(f"{address!r} is read as {found.addr_spec!r}")
    return found
