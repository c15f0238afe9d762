"""Applications of students: the queue, and the decision on one."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectMultipleField

from portal.applications import documents, fees, listing, service
from portal.applications import retention as retention_times
from portal.applications.fees import FEE_REFUSED, FeeRefused
from portal.applications.kinds import KINDS
from portal.applications.listing import STAGES, ApplicationView, Filters
from portal.applications.models import (
    ACTIONS,
    APPROVED,
    CHARGE_STATES,
    CHARGE_TONES,
    DRAFT,
    PAID,
    REVIEW,
    STATES,
    TONES,
)
from portal.applications.service import REFUSED, ApplicationRefused, Decider
from portal.backend import backend
from portal.catalog.formatting import money
from portal.catalog.term_catalog import catalog_of, live_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.core.moments import milliseconds
from portal.ledger.errors import LedgerUnavailable
from portal.registration.next_steps import RefusalContext
from portal.registration.reasons import OBSTACLES, label
from portal.reports.effects.adjustments import obstacles_in_words
from portal.web.application_documents import DOCUMENT_TEXTS, document_to_download, page_picture
from portal.web.confirm import Confirmation, NotPossible, confirm, done, seen_number
from portal.web.forms import Form, NoteField, NumberField, ReasonField
from portal.web.http.access import requires, visitor
from portal.web.http.downloads import download
from portal.web.http.layout import go

bp = Blueprint("applications", __name__, url_prefix="/applications")

LARGEST = 2**31
LONGEST = 120  # characters of a search
SHOWN_STATES = {code: label for code, label in STATES.items() if code != DRAFT}
READY = {
    "yes": _l("Ready to decide"),
    "fee": _l("Fee not paid"),
    "documents": _l("Documents not checked"),
}
DONE = {
    "more": _l("The student is asked for more: %(name)s."),
    "decline": _l("Declined: %(name)s."),
    "approve": _l("Approved: %(name)s."),
}
FORWARDED = _l("Approved for the department: %(name)s. The registrar decides next.")
UNDERWAY = _l("Approved: %(name)s. It is carried out once the ledger is back.")
RETURNED = _l(
    "It could not be carried out. Choose the rules that should not apply, or decline the"
    " application."
)
TEXTS = {
    "states": STATES,
    "tones": TONES,
    "actions": ACTIONS,
    "stale": REFUSED,
    "charge_states": CHARGE_STATES,
    "charge_tones": CHARGE_TONES,
    "money": money,
    **DOCUMENT_TEXTS,
}


class DecisionForm(Form):
    """The reason for a decision, and the reasons of the ledger to override."""

    over = SelectMultipleField(validate_choice=False)
    note = NoteField(
        _l("Reason"),
        required=True,
        missing=_l("Give a reason. The student reads it."),
        description=_l("The student reads it, and the audit trail keeps it."),
    )


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Render the queue: what waits longest comes first."""
    shown = _filters()
    page = max(1, min(request.args.get("page", 1, type=int), 10_000))
    found = listing.queue(shown, page)
    return render_template(
        "admin/applications.html",
        shown=shown,
        query={name: value for name, value in request.args.items() if name != "page"},
        lines=found[: listing.PAGE],
        more=len(found) > listing.PAGE,
        page=page,
        waiting=listing.waiting(),
        kinds=KINDS.values(),
        all_states=SHOWN_STATES,
        terms=live_terms(),
        stages=STAGES,
        readiness=READY,
        **TEXTS,
    )


@bp.get("/<int:application_id>")
@requires("admin")
def show(application_id: int) -> ResponseReturnValue:
    """Render one application with what an approval would do."""
    return _page(_line(application_id), DecisionForm(formdata=None)), 200


@bp.post("/<int:application_id>")
@requires("admin")
def decide(application_id: int) -> ResponseReturnValue:
    """Approve, decline or ask for more, once; a second press of the button changes nothing."""
    line, form, decision = _line(application_id), DecisionForm(), request.form.get("decision", "")
    if decision not in DONE:
        abort(400)
    if not form.validate():
        return _page(line, form), 422
    decider = Decider(visitor().id, form.note.data, seen_number())
    try:
        message = _decide(application_id, decision, decider, form)
    except ApplicationRefused as refused:
        form.refuse(REFUSED[refused.code])
        return _page(_line(application_id), form), 409
    if not message:
        form.refuse(RETURNED)
        return _page(_line(application_id), form), 409
    flash(message % {"name": f"{line.kind.title}, {line.name}"})
    return go(url_for("admin.applications.index"))


@bp.get("/<int:application_id>/documents/<int:document_id>")
@requires("admin")
def read_document(application_id: int, document_id: int) -> ResponseReturnValue:
    """Return a checked document."""
    line = _line(application_id)
    return document_to_download(line.id, document_id, visitor().id)


@bp.get("/<int:application_id>/documents/<int:document_id>/pages/<int:page>.png")
@requires("admin")
def show_page(application_id: int, document_id: int, page: int) -> ResponseReturnValue:
    """Return a page of a checked document as a picture."""
    line = _line(application_id)
    return page_picture(line.id, document_id, page, visitor().id)


