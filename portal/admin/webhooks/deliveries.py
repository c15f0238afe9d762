"""GET and POST /admin/webhooks/<id>/deliveries/<id or all>/…: what was given up, again or never."""

from collections.abc import Sequence
from datetime import datetime

from flask import Blueprint
from flask.typing import ResponseReturnValue

from portal.admin.operations.asking import Question
from portal.admin.operations.fates import Fate, asked, seen_through, settled
from portal.admin.webhooks import shown
from portal.admin.windows.pages import clock
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.notifications.codes import NO_TERM
from portal.notifications.webhooks import outbox
from portal.notifications.webhooks.models import Delivery, Webhook
from portal.people.models import AuditEntry
from portal.recorder.wake import wake
from portal.web.http.access import requires, visitor

ALL = "all"
GONE = _l("It is gone: somebody else has dealt with it.")
FATES = {
    "retry": Fate(
        _l("Tell the receiver again"),
        _l("It is sent at once, under the same id. If it fails each time it comes back here."),
        _l("Send again"),
        _l("It will be sent again."),
        GONE,
    ),
    "discard": Fate(
        _l("Discard what was given up"),
        _l("The receiver is never told. What has happened stays in the event log."),
        _l("Discard"),
        _l("It is discarded."),
        GONE,
        danger=True,
    ),
}
KEPT = 1000  # numbers of deliveries in the trail
ACTS = {"retry": outbox.revive, "discard": outbox.discard}

bp = Blueprint(
    "deliveries",
    __name__,
    url_prefix=f"/<int:webhook_id>/deliveries/<which>/<any({','.join(FATES)}):fate>",
)


@bp.get("")
@requires("admin")
def ask(webhook_id: int, which: str, fate: str) -> ResponseReturnValue:
    """Which they are, what went wrong, and what will be done."""
    webhook = shown.one(webhook_id)
    question = _question(webhook, _found(webhook, which), fate)
    return asked(FATES[fate], question, shown.back(webhook))


@bp.post("")
@requires("admin")
def act(webhook_id: int, which: str, fate: str) -> ResponseReturnValue:
    """Do it to those that were seen."""
    webhook = shown.one(webhook_id)
    found = _found(webhook, which, seen_through())
    question = _question(webhook, found, fate)
    return settled(
        FATES[fate],
        question,
        lambda reason: _act(webhook, fate, found, reason),
        shown.back(webhook),
    )


def _act(webhook: Webhook, fate: str, found: Sequence[Delivery], reason: str) -> list[int]:
    with transaction() as session:
        done = ACTS[fate](session, [each.id for each in found])
        if done:
            entry = AuditEntry(
                account_id=visitor().id,
                action=f"webhook.{fate}",
                subject=f"webhook:{webhook.id}",
                before={"error": found[0].error},
                after={"deliveries": sorted(done)[:KEPT]},
                reason=reason,
            )
            session.add(entry)
    wake(NO_TERM, ["deliver"])
    return done


def _found(webhook: Webhook, which: str, through: datetime | None = None) -> list[Delivery]:
    """Those that are given up still, and were no later than that."""
    with transaction() as session:
        return [
            each
            for each in outbox.dead(session, webhook.id)
            if which in {ALL, str(each.id)}
            and (through is None or (each.dead_at and each.dead_at <= through))
        ]


def _question(webhook: Webhook, found: Sequence[Delivery], fate: str) -> Question | None:
    last = found[-1] if found else None
    if last is None or last.dead_at is None:
        return None
    facts = [
        (_("Address"), webhook.url),
        (_("Deliveries"), _n("%(num)s delivery", "%(num)s deliveries", len(found))),
        (_("Given up"), clock().short(last.dead_at)),
        (_("What went wrong"), last.error),
    ]
    kept = {"through": last.dead_at.isoformat()}
    return FATES[fate].question(facts, kept, back=shown.back(webhook))
