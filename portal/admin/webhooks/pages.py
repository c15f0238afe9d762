"""GET and POST /admin/webhooks: the receivers, another one, one of them, and its changes."""

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from portal.admin.times import Reading
from portal.admin.webhooks import form, shown
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.notifications.webhooks import book
from portal.notifications.webhooks.book import Meanwhile, Taken, Who
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.names import NAMES
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

TAKEN = _l(
    "A receiver with this address is there already. Its secret is shown no more, but you can give"
    " it a new one."
)

bp = Blueprint("pages", __name__)


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """All receivers, and the form for another."""
    return _list(Reading())


@bp.post("")
@requires("admin")
def make() -> ResponseReturnValue:
    """Make one, and show its secret, this once."""
    reading = form.read()
    if reading.errors:
        return _list(reading), 422
    told = reading.values
    try:
        with transaction() as session:
            made = book.make(session, told["url"], told["names"], Who(visitor().id, told["reason"]))
    except Taken:
        reading.wrong("url", str(TAKEN))
        return _list(reading), 409
    return shown.page(made, tell=True)


@bp.get("/<int:webhook_id>")
@requires("admin")
def show(webhook_id: int) -> ResponseReturnValue:
    """One of them: what it is told, and how that went."""
    return shown.page(shown.one(webhook_id))


@bp.get("/<int:webhook_id>/edit")
@requires("admin")
def edit(webhook_id: int) -> ResponseReturnValue:
    """Its address and events, to be changed."""
    webhook = shown.one(webhook_id)
    fields = [("url", webhook.url), ("version", str(webhook.version))]
    return _form(webhook, MultiDict([*fields, *(("names", each) for each in webhook.names)]))


@bp.post("/<int:webhook_id>/edit")
@requires("admin")
def change(webhook_id: int) -> ResponseReturnValue:
    """Change them, unless somebody else has changed it meanwhile."""
    webhook, reading = shown.one(webhook_id), form.read()
    if reading.errors:
        return _form(webhook, request.form, reading), 422
    told, known = reading.values, Webhook(id=webhook_id, version=_version())
    who = Who(visitor().id, told["reason"])
    try:
        with transaction() as session:
            book.change(session, known, who, url=told["url"], names=told["names"])
    except Meanwhile:
        reading.wrong("", _("Somebody else has changed this meanwhile. Look again."))
        return _form(webhook, request.form, reading), 409
    except Taken:
        reading.wrong("url", str(TAKEN))
        return _form(webhook, request.form, reading), 409
    flash(_("Saved."))
    return go(url_for("admin.webhooks.pages.show", webhook_id=webhook_id))


def _list(reading: Reading) -> str:
    with transaction() as session:
        found = book.webhooks(session)
    return render_template(
        "admin/webhooks/index.html", webhooks=found, names=NAMES, reading=reading, form=request.form
    )


def _form(webhook: Webhook, given: MultiDict[str, str], reading: Reading | None = None) -> str:
    return render_template(
        "admin/webhooks/edit.html",
        webhook=webhook,
        names=NAMES,
        form=given,
        reading=reading or Reading(),
    )


def _version() -> int:
    try:
        return int(request.form["version"])
    except ValueError:
        abort(400)
