"""Mails about the safety of an account: whatever one has chosen to hear of, and in no inbox."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.core.i18n import _
from portal.notifications import outbox
from portal.notifications.codes import NO_TERM
from portal.people.models import Account
from portal.recorder.wake import wake

A_DAY = 24 * 60  # minutes for which it is of use


def alert(session: Session, account: int, about: str, **facts: str) -> None:
    """Have the account told what has been done to it, once the transaction has held."""
    if not session.get_one(Account, account).email:
        return
    data = {"about": about, "at": round(datetime.now(UTC).timestamp() * 1000), **facts}
    outbox.put(session, outbox.ALERT, account, data, A_DAY)
    event.listen(session, "after_commit", lambda _: wake(NO_TERM, ["notify"]), once=True)


def told(data: dict[str, Any]) -> list[str]:
    """The subject, then the text: what has been done, when, and what to do if by somebody else."""
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
