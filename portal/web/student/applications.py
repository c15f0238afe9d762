"""My applications: start one, fill in its steps, send it, follow it, withdraw it."""

import re
from functools import partial
from typing import Any

from flask import abort, flash, g, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import RequestEntityTooLarge
from wtforms import FileField, HiddenField, ValidationError

from portal.applications import documents, fees, listing, retention, service, uploads
from portal.applications.documents import REFUSED_DOCUMENT, NewDocument
from portal.applications.fees import FEE_REFUSED, FeeRefused
from portal.applications.inspection import MOST_BYTES, DocumentRefused
from portal.applications.kind import Kind, Step
from portal.applications.kinds import KINDS
from portal.applications.listing import ApplicationView
from portal.applications.models import (
    ACTING,
    APPROVED,
    DECLINED,
    DRAFT,
    EDITABLE,
    ENDED,
    REVIEW,
    STATES,
)
from portal.applications.service import REFUSED, ApplicationRefused
from portal.applications.uploads import NewUpload, WrongStart
from portal.catalog.formatting import day
from portal.catalog.local_time import today
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.catalog.views import TermView
from portal.core.i18n import _, _l
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.registration.next_steps import NextStep, find_section, section_name
from portal.registration.reasons import ApplicationStart
from portal.web.application_documents import TEXTS, document_to_download
from portal.web.confirm import Confirmation, confirm
from portal.web.forms import Form, OneOfField, TextField
from portal.web.http.access import requires, visitor
from portal.web.http.downloads import attachment
from portal.web.http.layout import go
from portal.web.http.uploads import takes_files
from portal.web.student import bp
from portal.web.student.section_list import exemplary

DIGEST = re.compile("[0-9a-f]{64}")
ASK_FOR = {
    "late_add": _l("Ask for a late add"),
    "late_drop": _l("Ask for a late drop"),
    "credit_overload": _l("Ask for more credits"),
    "consent": _l("Request consent"),
    "permission": _l("Ask for permission"),
    "withdrawal": _l("Ask to withdraw"),
}
ADVICE = {
    "draft": _l("Finish the form and send it. No one else sees it before."),
    "review": _l("You have nothing to do now. You get a message when it is decided."),
    "unchecked": _l(
        "We could not check a document yet. The operators see this and try again. You have nothing"
        " to do now."
    ),
    "unpaid": _l("Pay the fee. Your application is decided once it is paid."),
    "more": _l("Read what is needed, change your answers and send it again."),
    "acting": _l("It is being carried out. This takes a moment."),
    "declined": _l("Read the reason. The registrar’s office answers questions about it."),
}
WITHDRAWABLE = _l("It is not decided. You can send another one until the last day.")


class TermForm(Form):
    """Nothing to choose: the application is about the whole term."""

    chosen = None


class SeatForm(Form):
    """A section in which the student has a seat."""

    section = OneOfField(_l("Class"), missing=_l("Choose the class."))

    def __init__(self, offered: TermCatalog, sent: Any) -> None:
        super().__init__(section=sent)
        student = visitor().student_id or 0
        read = partial(read_with_fallback.registrations, offered.term.id, student)
        registrations = read_with_fallback.without_marking(read)
        found = offered.some(each.section for each in registrations.enrolled)
        self.section.offer({str(each.id): _named(each) for each in found})

    @property
    def chosen(self) -> int:
        """Return the section of a valid form."""
        return int(self.section.data)


class SectionForm(Form):
    """A section that the student wants, by its CRN or its course and number."""

    section = TextField(
        _l("Class"),
        longest=60,
        missing=_l("Enter the class."),
        description=_l("CRN, or course and number."),
        render_kw={"spellcheck": "false"},
    )

    def __init__(self, offered: TermCatalog, sent: Any) -> None:
        section = offered.published(int(sent)) if sent and sent.isdecimal() else None
        super().__init__(section=section_name(section) if section else "")
        if example := exemplary(offered):
            names = {"crn": example.crn, "name": section_name(example)}
            self.section.description = _("A CRN such as %(crn)s, or %(name)s.", **names)
        self.offered, self.chosen = offered, 0

    def validate_section(self, field: TextField) -> None:
        """Find the section; raise ValidationError if there is none of that name."""
        found = find_section(field.data, self.offered)
        if found is None or found.status not in {"OPEN", "CONFIRMED"}:
            facts = {"term": self.offered.term.name, "text": field.data}
            message = _("%(term)s has no section with the CRN or number %(text)s.", **facts)
            raise ValidationError(message)
        self.chosen = found.id


