"""Applications of students: the queue, and the decision on one."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectMultipleField

from portal.applications import documents, listing, service
from portal.applications.kinds import KINDS
from portal.applications.listing import ApplicationView, Filters
from portal.applications.models import ACTIONS, APPROVED, DRAFT, REVIEW, STATES, TONES
from portal.applications.service import REFUSED, ApplicationRefused, Decider
from portal.backend import backend
from portal.catalog.term_catalog import catalog_of, live_terms
from portal.core.i18n import _, _l
from portal.core.moments import milliseconds
from portal.ledger.errors import LedgerUnavailable
from portal.registration.next_steps import RefusalContext
from portal.registration.reasons import OBSTACLES, label
from portal.reports.effects.adjustments import obstacles_in_words
from portal.web.application_documents import DOCUMENT_TEXTS, document_to_download
from portal.web.confirm import seen_number
from portal.web.forms import Form, NoteField
from portal.web.http.access import requires, visitor
from portal.web.http.downloads import download
from portal.web.http.layout import go

bp = Blueprint("applications", __name__, url_prefix="/applications")

LARGEST = 2**31
LONGEST = 120  # characters of a search
SHOWN_STATES = {code: label for code, label in STATES.items() if code != DRAFT}
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
TEXTS = {"states": STATES, "tones": TONES, "actions": ACTIONS, "stale": REFUSED, **DOCUMENT_TEXTS}


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
        *(_("Student"), _("Sent"), _("Decided"), _("Event")),
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
        **TEXTS,
    )


def _obstacles(line: ApplicationView) -> list[tuple[str, str, list[str]]] | None:
    """Return what the ledger would refuse now; None while it is unavailable."""
    application = line.application
    offered = catalog_of(application.section.term_id)
    context = RefusalContext(
        offered, offered.section(application.section_id), backend().settings.zone
    )
    try:
        return obstacles_in_words(line.kind.approval.preview(application), context)
    except LedgerUnavailable:
        return None
    except LookupError:
        return []


def _rows(lines: list[ApplicationView]) -> Iterator[list[Any]]:
    for line in lines:
        application = line.application
        times = (application.submitted_at, application.decided_at)
        yield [
            application.id,
            str(line.kind.title),
            str(STATES[application.state]),
            application.section.term.name,
            line.name,
            application.student.number,
            application.student.account.name,
            *(each.isoformat(timespec="seconds") if each else "" for each in times),
            application.event or "",
        ]