@bp.route("/<int:application_id>/refund", methods=["GET", "POST"])
@requires("admin")
def refund(application_id: int) -> ResponseReturnValue:
    """Give the fee back, with a reason."""
    line = _line(application_id)
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

    def act(reason: str) -> ResponseReturnValue:
        try:
            fees.refund(line.id, visitor().id, reason)
        except FeeRefused as refused:
            raise NotPossible(str(FEE_REFUSED[refused.code])) from refused
        return done(_("The refund is under way."), address)

    return confirm(page, act)


@bp.route("/retention", methods=["GET", "POST"])
@requires("admin")
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

    def act(reason: str) -> ResponseReturnValue:
        wanted = {name: int(form[name].data) for name in KINDS}
        retention_times.set_keep_days(wanted, visitor().id, reason)
        return done(_("Saved."), address)

    return confirm(page, act, form)


@bp.post("/<int:application_id>/documents/check")
@requires("admin")
def check_again(application_id: int) -> ResponseReturnValue:
    """Let documents that could not be checked be checked again."""
    line = _line(application_id)
    if documents.check_again(line.id, visitor().id, ""):
        flash(_("The documents are checked again."))
    return go(url_for("admin.applications.show", application_id=line.id))


@bp.get("/all.csv")
@requires("admin")
def download_csv() -> ResponseReturnValue:
    """Return the applications that the filters let through as a CSV file."""
    head = [
        *(_("Application"), _("Kind"), _("State"), _("Term"), _("Section"), _("Student number")),
        *(_("Student"), _("Sent"), _("Decided"), _("Event"), _("Fee"), _("Payment")),
    ]
    return download("applications.csv", chain([head], _rows(listing.exported(_filters()))))


def _decide(application: int, decision: str, decider: Decider, form: DecisionForm) -> str:
    """Make the decision; return what to say, blank if the ledger refused it."""
    if decision == "more":
        service.ask_more(application, decider)
    elif decision == "decline":
        service.decline(application, decider)
    else:
        overrides = tuple(code for code in form.over.data or () if code in OBSTACLES)
        found = service.approve(application, decider, overrides)
        if found.state == REVIEW:
            return str(FORWARDED) if found.stage else ""
        if found.state != APPROVED:
            return str(UNDERWAY)
    return str(DONE[decision])


def _line(application_id: int) -> ApplicationView:
    found = listing.one(application_id) if application_id < LARGEST else None
    return found if found and found.application.submitted_at else abort(404)


def _filters() -> Filters:
    args, usual = request.args, Filters()
    state, kind = args.get("state", usual.state), args.get("kind", "")
    term = args.get("term", 0, type=int)
    return Filters(
        state=state if state in SHOWN_STATES else "",
        kind=kind if kind in KINDS else "",
        term=term if 0 < term < LARGEST else 0,
        stage=args.get("stage", "") if args.get("stage") in STAGES else "",
        ready=args.get("ready", "") if args.get("ready") in READY else "",
        text=args.get("q", "").replace("\0", "").strip()[:LONGEST],
    )


def _page(line: ApplicationView, form: DecisionForm) -> str:
    return render_template(
        "admin/application.html",
        line=line,
        form=form,
        obstacles=_obstacles(line) if line.stage and not line.stale else [],
        labels=lambda reasons: "; ".join(label(each["code"]) for each in reasons),
        moments=milliseconds,
        currency=backend().settings.currency,
        alone=_alone(line),
        **TEXTS,
    )


def _obstacles(line: ApplicationView) -> list[tuple[str, str, list[str]]] | None:
    """Return what the ledger would refuse now; None while it is unavailable."""
    application = line.application
    offered = catalog_of(application.term_id)
    context = RefusalContext(
        offered, offered.section(application.section_id or 0), backend().settings.zone
    )
    try:
        return obstacles_in_words(line.kind.approval.preview(application), context)
    except LedgerUnavailable:
        return None
    except LookupError:
        return []


def _alone(line: ApplicationView) -> bool:
    """Return whether one admin may decide all stages, being the only one."""
    if not line.kind.one_decider or len(line.kind.stages) == 1:
        return False
    with transaction() as session:
        return service.only_admin(session)


def _rows(lines: list[ApplicationView]) -> Iterator[list[Any]]:
    for line in lines:
        application = line.application
        times = (application.submitted_at, application.decided_at)
        yield [
            application.id,
            str(line.kind.title),
            str(STATES[application.state]),
            application.term.name,
            line.name if application.section else "",
            application.student.number if application.student else "",
            application.account.name,
            *(each.isoformat(timespec="seconds") if each else "" for each in times),
            application.event or "",
            *_fee(line),
        ]


def _fee(line: ApplicationView) -> tuple[str, str]:
    """Return the fee with its currency, and how its payment stands; blank without a fee."""
    application, charge = line.application, line.charge
    if not application.fee:
        return "", ""
    amount = charge.amount if charge else application.fee
    currency = charge.currency if charge else backend().settings.currency
    return money(amount, currency), str(CHARGE_STATES[charge.state]) if charge else ""