@bp.app_template_global()
def apply_step(start: ApplicationStart | None) -> NextStep | None:
    """Return the link to an application that can lift a refusal, until its last day."""
    if start is None or service.is_late(KINDS[start.kind], start.term):
        return None
    address = url_for(
        "student.start_application",
        term_id=start.term,
        kind=start.kind,
        section=start.section,
    )
    return NextStep(str(ASK_FOR[start.kind]), address)


@bp.get("/applications")
@requires(Right.APPLY)
def applications(term_id: int) -> ResponseReturnValue:
    """Render the student's applications of the term, and the kinds to start."""
    term = catalog_of(term_id).term
    return render_template(
        "student/applications.html",
        term=term,
        lines=listing.of_account(visitor().id, term_id),
        kinds=[(each, service.is_late(each, term_id)) for each in _mine_to_start()],
        last_day=lambda kind: day(kind.last_day(term), year=True),
        **TEXTS,
    )


@bp.route("/applications/new/<kind>", methods=["GET", "POST"])
@requires(Right.APPLY)
def start_application(term_id: int, kind: str) -> ResponseReturnValue:
    """Choose the class that the application is about, and start a draft."""
    offered = catalog_of(term_id)
    declared = next((each for each in _mine_to_start() if each.name == kind), None) or abort(404)
    form = _start_form(declared, offered, request.args.get("section", ""))
    if service.is_late(declared, term_id):
        form.refuse(REFUSED["too_late"])
    elif request.method == "POST" and form.validate():
        try:
            made = service.start(declared, visitor().id, term_id, form.chosen)
        except ApplicationRefused as refused:
            form.refuse(refused.text)
        else:
            return go(_url(_mine(term_id, made), "application_step", part=declared.steps[0].name))
    page = render_template(
        "student/application_start.html",
        term=offered.term,
        kind=declared,
        form=form,
        late=service.is_late(declared, term_id),
        last_day=day(declared.last_day(offered.term), year=True),
        needless=_needless(declared, offered.term),
    )
    return page, 422 if form.errors else 200


@bp.get("/applications/<int:application_id>")
@requires(Right.APPLY)
def application(term_id: int, application_id: int) -> ResponseReturnValue:
    """Render how the application stands, its history and the next step."""
    line = _mine(term_id, application_id)
    return _page(
        "application",
        line,
        progress=_progress(line),
        advice=_advice(line),
        step=_next_step(line),
        pays=_pays(line),
        paused=fees.are_off(),
        open=line.application.state in {*EDITABLE, REVIEW},
        ended=line.application.state in ENDED,
    )


@bp.route("/applications/<int:application_id>/steps/<part>", methods=["GET", "POST"])
@requires(Right.APPLY)
def application_step(term_id: int, application_id: int, part: str) -> ResponseReturnValue:
    """Render a step of the form, or store its answers and go on."""
    line = _mine(term_id, application_id)
    step = line.kind.step(part) or abort(404)
    if line.application.state not in EDITABLE:
        return go(_url(line))
    form = type("StepForm", (Form,), {**step.fields, "term": term_id})(
        data=line.application.answers
    )
    if request.method == "POST" and form.validate():
        try:
            service.save(line.id, visitor().id, form.data)
        except ApplicationRefused as refused:
            flash(refused.text)
            return go(_url(line))
        return go(_after(line, step))
    number = line.kind.steps.index(step) + 1
    page = _page("application_step", line, step=step, number=number, form=form)
    return page, 422 if form.errors else 200


@bp.route("/applications/<int:application_id>/fee", methods=["GET", "POST"])
@requires(Right.APPLY)
def application_fee(term_id: int, application_id: int) -> ResponseReturnValue:
    """Render the fee, or send the applicant to the provider's page to pay it."""
    line, form = _mine(term_id, application_id), Form()
    if not line.application.fee:
        return go(_url(line))
    if request.method == "POST":
        try:
            checkout = fees.pay(line.id, visitor().id)
        except FeeRefused as refused:
            form.refuse(refused.text)
        else:
            if checkout:
                return go(checkout)
            line = _mine(term_id, application_id)
            form.refuse(
                _("The payment provider isn’t responding. We keep trying. Check again soon.")
            )
    page = _page(
        "application_fee",
        line,
        form=form,
        after=_url(line, "review_application"),
        paused=not line.application.paid and fees.are_off(),
        provider_away=not line.application.paid and fees.is_breaker_open(),
    )
    return page, 503 if form.errors else 200


