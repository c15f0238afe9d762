"""GET and POST /admin/webhooks/<id>/…: a receiver switched, tested, given a secret, or deleted."""

from collections.abc import Callable
from dataclasses import dataclass

from flask import Blueprint, abort, request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from portal.admin.operations import asking
from portal.admin.operations.asking import Question
from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.admin.webhooks import shown
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.notifications.codes import NO_TERM
from portal.notifications.webhooks import book
from portal.notifications.webhooks.book import Meanwhile, Who
from portal.notifications.webhooks.models import Webhook
from portal.recorder.wake import wake
from portal.web.http.access import requires, visitor


@dataclass(frozen=True)
class Deed:
    """What can be done with a receiver, in words, and how."""

    title: str
    meaning: str
    done: str
    act: Callable[[Session, Webhook, Who], object]
    danger: bool = False


DEEDS = {
    "on": Deed(
        _l("Switch the webhook on"),
        _l("It is told of what waits for it, and of every such event from now on."),
        _l("It is on."),
        lambda *whom: book.switch(*whom, on=True),
    ),
    "off": Deed(
        _l("Switch the webhook off"),
        _l("What waits for it goes on waiting. Of what happens while it is off it is never told."),
        _l("It is off."),
        lambda *whom: book.switch(*whom, on=False),
        danger=True,
    ),
    "secret": Deed(
        _l("Make a new secret"),
        _l("It is shown once. All is signed with it at once: the receiver has to know it first."),
        _l("The new secret is in use."),
        book.renew,
        danger=True,
    ),
    "delete": Deed(
        _l("Delete the webhook"),
        _l("It is told of nothing any more, and what waits for it is let go."),
        _l("It is deleted."),
        book.remove,
        danger=True,
    ),
}

bp = Blueprint("deeds", __name__, url_prefix="/<int:webhook_id>")


@bp.post("/test")
@requires("admin")
def test(webhook_id: int) -> ResponseReturnValue:
    """Have it sent a message that tells of no event, unless it is off meanwhile."""
    webhook = shown.one(webhook_id)
    try:
        with transaction() as session:
            book.test(session, webhook, Who(visitor().id, ""))
    except Meanwhile:
        title, facts = _("Send a test"), [(_("Address"), webhook.url)]
        return _too_late(Question(title, facts, "", title, back=shown.back(webhook)))
    wake(NO_TERM, ["deliver"])
    return asking.done(_("A test is on its way: see below how it goes."), shown.back(webhook))


@bp.get(f"/<any({','.join(DEEDS)}):what>")
@requires("admin")
def ask(webhook_id: int, what: str) -> ResponseReturnValue:
    """What it will mean."""
    return asking.ask(_question(shown.one(webhook_id), what), Reading())


@bp.post(f"/<any({','.join(DEEDS)}):what>")
@requires("admin")
def act(webhook_id: int, what: str) -> ResponseReturnValue:
    """Do it, unless somebody else has changed it since it was looked at."""
    webhook, reading = shown.one(webhook_id), Reading()
    reason = read_reason(reading, request.form)
    if reading.errors:
        return asking.ask(_question(webhook, what), reading, 422)
    try:
        with transaction() as session:
            known = Webhook(id=webhook_id, version=_version())
            DEEDS[what].act(session, known, Who(visitor().id, reason))
    except Meanwhile:
        return _too_late(_question(webhook, what))
    return _after(webhook, what)


def _too_late(question: Question) -> ResponseReturnValue:
    reading = Reading()
    reading.wrong("", _("Somebody else has changed this meanwhile. Look again."))
    return asking.ask(question, reading, 409)


def _after(webhook: Webhook, what: str) -> ResponseReturnValue:
    if what == "secret":
        return shown.page(shown.one(webhook.id), tell=True)
    if what == "on":
        wake(NO_TERM, ["deliver"])
    home = ("/admin/webhooks", _("Webhooks"))
    return asking.done(str(DEEDS[what].done), home if what == "delete" else shown.back(webhook))


def _question(webhook: Webhook, what: str) -> Question:
    words = DEEDS[what]
    return Question(
        title=str(words.title),
        facts=[(_("Address"), webhook.url)],
        meaning=str(words.meaning),
        button=str(words.title),
        danger=words.danger,
        kept={"version": webhook.version},
        back=shown.back(webhook),
    )


def _version() -> int:
    try:
        return int(request.form["version"])
    except ValueError:
        abort(400)
