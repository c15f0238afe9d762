"""A receiver as its page shows it."""

from time import time

from flask import abort, make_response, render_template
from flask.typing import ResponseReturnValue
from redis.exceptions import RedisError

from portal.admin.operations.asking import Back
from portal.backend import backend
from portal.core import flags
from portal.core.db import transaction
from portal.notifications.webhooks import book, outbox
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.names import NAMES
from portal.notifications.webhooks.relay import PART
from portal.notifications.webhooks.secret import secret
from portal.ops import breaking

SHOWN = 20  # of what was given up


def one(webhook_id: int) -> Webhook:
    """The receiver of that number; 404 where there is none."""
    with transaction() as session:
        return book.webhook(session, webhook_id) or abort(404)


def back(webhook: Webhook) -> Back:
    """Its page."""
    return f"/admin/webhooks/{webhook.id}", webhook.url


def page(webhook: Webhook, *, tell: bool = False) -> ResponseReturnValue:
    """What it is, and how its deliveries go; its secret where that is to be told, this once."""
    with transaction() as session:
        latest = book.latest(session, webhook.id)
        dead = outbox.dead(session, webhook.id, SHOWN)
        number_dead = outbox.number_dead(session, webhook.id)
    text = render_template(
        "admin/webhooks/show.html",
        webhook=webhook,
        names=NAMES,
        latest=latest,
        dead=dead,
        number_dead=number_dead,
        switched_off=not flags.on("webhooks"),
        rest_ends=_rest_ends(webhook),
        secret=secret(webhook.seed) if tell else "",
    )
    answer = make_response(text, 201 if tell else 200)
    if tell:
        answer.headers["Cache-Control"] = "no-store"
    return answer


def _rest_ends(webhook: Webhook) -> int:
    """Until when (ms) some worker leaves it alone; 0 where none does, or nobody can say."""
    now = time() * 1000
    try:
        said = breaking.said(backend().redis)
    except RedisError:
        return 0
    mine = [each for each in said if each.part == f"{PART}{webhook.id}"]
    return max((each.rest_ends or 0 for each in mine if each.state(now) == "open"), default=0)