@bp.get("/applications/<int:application_id>/fee/back")
@requires(Right.APPLY)
def back_from_fee(term_id: int, application_id: int) -> ResponseReturnValue:
    """Ask the provider how the payment stands, and go on."""
    line = _mine(term_id, application_id)
    fees.look(line.id, visitor().id)
    return go(_url(line, "application_fee" if line.application.state == DRAFT else "application"))


@bp.get("/applications/<int:application_id>/receipt")
@requires(Right.APPLY)
def fee_receipt(term_id: int, application_id: int) -> ResponseReturnValue:
    line = _mine(term_id, application_id)
    if not (line.charge and line.charge.paid_at):
        abort(404)
    return _page("application_receipt", line)


class DocumentForm(Form):
    """A file, and which of the kind's documents it is."""

    part = HiddenField()
    file = FileField(
        _l("File"),
        description=_l("PDF, JPEG or PNG; 10 MB at most."),
        render_kw={"accept": ".pdf,.jpg,.jpeg,.png"},
    )


@bp.route("/applications/<int:application_id>/documents", methods=["GET", "POST"])
@requires(Right.APPLY)
@partial(takes_files, most=MOST_BYTES + 64 * 1024)
def application_documents(term_id: int, application_id: int) -> ResponseReturnValue:
    """Render the documents of an application, or add one."""
    line, form = _mine(term_id, application_id), DocumentForm()
    parts = line.kind.documents
    if line.application.state not in EDITABLE or not parts:
        return go(_url(line))
    if request.method == "POST":
        file = form.file.data
        if form.part.data not in parts:
            abort(400)
        if not file:
            form.refuse(_("Choose a file."), "file")
        else:
            content = file.stream.read(MOST_BYTES + 1)
            sent = NewDocument(form.part.data, file.filename or "", content)
            try:
                documents.add(line.id, visitor().id, sent)
            except DocumentRefused as refused:
                form.refuse(refused.text, "file")
            else:
                return go(_url(line, "application_documents"))
    return _documents_page(line, form), 422 if form.errors else 200


@bp.post("/applications/<int:application_id>/uploads")
@requires(Right.APPLY)
def begin_upload(term_id: int, application_id: int) -> ResponseReturnValue:
    """Begin a document that comes in pieces, or go on with it."""
    line, sent = _mine(term_id, application_id), request.form
    digest, name = sent.get("digest", ""), sent.get("name", "").replace("\0", "")
    if sent.get("part", "") not in line.kind.documents or not DIGEST.fullmatch(digest):
        abort(400)
    wanted = NewUpload(sent["part"], name, sent.get("size", 0, type=int), digest)
    try:
        upload, received = uploads.begin(line.id, visitor().id, wanted)
    except DocumentRefused as refused:
        return {"error": refused.text}, 422
    address = url_for(
        "student.add_piece", term_id=term_id, application_id=line.id, upload_id=upload
    )
    return {"url": address, "received": received, "piece": uploads.PIECE}


@bp.put("/applications/<int:application_id>/uploads/<int:upload_id>")
@requires(Right.APPLY)
@partial(takes_files, most=uploads.PIECE)
def add_piece(term_id: int, application_id: int, upload_id: int) -> ResponseReturnValue:
    """Store the piece that begins at the byte `start`; say how many bytes are here."""
    line, start = _mine(term_id, application_id), request.args.get("start", -1, type=int)
    try:
        received = uploads.add(upload_id, line.id, visitor().id, start, request.get_data())
    except LookupError:
        abort(404)
    except WrongStart as wrong:
        return {"received": wrong.received}, 409
    except DocumentRefused as refused:
        return {"error": refused.text}, 422
    return {"received": received}


@bp.get("/applications/<int:application_id>/copy.zip")
@requires(Right.APPLY)
def copy_application(term_id: int, application_id: int) -> ResponseReturnValue:
    """Return what the applicant gave, as a ZIP file."""
    line = _mine(term_id, application_id)
    try:
        content = documents.copy_of(line.id, visitor().id)
    except (LookupError, OSError):
        abort(503)
    return attachment(f"application-{line.id}.zip", content, "application/zip")


