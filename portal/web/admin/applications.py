"""Applications of students: the queue, and the decision on one."""

from flask import Blueprint, flash, url_for
from flask.typing import ResponseReturnValue

from portal.applications import documents, fees
from portal.applications import retention as retention_times
from portal.applications.fees import FEE_REFUSED
from portal.applications.kinds import KINDS
from portal.applications.listing import STAGES
from portal.applications.models import PAID
from portal.catalog.formatting import money
from portal.core.db import transaction
from portal.core.i18n import _
from portal.people.roles import Right
from portal.web.application_decisions import SHOWN_STATES, Desk
from portal.web.confirm import Confirmation, confirm
from portal.web.forms import Form, NumberField, ReasonField
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("applications", __name__, url_prefix="/applications")

DESK = Desk("admin.applications")
DESK.add_views(bp, see=Right.SEE_APPLICATIONS, decide=Right.DECIDE)


@bp.get("")
@requires(Right.SEE_APPLICATIONS)
def index() -> ResponseReturnValue:
    """Render the queue: what waits longest comes first."""
    with transaction() as session:
        kept = retention_times.keep_days(session)
    return DESK.queue(
        "admin/applications.html",
        kept=kept,
        kinds=KINDS.values(),
        all_states=SHOWN_STATES,
        stages=STAGES,
    )


@bp.route("/<int:application_id>/refund", methods=["GET", "POST"])
@requires(Right.DECIDE)
def refund(application_id: int) -> ResponseReturnValue:
    """Give the fee back, with a reason."""
    line = DESK.find(application_id)
    address = url_for("admin.applications.show", application_id=line.id)
    paid = next((each for each in line.application.charges if each.state == PAID), None)
    page = Confirmation(
        title=_("Refund the fee"),
        button=_("Refund"),
        back=(address, f"{line.kind.title}, {line.name}"),
        facts=[(_("Amount"), money(paid.amount, paid.currency))] if paid else (),
        meaning=[_("The payment provider refunds the whole amount. This can’t be undone.")],
        danger=True,
        refusal="" if paid else str(FEE_REFUSED["not_paid"]),
    )

    def act(reason: str) -> str:
        fees.refund(line.id, visitor().id, reason)
        return _("The refund is under way.")

    return confirm(page, act)


@bp.route("/retention", methods=["GET", "POST"])
@requires(Right.DECIDE)
def retention() -> ResponseReturnValue:
    """Set for how long the documents of each kind are kept."""
    with transaction() as session:
        days = retention_times.keep_days(session)
    fields = {name: NumberField(kind.title, least=1, most=3650) for name, kind in KINDS.items()}
    form = type("RetentionForm", (Form,), {**fields, "reason": ReasonField()})(data=days)
    address = url_for("admin.applications.index")
    page = Confirmation(
        title=_("How long documents are kept"),
        button=_("Save"),
        back=(address, _("Applications")),
        meaning=[
            _(
                "Days after the last change to an application. Then its answers and "
                "documents are deleted; its history stays. Applications that were never "
                "sent are withdrawn, and their fees are refunded."
            )
        ],
    )

    def act(reason: str) -> str:
        wanted = {name: int(form[name].data) for name in KINDS}
        retention_times.set_keep_days(wanted, visitor().id, reason)
        return _("Saved.")

    return confirm(page, act, form)


@bp.post("/<int:application_id>/documents/check")
@requires(Right.DECIDE)
def check_again(application_id: int) -> ResponseReturnValue:
    """Let documents that could not be checked be checked again."""
    line = DESK.find(application_id)
    if documents.check_again(line.id, visitor().id, ""):
        flash(_("The documents are checked again."))
    return go(url_for("admin.applications.show", application_id=line.id))
