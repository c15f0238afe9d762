"""Mail that belongs to no notification: one-time codes, and alerts about an account."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import event, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.core.i18n import _
from portal.core.queue import NO_TERM, enqueue
from portal.notifications import outbox
from portal.people.models import Account
from portal.protection import captcha_codes


def send_code(account: int) -> str:
    """Mail a new code to the account; return its address, or "" if it has none."""
    seed = captcha_codes.create_seed(account)
    with transaction() as session:
        address = session.get_one(Account, account).email
        if address:
            outbox.put(session, outbox.CODE, account, {"seed": seed}, captcha_codes.MINUTES)
    if address:
        enqueue(NO_TERM, ["notify"])
    return address


# Mail about an account's security: sent whatever the settings, and not in the inbox.

ALERT_MINUTES = 24 * 60  # minutes before it expires


def alert(session: Session, account: int, about: str, **facts: str) -> None:
    """Send an alert about a change to the account, once the transaction commits."""
    if not session.get_one(Account, account).email:
        return
    data = {"about": about, "at": round(datetime.now(UTC).timestamp() * 1000), **facts}
    outbox.put(session, outbox.ALERT, account, data, ALERT_MINUTES)
    event.listen(session, "after_commit", lambda _: enqueue(NO_TERM, ["notify"]), once=True)


def alert_admins(session: Session, term: int, count: int) -> None:
    """Alert all admins that the ledger and the records of a term differ."""
    name = session.get_one(Term, term).name
    for admin in session.scalars(select(Account.id).where(Account.is_admin)):
        alert(session, admin, "differences", term=name, count=str(count))


def alert_text(data: dict[str, Any]) -> list[str]:
    """Return the subject, then the text: what was done, when, and what to do if unexpected."""
    when = LocalClock(backend().settings.zone).full(data["at"])
    url = backend().settings.url
    said = [ABOUT[data["about"]](data), _("This was on %(when)s.", when=when)]
    if data["about"] == "differences":
        told = _(
            "What differs is on the page of operations; “%(command)s” says how it is mended.",
            command="fairseat repair",
        )
        return [*said, told, f"{_('Operations')}: {url}/admin/operations"]
    return [
        *said,
        _(
            "If it was not you, somebody else may be logged in with your account: change your"
            " password, revoke your access tokens and tell the registrar."
        ),
        f"{_('My account')}: {url}/account",
    ]


ABOUT: dict[str, Callable[[dict[str, Any]], str]] = {
    "password": lambda _data: _("Your password has been changed"),
    "differences": lambda data: _(
        "%(term)s: ledger and record differ in %(count)s places",
        term=data["term"],
        count=data["count"],
    ),
    "token": lambda data: _("An access token has been made: “%(name)s”", name=data["name"]),
}
