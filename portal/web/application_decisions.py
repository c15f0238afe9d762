"""The pages on which admins, deciders of departments and instructors decide applications."""

from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectMultipleField

from portal.applications import export, listing, service
from portal.applications.kinds import KINDS
from portal.applications.listing import READY, STAGES, ApplicationView, Filters
from portal.applications.models import APPROVED, DRAFT, REVIEW, STATES
from portal.applications.service import REFUSED, ApplicationRefused, Decider, NotTheirs
from portal.catalog.term_catalog import catalog_of, published_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l, current_locale
from portal.ledger.errors import LedgerUnavailable
from portal.people.roles import Right
from portal.registration.next_steps import RefusalContext
from portal.registration.reasons import OBSTACLES, PERMISSIONS, label
from portal.reports.effects.adjustments import obstacles_in_words
from portal.web.application_documents import TEXTS, document_to_download, page_picture
from portal.web.confirm import seen_number
from portal.web.forms import ChoicesField, Form, NoteField
from portal.web.http.access import requires, visitor
from portal.web.http.downloads import download
from portal.web.http.layout import go

LARGEST = 2**31
LONGEST = 120  # characters of a search
SHOWN_STATES = {code: label for code, label in STATES.items() if code != DRAFT}
DONE = {
    "more": _l("The student is asked for more information: %(name)s."),
    "decline": _l("Declined: %(name)s."),
    "approve": _l("Approved: %(name)s."),
}
FORWARDED = _l("Approved for the department: %(name)s. The registrar decides next.")
UNDERWAY = _l("Approved: %(name)s. It is carried out once the ledger is back.")
NOT_THEIRS = _l("This application is not waiting for your decision. Your decision was not stored.")
RETURNED = _l(
    "It could not be carried out. Choose the rules that should not apply, or decline the"
    " application."
)


class DecisionForm(Form):
    """The reason for a decision, which rules are approved, and the ledger's reasons to override."""

    over = SelectMultipleField(validate_choice=False)
    waives = ChoicesField(
        _l("Rules that should not apply"),
        choices={},
        description=_l("To approve in part, clear the rules that still apply."),
    )
    note = NoteField(
        _l("Reason"),
        required=True,
        missing=_l("Give a reason. The student reads it."),
        description=_l("The student reads it, and the audit trail keeps it."),
    )

    @classmethod
    def about(cls, line: ApplicationView, decision: str = "") -> "DecisionForm":
        """Return the form for an application, with its rules if they can be approved in part.

        A useless application keeps its choice: it may be useful again once it is decided.
        """
        parts = line.kind.approval.parts(line.application) if _can_be_split(line) else []
        form = cls() if decision else cls(formdata=None, data={"waives": parts})
        form.waives.offer({code: PERMISSIONS[code] for code in parts})
        if decision == "approve" and not line.stale:
            form.waives.missing = _("Choose at least one rule.")
        if not parts:
            del form.waives
        return form

    @property
    def given(self) -> list[str] | None:
        """Return the rules that are approved; None if there is no choice."""
        return list(self.waives.data) if "waives" in self else None


def _can_be_split(line: ApplicationView) -> bool:
    """Return whether the next approval is carried out and could leave out a part."""
    return line.in_review and line.is_last_stage