@bp.route("/applications/<int:application_id>/erase", methods=["GET", "POST"])
@requires(Right.APPLY)
def erase_application(term_id: int, application_id: int) -> ResponseReturnValue:
    """Delete the answers and documents of an application that has ended."""
    line = _mine(term_id, application_id)
    page = Confirmation(
        title=_("Delete my answers and documents"),
        button=_("Delete"),
        back=(_url(line), _("My application")),
        facts=[(_("Application"), f"{line.kind.title}, {line.name}")],
        meaning=[_("The decision and its history stay. This can’t be undone.")],
        danger=True,
        refusal="" if line.application.state in ENDED else str(REFUSED_DOCUMENT["open"]),
    )

    def act(_reason: str) -> str:
        retention.erase(line.id, visitor().id)
        return _("Your answers and documents were deleted.")

    return confirm(page, act, Form())


@bp.post("/applications/<int:application_id>/documents/<int:document_id>/remove")
@requires(Right.APPLY)
def remove_document(term_id: int, application_id: int, document_id: int) -> ResponseReturnValue:
    """Delete a document, or say why not."""
    line, form = _mine(term_id, application_id), DocumentForm(formdata=None)
    try:
        documents.remove(line.id, visitor().id, document_id)
    except DocumentRefused as refused:
        form.refuse(refused.text)
        return _documents_page(line, form), 409
    return go(_url(line, "application_documents"))


@bp.get("/applications/<int:application_id>/documents/<int:document_id>")
@requires(Right.APPLY)
def read_document(term_id: int, application_id: int, document_id: int) -> ResponseReturnValue:
    """Return a checked document to its owner."""
    line = _mine(term_id, application_id)
    return document_to_download(line.id, document_id, visitor().id)


@bp.errorhandler(RequestEntityTooLarge)
def _too_large(error: RequestEntityTooLarge) -> ResponseReturnValue:
    """Render the documents again, if it was a file of theirs that is too large."""
    if request.endpoint != "student.application_documents" or not g.get("uploads"):
        return error
    line, form = listing.one((request.view_args or {})["application_id"]), DocumentForm(None)
    if line is None or line.application.account_id != visitor().id:
        return error
    form.refuse(REFUSED_DOCUMENT["large"], "file")
    return _documents_page(line, form), 413


def _documents_page(line: ApplicationView, form: DocumentForm) -> str:
    return _page("application_documents", line, form=form, after=_after_documents(line))


@bp.route("/applications/<int:application_id>/review", methods=["GET", "POST"])
@requires(Right.APPLY)
def review_application(term_id: int, application_id: int) -> ResponseReturnValue:
    """Render all answers, or send the application, which happens once however often it is asked."""
    line, form = _mine(term_id, application_id), Form()
    if request.method == "POST":
        try:
            service.submit(line.id, visitor().id)
        except ApplicationRefused as refused:
            form.refuse(refused.text)
        else:
            return go(_url(line))
    elif line.application.state not in EDITABLE:
        return go(_url(line))
    answers, steps = line.application.answers, line.kind.steps
    if missing := next((each for each in steps if not each.is_complete(answers, term_id)), None):
        return go(_url(line, "application_step", part=missing.name))
    if line.missing and request.method != "POST":
        return go(_url(line, "application_documents"))
    return _page("application_review", line, form=form), 422 if form.errors else 200


@bp.route("/applications/<int:application_id>/withdraw", methods=["GET", "POST"])
@requires(Right.APPLY)
def withdraw_application(term_id: int, application_id: int) -> ResponseReturnValue:
    """Withdraw an application that is not decided."""
    line = _mine(term_id, application_id)
    decided = line.application.state in {ACTING, APPROVED, DECLINED}
    page = Confirmation(
        title=_("Withdraw this application"),
        button=_("Withdraw"),
        back=(_url(line), _("My application")),
        facts=[(_("Application"), f"{line.kind.title}, {line.name}")],
        meaning=[] if decided else [str(WITHDRAWABLE)],
        danger=True,
        refusal=str(REFUSED["decided"]) if decided else "",
    )

    def act(_reason: str) -> str:
        service.withdraw(line.id, visitor().id)
        return _("Your application is withdrawn.")

    return confirm(page, act, Form())


def _mine_to_start() -> list[Kind]:
    """Return the kinds that the visitor may start."""
    return [each for each in KINDS.values() if each.applicants & visitor().roles]


