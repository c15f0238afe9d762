"""Dead jobs, undelivered mails and webhook deliveries: tried again or discarded."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from flask import Blueprint, abort, request
from flask.typing import ResponseReturnValue

from portal.applications import dead_letters as of_applications
from portal.backend import backend
from portal.catalog.local_time import local_clock
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n, translated
from portal.core.queue import QUEUE_LABELS
from portal.ledger.function_library import translate_errors
from portal.notifications import mail_texts, outbox
from portal.notifications.webhooks import outbox as webhook_outbox
from portal.notifications.webhooks.models import Webhook
from portal.operations import dead_letters, figures
from portal.people.roles import Right
from portal.web.confirm import NotPossible, Wording, confirm
from portal.web.http.access import requires, visitor

bp = Blueprint("dead_letters", __name__, url_prefix="/operations")

ALL = "all"
OPERATIONS = ("/admin/operations", _l("Operations"))
REMEDY = "<any(retry,discard):remedy>"


JOB_GONE = _l("This job no longer exists. Someone else handled it, or a later job did.")
GONE = _l("It no longer exists. Someone else handled it.")
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
        _l("Discard undelivered email"),
        _l(
            "The email is never sent. Notifications stay in the person’s inbox in the"
            " portal. Account warnings are sent by email only."
        ),
        done=_l("Discarded."),
        button=_l("Discard"),
        danger=True,
    ),
}
RETRY_OF_APPLICATION = Wording(
    _l("Retry this"),
    _l("A worker retries it at once, and up to three more times. It counts only once."),
    done=_l("A worker retries it."),
    button=_l("Retry"),
)
DELIVERY_ACTIONS = {
    "retry": Wording(
        _l("Send to the webhook again"),
        _l("It is sent at once with the same ID. If it keeps failing, it comes back to this list."),
        done=_l("The event will be sent again."),
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
@requires(Right.OPERATE)
def settle_job(job: str, remedy: str) -> ResponseReturnValue:
    """Try a dead job again, or discard it."""
    with translate_errors():
        found = [each for each in dead_letters.find_all(backend().redis) if each.id == job]
    facts = [(_("Queue"), str(QUEUE_LABELS[each.queue])) for each in found]

    def act(reason: str) -> bool:
        with translate_errors():
            return dead_letters.settle_job(backend().redis, found[0], remedy, visitor().id, reason)

    trace = found[0].trace if found else ""
    return _settle(JOB_ACTIONS[remedy], facts, act, found, gone=JOB_GONE, trace=trace)


@bp.route(f"/mails/<which>/{REMEDY}", methods=["GET", "POST"])
@requires(Right.OPERATE)
def settle_mails(which: str, remedy: str) -> ResponseReturnValue:
    """Send a mail, or all those shown, again; or discard them."""
    with transaction() as session:
        found = _shown(outbox.dead(session), which)
    facts = []
    if found:
        one = len(found) == 1
        who = found[-1].to if one else _n("%(num)s email", "%(num)s emails", len(found))
        kinds = {mail_texts.labels()[each.kind] for each in found}
        facts = [(_("For"), who), (_("About"), ", ".join(sorted(kinds)))]

    def act(reason: str) -> bool:
        return dead_letters.settle(
            dead_letters.MAILS, found, f"mail.{remedy}", f"mail:{which}", visitor().id, reason
        )

    return _settle(MAIL_ACTIONS[remedy], facts, act, found)


@bp.route("/applications/<any(document,charge):box>/<int:letter>/retry", methods=["GET", "POST"])
@requires(Right.OPERATE)
def retry_of_application(box: str, letter: int) -> ResponseReturnValue:
    """Check a document again, or repeat a call to the payment provider."""
    with transaction() as session:
        row: Any = session.get(of_applications.MODELS[box], letter)
    found = [row] if row and row.dead_at else []
    facts = [(_("Application"), str(each.application_id)) for each in found]

    def act(reason: str) -> bool:
        return of_applications.retry(box, [letter], visitor().id, reason)

    return _settle(RETRY_OF_APPLICATION, facts, act, found)


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
    subject = f"webhook:{webhook.id}"

    def act(reason: str) -> bool:
        return dead_letters.settle(
            dead_letters.DELIVERIES, found, f"webhook.{remedy}", subject, visitor().id, reason
        )

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


def _settle(  # noqa: PLR0913
    wording: Wording,
    facts: list[tuple[str, str]],
    act: Callable[[str], bool],
    found: Sequence[Any],
    *,
    gone: str = GONE,
    trace: str = "",
    back: tuple[str, str] = OPERATIONS,
) -> ResponseReturnValue:
    """Ask for confirmation, or act and report; if nothing is found, nothing is left to do."""
    seen: dict[str, str] = {}
    if found:
        last = found[-1]
        failed = local_clock().short(last.dead_at)
        facts = [*facts, (_("Failed"), failed), (_("Error"), translated(last.error))]
        # Of what failed for good later, the page has shown nothing.
        seen = {"through": last.dead_at.isoformat()}

    def settle(reason: str) -> str:
        if not (found and act(reason)):
            raise NotPossible(str(gone))
        figures.forget()
        return str(wording.done)

    page = wording.page(
        back,
        facts=facts,
        seen=seen,
        refusal="" if found else str(gone),
        template="admin/operations/dead_letter.html",
        context={"trace": trace},
    )
    return confirm(page, settle)