@dataclass(frozen=True)
class Desk:
    """The pages below an endpoint, such as admin.applications: all applications, or some.

    `limited`: the visitor may see and decide only what waits for their department or sections.
    """

    endpoint: str
    limited: bool = False

    def add_views(self, bp: Blueprint, see: Right, decide: Right) -> None:
        """Add the pages of one application to a blueprint, for visitors with these rights."""
        one = "/<int:application_id>"
        document = f"{one}/documents/<int:document_id>"
        for rule, name, right, method in (
            ("/all.csv", "download_csv", see, "GET"),
            (one, "show", see, "GET"),
            (one, "decide", decide, "POST"),
            (document, "read_document", see, "GET"),
            (f"{document}/pages/<int:page>.png", "show_page", see, "GET"),
        ):
            own = getattr(self, name)
            view = requires(right)(update_wrapper(partial(own), own))
            bp.add_url_rule(rule, name, view, methods=[method])

    @property
    def index_address(self) -> str:
        """Return the address of the queue."""
        return url_for(f"{self.endpoint}.index")

    @property
    def all_address(self) -> str:
        """Return the address of the queue without filters."""
        return url_for(f"{self.endpoint}.index", state=None if self.limited else "")

    @property
    def decider(self) -> int | None:
        """Return the account of a decider, who sees only some applications; None for an admin."""
        return visitor().id if self.limited else None

    def filters(self) -> Filters:
        """Return the filters of the address."""
        shown = _filters()
        if not self.limited:
            return shown
        return replace(shown, state=REVIEW, kind="", stage="", decider=self.decider)

    def queue(self, template: str, **more: Any) -> str:
        """Render a page of the queue: what waits longest comes first."""
        shown = self.filters()
        page = max(1, min(request.args.get("page", 1, type=int), 10_000))
        found = listing.queue(shown, page)
        return render_template(
            template,
            desk=self,
            shown=shown,
            query={name: value for name, value in request.args.items() if name != "page"},
            lines=found[: listing.PAGE],
            more=len(found) > listing.PAGE,
            page=page,
            terms=published_terms(),
            readiness=READY,
            waiting=listing.waiting(self.decider),
            waiting_by_kind=listing.waiting_by_kind(self.decider),
            **TEXTS,
            **more,
        )

    def download_csv(self) -> ResponseReturnValue:
        """Return the applications that the filters let through as a CSV file."""
        shown = self.filters()
        export.note_export(shown, visitor().id)
        return download("applications.csv", export.rows(shown, current_locale()))

    def find(self, application_id: int) -> ApplicationView:
        """Return an application that the visitor may see, or 404."""
        return self._find(application_id) or abort(404)

    def show(self, application_id: int) -> ResponseReturnValue:
        """Render one application with what an approval would do."""
        line = self.find(application_id)
        return self._page(line, DecisionForm.about(line)), 200

    def decide(self, application_id: int) -> ResponseReturnValue:
        """Approve, decline or ask for more, once; a second press of the button changes nothing."""
        line, decision = self._find(application_id), request.form.get("decision", "")
        if line is None:
            return self._lead_away(decided=self._has_decided(application_id))
        if decision not in DONE:
            abort(400)
        form = DecisionForm.about(line, decision)
        if not form.validate():
            return self._page(line, form), 422
        decider = Decider(visitor().id, form.note.data, seen_number(), self.limited)
        try:
            message = _decide(application_id, decision, decider, form)
        except ApplicationRefused as refused:
            form.refuse(refused.text)
            return self._again(application_id, form)
        except NotTheirs:  # since it was found, just now
            return self._lead_away()
        if not message:
            form.refuse(RETURNED)
            return self._again(application_id, form)
        flash(message % {"name": f"{line.kind.title}, {line.name}"})
        return go(self.index_address)

    def read_document(self, application_id: int, document_id: int) -> ResponseReturnValue:
        """Return a checked document."""
        line = self.find(application_id)
        return document_to_download(line.id, document_id, visitor().id)

    def show_page(self, application_id: int, document_id: int, page: int) -> ResponseReturnValue:
        """Return a page of a checked document as a picture."""
        line = self.find(application_id)
        return page_picture(line.id, document_id, page, visitor().id)

    def _find(self, application_id: int) -> ApplicationView | None:
        """Return an application that the visitor may see."""
        found = listing.one(application_id, self.decider) if application_id < LARGEST else None
        return found if found and found.application.submitted_at else None

    def _has_decided(self, application_id: int) -> bool:
        """Return whether the visitor has decided it, so that it no longer waits for them."""
        known = self.limited and application_id < LARGEST
        return known and listing.has_decided(application_id, visitor().id)

    def _again(self, application_id: int, form: DecisionForm) -> ResponseReturnValue:
        """Show the page again with what was refused."""
        line = self._find(application_id)
        return (self._page(line, form), 409) if line else self._lead_away()

    def _lead_away(self, *, decided: bool = False) -> ResponseReturnValue:
        """Lead a decider to the queue: the application is not theirs; answer 404 to an admin.

        All such applications get the same answer, so that it tells nothing about them.
        """
        if not self.limited:
            abort(404)
        flash(str(REFUSED["decided"] if decided else NOT_THEIRS))
        return go(self.index_address)

    def _page(self, line: ApplicationView, form: DecisionForm) -> str:
        applies = _can_be_split(line) and not line.stale and not self.limited
        return render_template(
            "admin/application.html",
            desk=self,
            line=line,
            form=form,
            obstacles=_obstacles(line) if applies else [],
            labels=lambda reasons: "; ".join(label(each["code"]) for each in reasons),
            alone=not self.limited and _alone(line),
            **TEXTS,
        )


def _decide(application: int, decision: str, decider: Decider, form: DecisionForm) -> str:
    """Make the decision; return what to say, blank if the ledger refused it."""
    if decision == "more":
        service.ask_more(application, decider)
    elif decision == "decline":
        service.decline(application, decider)
    else:
        wanted = () if decider.limited else form.over.data or ()
        overrides = tuple(code for code in wanted if code in OBSTACLES)
        found = service.approve(application, decider, overrides, form.given)
        if found.forwarded:
            return str(FORWARDED)
        if found.state == REVIEW:
            return ""
        if found.state != APPROVED:
            return str(UNDERWAY)
    return str(DONE[decision])


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


def _obstacles(line: ApplicationView) -> list[tuple[str, str, list[str]]] | None:
    """Return what the ledger would refuse now; None while it is unavailable."""
    application = line.application
    offered = catalog_of(application.term_id)
    context = RefusalContext(offered, offered.section(application.section_id or 0))
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