def _start_form(kind: Kind, offered: TermCatalog, sent: str) -> Any:
    if kind.whole_term:
        return TermForm()
    return SeatForm(offered, sent) if kind.holds else SectionForm(offered, sent)


def _pays(line: ApplicationView) -> bool:
    """Return whether the fee is still to be paid."""
    application = line.application
    return bool(application.fee) and not application.paid and application.state in fees.PAYABLE


def _mine(term_id: int, application_id: int) -> ApplicationView:
    """Return the visitor's application; 404 if it is another's or of another term."""
    found = listing.one(application_id)
    if found is None or found.application.account_id != visitor().id:
        abort(404)
    return found if found.application.term_id == term_id else abort(404)


def _named(section: SectionView) -> str:
    return f"{section_name(section)} {section.title or section.course_title}"


def _after(line: ApplicationView, step: Step) -> str:
    """Return the address of the next step, or of the review after the last one."""
    following = line.kind.steps[line.kind.steps.index(step) + 1 :]
    if following:
        return _url(line, "application_step", part=following[0].name)
    return _url(line, "application_documents") if line.kind.documents else _after_documents(line)


def _after_documents(line: ApplicationView) -> str:
    """Return the address of the fee, or else of the review."""
    return _url(line, "application_fee" if line.application.fee else "review_application")


def _url(line: ApplicationView, view: str = "application", **more: Any) -> str:
    """Return the address of a view of the application."""
    term = line.application.term_id
    return url_for(f"student.{view}", term_id=term, application_id=line.id, **more)


def _page(template: str, line: ApplicationView, **context: Any) -> str:
    term = catalog_of(line.application.term_id).term
    return render_template(f"student/{template}.html", term=term, line=line, **TEXTS, **context)


def _advice(line: ApplicationView) -> str:
    """Return what the applicant can do next, in words."""
    application = line.application
    if application.state in EDITABLE and _has_refused(line):
        return str(REFUSED["refused_document"])
    if application.state == REVIEW and not application.paid:
        return str(FEE_REFUSED["off"] if fees.are_off() else ADVICE["unpaid"])
    if application.state == REVIEW and any(each.state == "dead" for each in application.documents):
        return str(ADVICE["unchecked"])
    return str(ADVICE.get(application.state, ""))


def _has_refused(line: ApplicationView) -> bool:
    return any(each.refused for each in line.application.documents)


def _next_step(line: ApplicationView) -> NextStep | None:
    """Return what the applicant can do next."""
    application = line.application
    if application.state == REVIEW and not application.paid:
        paused = fees.are_off()
        return None if paused else NextStep(_("Pay the fee"), _url(line, "application_fee"))
    if application.state in EDITABLE and _has_refused(line):
        return NextStep(_("Change the documents"), _url(line, "application_documents"))
    if application.state in EDITABLE:
        return NextStep(_("Continue the form"), _url(line, "review_application"))
    if application.state == "approved":
        return NextStep(_("See my classes"), f"/terms/{application.term_id}/mine")
    return None


def _progress(line: ApplicationView) -> list[tuple[str, str]]:
    """Return the parts of its way, each with `done`, `now` or blank for later."""
    application = line.application
    sent, over = application.state not in EDITABLE, bool(application.decided_at)
    parts = [(_("Sent"), sent)]
    if application.documents:
        is_checked = line.application.checked
        parts.append((_("Documents checked") if is_checked else _("Document check"), is_checked))
    if application.fee:
        parts.append((_("Fee paid"), application.paid))
    parts += [
        (_("In review: %(who)s", who=who), over or (sent and application.stage > number))
        for number, who in enumerate(line.stages)
    ]
    parts.append((str(STATES[application.state]) if over else _("Decision"), over))
    waits = (place for place, (_part, is_done) in enumerate(parts) if not is_done and not over)
    now = next(waits, -1)
    return [
        (part, "done" if is_done else "now" if place == now else "")
        for place, (part, is_done) in enumerate(parts)
    ]


def _needless(kind: Kind, term: TermView) -> str:
    """Return a sentence if students can still do it themselves; blank if not."""
    until = kind.needless_until(term)
    if until is None or today() > until:
        return ""
    last = day(until, year=True)
    if kind.holds:
        return _(
            "You can drop classes yourself until %(day)s while a selection window is open to"
            " you. It does not show on your record.",
            day=last,
        )
    return _(
        "You can add classes yourself until %(day)s while a selection window is open to you.",
        day=last,
    )
