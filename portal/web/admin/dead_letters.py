"""Dead jobs, undelivered mails and webhook deliveries: tried again or discarded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import Blueprint, abort, request
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.catalog.local_time import local_clock
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.core.labels import QUEUES
from portal.core.queue import NO_TERM, enqueue
from portal.ledger.function_library import translate_errors
from portal.notifications import outbox
from portal.notifications.kinds import KINDS
from portal.notifications.models import OutboxEntry
from portal.notifications.outbox import DeadLetter as DeadMail
from portal.notifications.webhooks import outbox as webhook_outbox
from portal.notifications.webhooks.models import Delivery, Webhook
from portal.operations import dead_letters, figures
from portal.operations.dead_letters import DeadLetter as DeadJob
from portal.people.models import add_audit_entry
from portal.web.confirm import Confirmation, NotPossible, confirm, done
from portal.web.http.access import requires, visitor

bp = Blueprint("dead_letters", __name__)

ALL = "all"
HOME = "/admin/operations"
MOST_IN_TRAIL = 1000  # ids of deliveries in one entry
REMEDY = "<any(retry,discard):remedy>"


@dataclass(frozen=True)
class Wording:
    """The texts of an action on dead letters."""

    title: str
    meaning: str
    button: str
    done: str
    danger: bool = False


JOB_GONE = _l("This job is gone: somebody else has dealt with it, or a later one did.")
GONE = _l("It is gone: somebody else has dealt with it.")
JOB_ACTIONS = {
    "retry": Wording(
        _l("Try this job again"),
        _l("A worker does it as soon as one is free. If it goes on failing it comes back here."),
        _l("Try it again"),
        _l("It will be tried again."),
    ),
    "discard": Wording(
        _l("Discard this job"),
        _l(
            "Nothing is lost with it: what it left undone stands in the ledger or in PostgreSQL."
            " For a term another job is made after a rest; an import, an export or an audit waits"
            " on its page until somebody asks for it again."
        ),
        _l("Discard it"),
        _l("It is discarded."),
        danger=True,
    ),
}
MAIL_ACTIONS = {
    "retry": Wording(
        _l("Send again what was given up"),
        _l(
            "It leaves as soon as mail does, within a day or never. If it fails it comes back here."
        ),
        _l("Send again"),
        _l("It will be sent again."),
    ),
    "discard": Wording(
        _l("Discard mail that was given up"),
        _l(
            "It is never sent. News stay in the inbox of the person, here in the portal;"
            " a warning about an account was in its mail alone."
        ),
        _l("Discard"),
        _l("It is discarded."),
        danger=True,
    ),
}
DELIVERY_ACTIONS = {
    "retry": Wording(
        _l("Tell the receiver again"),
        _l("It is sent at once, under the same id. If it fails each time it comes back here."),
        _l("Send again"),
        _l("It will be sent again."),
    ),
    "discard": Wording(
        _l("Discard what was given up"),
        _l("The receiver is never told. What has happened stays in the event log."),
        _l("Discard"),
        _l("It is discarded."),
        danger=True,
    ),
}


# Jobs


@bp.route(f"/jobs/<job>/{REMEDY}", methods=["GET", "POST"])
@requires("admin")
def settle_job(job: str, remedy: str) -> ResponseReturnValue:
    """Try a dead job again, or discard it."""
    with translate_errors():
        found = next(
            (each for each in dead_letters.letters(backend().redis) if each.id == job), None
        )
    if found is None:
        return _settle(JOB_ACTIONS[remedy], [], JOB_GONE, lambda _reason: False)
    return _settle(
        JOB_ACTIONS[remedy],
        [(_("Queue"), str(QUEUES[found.queue])), *_failure(found.died_at, found.error)],
        JOB_GONE,
        lambda reason: _settle_job(found, remedy, reason),
        trace=found.trace,
    )


def _settle_job(job: DeadJob, remedy: str, reason: str) -> bool:
    """Do it and record who did, or neither; return whether the job still existed."""
    act = {"retry": dead_letters.retry, "discard": dead_letters.discard}[remedy]
    with transaction() as session:
        add_audit_entry(
            session,
            f"job.{remedy}",
            f"job:{job.id}",
            by=visitor().id,
            before={"queue": job.queue, "error": job.error},
            reason=reason,
        )
        session.flush()
        with translate_errors():
            settled = act(backend().redis, job)
        if not settled:
            session.rollback()
        return settled


# Mails


@bp.route(f"/mails/<which>/{REMEDY}", methods=["GET", "POST"])
@requires("admin")
def settle_mails(which: str, remedy: str) -> ResponseReturnValue:
    """Send a mail, or all those shown, again; or discard them."""
    through = _shown_through()
    with transaction() as session:
        found = [
            each
            for each in outbox.dead(session)
            if which in {ALL, str(each.id)} and (through is None or each.dead_at <= through)
        ]
    return _settle(
        MAIL_ACTIONS[remedy],
        _mail_facts(found),
        GONE,
        lambda reason: _settle_mails(which, remedy, found, reason),
        seen=_seen(found),
    )


def _mail_facts(found: Sequence[DeadMail]) -> list[tuple[str, str]]:
    if not found:
        return []
    last = found[-1]
    who = last.to if len(found) == 1 else _n("%(num)s mail", "%(num)s mails", len(found))
    kinds = {
        str(KINDS[each.kind].label) if each.kind in KINDS else _("A warning about an account")
        for each in found
    }
    return [
        (_("For"), who),
        (_("About"), ", ".join(sorted(kinds))),
        *_failure(last.dead_at, last.error),
    ]


def _settle_mails(which: str, remedy: str, found: Sequence[DeadMail], reason: str) -> bool:
    act = {"retry": outbox.revive, "discard": outbox.discard}[remedy]
    with transaction() as session:
        settled = act(session, OutboxEntry, [each.id for each in found])
        if settled:
            add_audit_entry(
                session,
                f"mail.{remedy}",
                f"mail:{which}",
                by=visitor().id,
                before={"error": found[0].error},
                after={"mails": sorted(settled)},
                reason=reason,
            )
    enqueue(NO_TERM, ["notify"])
    return bool(settled)


# Webhook deliveries. Their views are in webhooks.py, below the webhook's address.


def settle_deliveries(
    webhook: Webhook, which: str, remedy: str, back: tuple[str, str]
) -> ResponseReturnValue:
    """Send a delivery, or all those shown, again; or discard them."""
    through = _shown_through()
    with transaction() as session:
        found = [
            each
            for each in webhook_outbox.dead(session, webhook.id)
            if which in {ALL, str(each.id)}
            and (through is None or (each.dead_at and each.dead_at <= through))
        ]
    facts = []
    if found and found[-1].dead_at:
        facts = [
            (_("Address"), webhook.url),
            (_("Deliveries"), _n("%(num)s delivery", "%(num)s deliveries", len(found))),
            *_failure(found[-1].dead_at, found[-1].error),
        ]
    return _settle(
        DELIVERY_ACTIONS[remedy],
        facts,
        GONE,
        lambda reason: _settle_deliveries(webhook, remedy, found, reason),
        seen=_seen(found),
        back=back,
    )


def _settle_deliveries(
    webhook: Webhook, remedy: str, found: Sequence[Delivery], reason: str
) -> bool:
    act = {"retry": outbox.revive, "discard": outbox.discard}[remedy]
    with transaction() as session:
        settled = act(session, Delivery, [each.id for each in found])
        if settled:
            add_audit_entry(
                session,
                f"webhook.{remedy}",
                f"webhook:{webhook.id}",
                by=visitor().id,
                before={"error": found[0].error},
                after={"deliveries": sorted(settled)[:MOST_IN_TRAIL]},
                reason=reason,
            )
    enqueue(NO_TERM, ["deliver"])
    return bool(settled)


# Shared by all three kinds


def _settle(  # noqa: PLR0913
    words: Wording,
    facts: list[tuple[str, str]],
    gone: str,
    act: Callable[[str], bool],
    *,
    seen: dict[str, object] | None = None,
    trace: str = "",
    back: tuple[str, str] | None = None,
) -> ResponseReturnValue:
    """Ask for confirmation, or act and report; if `facts` is empty, nothing is left to do."""
    back = back or (HOME, _("Operations"))

    def settle(reason: str) -> ResponseReturnValue:
        if not (facts and act(reason)):
            raise NotPossible(str(gone))
        figures.forget()
        return done(str(words.done), back[0])

    page = Confirmation(
        title=str(words.title),
        button=str(words.button),
        back=back,
        facts=facts,
        meaning=[str(words.meaning)],
        danger=words.danger,
        seen=seen or {},
        refusal="" if facts else str(gone),
        template="admin/operations/dead_letter.html",
        context={"trace": trace},
    )
    return confirm(page, settle)


def _failure(died_at: datetime, error: str) -> list[tuple[str, str]]:
    return [(_("Given up"), local_clock().short(died_at)), (_("What went wrong"), error)]


def _seen(found: Sequence[DeadMail] | Sequence[Delivery]) -> dict[str, object]:
    """Return what the form sends back: when the last dead letter on the page failed for good."""
    died_at = found[-1].dead_at if found else None
    return {"through": died_at.isoformat()} if died_at else {}


def _shown_through() -> datetime | None:
    """Return when the last dead letter on the form failed for good; None on a GET."""
    if request.method != "POST":
        return None
    try:
        through = datetime.fromisoformat(request.form["through"])
    except ValueError:
        abort(400)
    return through if through.tzinfo else abort(400)
