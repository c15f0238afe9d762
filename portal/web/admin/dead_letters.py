"""Dead jobs, undelivered mails and webhook deliveries: tried again or discarded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import Blueprint, abort, request
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.catalog.local_time import local_clock
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.core.queue import NO_TERM, QUEUE_LABELS, enqueue
from portal.ledger.function_library import translate_errors
from portal.notifications import outbox
from portal.notifications.kinds import KINDS
from portal.notifications.models import OutboxEntry, Outgoing
from portal.notifications.webhooks import outbox as webhook_outbox
from portal.notifications.webhooks.models import Delivery, Webhook
from portal.operations import dead_letters, figures
from portal.web.confirm import NotPossible, Wording, confirm, done
from portal.web.http.access import requires, visitor

bp = Blueprint("dead_letters", __name__, url_prefix="/operations")

ALL = "all"
OPERATIONS = ("/admin/operations", _l("Operations"))
REMEDY = "<any(retry,discard):remedy>"


@dataclass(frozen=True)
class Outbox:
    """An outbox table, the worker that sends its entries, and its ids in the audit trail."""

    model: type[Outgoing]
    worker: str
    ids: str
    most_in_trail: int | None = None


JOB_GONE = _l("This job no longer exists. Someone else handled it, or a later job did.")
GONE = _l("It no longer exists. Someone else handled it.")
MAILS = Outbox(OutboxEntry, "notify", "mails")
DELIVERIES = Outbox(Delivery, "deliver", "deliveries", most_in_trail=1000)
JOB_ACTIONS = {
    "retry": Wording(
        _l("Retry this job"),
        _l(
            "A worker runs it as soon as one is free. If it fails again, it comes back to"
            " this list."
        ),
        done=_l("The job will be retried."),
        button=_l("Retry"),
    ),
    "discard": Wording(
        _l("Discard this job"),
        _l(
            "No data is lost: it is in the ledger or PostgreSQL. Jobs of a term start"
            " again later. Imports, exports and audits wait until someone starts them"
            " again."
        ),
        done=_l("Discarded."),
        button=_l("Discard"),
        danger=True,
    ),
}
MAIL_ACTIONS = {
    "retry": Wording(
        _l("Send this email again"),
        _l(
            "It is sent when the mail server works, within one day. If it fails again, it"
            " comes back to this list."
        ),
        done=_l("The email will be sent again."),
        button=_l("Send again"),
    ),
    "discard": Wording(
        _l("Discard undelivered mail"),
        _l(
            "The email is never sent. Notifications stay in the person’s inbox in the"
            " portal. Account warnings are sent by email only."
        ),
        done=_l("Discarded."),
        button=_l("Discard"),
        danger=True,
    ),
}
DELIVERY_ACTIONS = {
    "retry": Wording(
        _l("Send to the webhook again"),
        _l("It is sent at once with the same ID. If it keeps failing, it comes back to this list."),
        done=_l("The email will be sent again."),
        button=_l("Send again"),
    ),
    "discard": Wording(
        _l("Discard failed deliveries"),
        _l("The webhook never receives this event. The event stays in the event log."),
        done=_l("Discarded."),
        button=_l("Discard"),
        danger=True,
    ),
}


@bp.route(f"/jobs/<job>/{REMEDY}", methods=["GET", "POST"])
@requires("admin")
def settle_job(job: str, remedy: str) -> ResponseReturnValue:
    """Try a dead job again, or discard it."""
    with translate_errors():
        found = next(
            (each for each in dead_letters.letters(backend().redis) if each.id == job), None
        )
    if found is None:
        return _settle(JOB_ACTIONS[remedy], [], lambda _reason: False, gone=JOB_GONE)

    def act(reason: str) -> bool:
        """Do it and record who did, or neither; return whether the job still existed."""
        before = {"queue": found.queue, "error": found.error}
        with transaction() as session:
            add_audit_entry(
                session,
                f"job.{remedy}",
                f"job:{found.id}",
                by=visitor().id,
                before=before,
                reason=reason,
            )
            session.flush()
            with translate_errors():
                settle = dead_letters.retry if remedy == "retry" else dead_letters.discard
                settled = settle(backend().redis, found)
            if not settled:
                session.rollback()
            return settled

    facts = [(_("Queue"), str(QUEUE_LABELS[found.queue])), *_failure(found.died_at, found.error)]
    return _settle(JOB_ACTIONS[remedy], facts, act, gone=JOB_GONE, trace=found.trace)


@bp.route(f"/mails/<which>/{REMEDY}", methods=["GET", "POST"])
@requires("admin")
def settle_mails(which: str, remedy: str) -> ResponseReturnValue:
    """Send a mail, or all those shown, again; or discard them."""
    with transaction() as session:
        found = _shown(outbox.dead(session), which)
    facts = []
    if found:
        one = len(found) == 1
        who = found[-1].to if one else _n("%(num)s email", "%(num)s emails", len(found))
        kinds = {
            str(KINDS[each.kind].label) if each.kind in KINDS else _("Account warning")
            for each in found
        }
        facts = [(_("For"), who), (_("About"), ", ".join(sorted(kinds)))]
    act = _act_on(MAILS, found, f"mail.{remedy}", f"mail:{which}")
    return _settle(MAIL_ACTIONS[remedy], facts, act, found)


def settle_deliveries(
    webhook: Webhook, which: str, remedy: str, back: tuple[str, str]
) -> ResponseReturnValue:
    """Send a delivery, or all those shown, again; or discard them. The view is in webhooks.py."""
    with transaction() as session:
        found = _shown(webhook_outbox.dead(session, webhook.id), which)
    facts = []
    if found:
        number = _n("%(num)s delivery", "%(num)s deliveries", len(found))
        facts = [(_("Address"), webhook.url), (_("Deliveries"), number)]
    act = _act_on(DELIVERIES, found, f"webhook.{remedy}", f"webhook:{webhook.id}")
    return _settle(DELIVERY_ACTIONS[remedy], facts, act, found, back=back)


def _shown(dead: Sequence[Any], which: str) -> list[Any]:
    """Return one dead letter or all of them; on a POST only those that the page had shown."""
    found = [each for each in dead if which in {ALL, str(each.id)}]
    if request.method != "POST":
        return found
    try:
        through = datetime.fromisoformat(request.form["through"])
    except ValueError:
        abort(400)
    if through.tzinfo is None:
        abort(400)
    return [each for each in found if each.dead_at <= through]


def _act_on(
    letters: Outbox, found: Sequence[Any], action: str, subject: str
) -> Callable[[str], bool]:
    """Return a function that sends them again or discards them, and records who did.

    It returns whether any of them was still there.
    """

    def act(reason: str) -> bool:
        settle = outbox.retry if action.endswith(".retry") else outbox.discard
        with transaction() as session:
            settled = settle(session, letters.model, [each.id for each in found])
            if settled:
                add_audit_entry(
                    session,
                    action,
                    subject,
                    by=visitor().id,
                    before={"error": found[0].error},
                    after={letters.ids: sorted(settled)[: letters.most_in_trail]},
                    reason=reason,
                )
        enqueue(NO_TERM, [letters.worker])
        return bool(settled)

    return act


def _settle(  # noqa: PLR0913
    wording: Wording,
    facts: list[tuple[str, str]],
    act: Callable[[str], bool],
    found: Sequence[Any] = (),
    *,
    gone: str = GONE,
    trace: str = "",
    back: tuple[str, str] = OPERATIONS,
) -> ResponseReturnValue:
    """Ask for confirmation, or act and report; if `facts` is empty, nothing is left to do."""
    if found:
        facts = [*facts, *_failure(found[-1].dead_at, found[-1].error)]

    def settle(reason: str) -> ResponseReturnValue:
        if not (facts and act(reason)):
            raise NotPossible(str(gone))
        figures.forget()
        return done(str(wording.done), back[0])

    page = wording.page(
        back,
        facts=facts,
        # Of what failed for good later, the page has shown nothing.
        seen={"through": found[-1].dead_at.isoformat()} if found else {},
        refusal="" if facts else str(gone),
        template="admin/operations/dead_letter.html",
        context={"trace": trace},
    )
    return confirm(page, settle)


def _failure(died_at: datetime, error: str) -> list[tuple[str, str]]:
    return [(_("Failed"), local_clock().short(died_at)), (_("Error"), error)]
