"""Webhooks: which programs receive which events, and the status of their deliveries."""

from collections.abc import Callable
from functools import partial
from time import time

from flask import Blueprint, abort, render_template
from flask.typing import ResponseReturnValue
from redis.exceptions import RedisError
from sqlalchemy.orm import Session
from wtforms import HiddenField, ValidationError

from portal.backend import backend
from portal.core import breakers, flags
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _, _l
from portal.core.queue import NO_TERM, enqueue
from portal.notifications.webhooks import addresses, outbox, receivers
from portal.notifications.webhooks.models import EVENT_NAMES, Webhook
from portal.notifications.webhooks.receivers import (
    AddressTaken,
    ChangedBy,
    signing_secret,
)
from portal.notifications.webhooks.sender import BREAKER_PREFIX
from portal.people.roles import Right
from portal.web.admin.dead_letters import REMEDY, settle_deliveries
from portal.web.confirm import (
    CHANGED,
    Confirmation,
    Wording,
    confirm,
    done,
    refused,
    seen_number,
)
from portal.web.forms import ChoicesField, Form, ReasonField, TextField, render_form
from portal.web.http.access import requires, visitor

bp = Blueprint("webhooks", __name__, url_prefix="/webhooks")

HOME = "/admin/webhooks"
DEAD_SHOWN = 20
TAKEN = _l(
    "A webhook with this address already exists. Its secret is not shown again,"
    " but you can create a new one."
)


class WebhookForm(Form):
    """A receiver: its address and its events."""

    version = HiddenField()
    url = TextField(
        _l("Address"),
        longest=2000,
        missing=_l("Enter an address such as https://example.edu/hook, without a password."),
        description=_l(
            "The URL that receives events. It must start with https:// and be reachable"
            " from the internet."
        ),
        render_kw={"type": "url", "inputmode": "url", "spellcheck": "false"},
    )
    names = ChoicesField(
        _l("Events"),
        choices=EVENT_NAMES,
        missing=_l("Choose at least one event."),
    )
    reason = ReasonField()

    def validate_url(self, field: TextField) -> None:
        """Raise ValidationError if events can't be sent to the address."""
        try:
            addresses.parts(field.data, backend().settings.webhook_networks)
        except ValueError as error:
            raise ValidationError(str(field.missing)) from error


CHANGES = {
    "on": Wording(
        _l("Switch the webhook on"),
        _l("It receives waiting events and all new ones."),
        _l("Webhook switched on."),
    ),
    "off": Wording(
        _l("Switch the webhook off"),
        _l("Waiting events stay in the queue. Events that happen while it is off are never sent."),
        _l("Webhook switched off."),
        danger=True,
    ),
    "secret": Wording(
        _l("Create a new secret"),
        _l("It is shown once and used from now on. Update the receiving program with it."),
        _l("New secret created."),
        danger=True,
    ),
    "delete": Wording(
        _l("Delete the webhook"),
        _l("It receives no more events. Waiting events are discarded."),
        _l("Webhook deleted."),
        danger=True,
    ),
}
MAKE_CHANGE: dict[str, Callable[[Session, Webhook, ChangedBy], object]] = {
    "on": partial(receivers.switch, on=True),
    "off": partial(receivers.switch, on=False),
    "secret": receivers.renew,
    "delete": receivers.remove,
}


@bp.get("")
@requires(Right.SEE_WEBHOOKS)
def index() -> ResponseReturnValue:
    """Render all receivers, and the form for another."""
    return _list(WebhookForm(formdata=None))


@bp.post("")
@requires(Right.CHANGE_WEBHOOKS)
def make() -> ResponseReturnValue:
    """Create a receiver, and show its secret once."""
    form = WebhookForm()
    if not form.validate():
        return _list(form)
    try:
        with transaction() as session:
            who = ChangedBy(visitor().id, form.reason.data)
            made = receivers.make(session, form.url.data, form.names.data, who)
    except AddressTaken:
        form.refuse(TAKEN, "url")
        return _list(form, 409)
    return _page(made, with_secret=True)


@bp.get("/<int:webhook_id>")
@requires(Right.SEE_WEBHOOKS)
def show(webhook_id: int) -> ResponseReturnValue:
    """Render a receiver: its events and its deliveries."""
    return _page(_one(webhook_id))


@bp.route("/<int:webhook_id>/edit", methods=["GET", "POST"])
@requires(Right.CHANGE_WEBHOOKS)
def edit(webhook_id: int) -> ResponseReturnValue:
    """Change a receiver's address and events, unless someone else has changed them meanwhile."""
    webhook = _one(webhook_id)
    form = WebhookForm(obj=webhook)

    def act(reason: str) -> str | None:
        known, who = Webhook(id=webhook_id, version=seen_number()), ChangedBy(visitor().id, reason)
        try:
            with transaction() as session:
                receivers.change(session, known, who, url=form.url.data, names=form.names.data)
        except AddressTaken:
            form.refuse(TAKEN, "url")
            return None
        return _("Saved.")

    page = Confirmation(title=_("Change the webhook"), button=_("Save"), back=_back(webhook))
    return confirm(page, act, form)


@bp.post("/<int:webhook_id>/test")
@requires(Right.CHANGE_WEBHOOKS)
def test(webhook_id: int) -> ResponseReturnValue:
    """Send a test message without an event to a receiver, unless it has been switched off."""
    webhook = _one(webhook_id)
    page = Confirmation(
        title=_("Send a test"),
        back=_back(webhook),
        facts=[(_("Address"), webhook.url)],
    )
    try:
        with transaction() as session:
            receivers.test(session, webhook, ChangedBy(visitor().id, ""))
    except ChangedMeanwhile:
        return refused(page, str(CHANGED))
    enqueue(NO_TERM, ["deliver"])
    return done(_("Test sent. The result appears below."), page.back[0])


@bp.route(f"/<int:webhook_id>/<any({','.join(CHANGES)}):what>", methods=["GET", "POST"])
@requires(Right.CHANGE_WEBHOOKS)
def change(webhook_id: int, what: str) -> ResponseReturnValue:
    """Switch a receiver on or off, renew its secret, or delete it."""
    webhook, wording = _one(webhook_id), CHANGES[what]

    def act(reason: str) -> ResponseReturnValue:
        known = Webhook(id=webhook_id, version=seen_number())
        with transaction() as session:
            MAKE_CHANGE[what](session, known, ChangedBy(visitor().id, reason))
        if what == "secret":
            return _page(_one(webhook_id), with_secret=True)
        if what == "on":
            enqueue(NO_TERM, ["deliver"])
        return done(str(wording.done), HOME if what == "delete" else _back(webhook)[0])

    facts, seen = [(_("Address"), webhook.url)], {"version": webhook.version}
    return confirm(wording.page(_back(webhook), facts=facts, seen=seen), act)


@bp.route(f"/<int:webhook_id>/deliveries/<which>/{REMEDY}", methods=["GET", "POST"])
@requires(Right.CHANGE_WEBHOOKS)
def settle(webhook_id: int, which: str, remedy: str) -> ResponseReturnValue:
    """Retry or discard dead deliveries."""
    webhook = _one(webhook_id)
    return settle_deliveries(webhook, which, remedy, _back(webhook))


def _one(webhook_id: int) -> Webhook:
    """Return the receiver, or 404."""
    with transaction() as session:
        return receivers.webhook(session, webhook_id) or abort(404)


def _back(webhook: Webhook) -> tuple[str, str]:
    return f"{HOME}/{webhook.id}", webhook.url


def _list(form: WebhookForm, status: int = 0) -> ResponseReturnValue:
    with transaction() as session:
        context = {"webhooks": receivers.webhooks(session), "names": EVENT_NAMES}
    return render_form("admin/webhooks/index.html", form, status=status, **context)


def _page(webhook: Webhook, *, with_secret: bool = False) -> ResponseReturnValue:
    """Render a receiver and its deliveries; with `with_secret` also its secret."""
    with transaction() as session:
        latest = receivers.latest(session, webhook.id)
        dead = outbox.dead(session, webhook.id, DEAD_SHOWN)
        number_dead = outbox.number_dead(session, webhook.id)
    text = render_template(
        "admin/webhooks/show.html",
        webhook=webhook,
        names=EVENT_NAMES,
        latest=latest,
        dead=dead,
        number_dead=number_dead,
        switched_off=not flags.on("webhooks"),
        rest_ends=_rest_ends(webhook),
        secret=signing_secret(webhook.seed) if with_secret else "",
    )
    return text, 201 if with_secret else 200


def _rest_ends(webhook: Webhook) -> int:
    """Return when (ms) the last worker's open breaker allows calls again; 0 if none is open."""
    now = time() * 1000
    try:
        reports = breakers.breaker_states(backend().redis)
    except RedisError:
        return 0
    mine = [each for each in reports if each.part == f"{BREAKER_PREFIX}{webhook.id}"]
    return max((each.rest_ends or 0 for each in mine if each.state(now) == "open"), default=0)
