"""The applications of the visitor: create, answer, add documents, send, and follow them."""

import base64
import binascii
from functools import partial
from typing import Any

from flask import abort, url_for
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError, fields

from portal.applications import documents, listing, service
from portal.applications.documents import REFUSED_DOCUMENT, NewDocument
from portal.applications.inspection import MOST_BYTES
from portal.applications.kind import Kind, Step
from portal.applications.kinds import KINDS
from portal.applications.listing import ApplicationView
from portal.applications.models import CHARGE_STATES, DOCUMENT_STATES, STATES
from portal.applications.service import ApplicationRefused
from portal.backend import backend
from portal.catalog.term_catalog import NoSuchTerm, published_catalog
from portal.catalog.views import TermView
from portal.core.form_fields import ChoicesField
from portal.core.i18n import _, _l
from portal.ledger.errors import KeyReused
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.web.api import idempotency
from portal.web.api.blueprint import InvalidRequest, bp, field_error, invalid
from portal.web.api.catalog import SemesterQuery
from portal.web.api.fields import LARGEST_ID, Id, Moment, characters, described, items, one_of
from portal.web.api.schemas import Answer, Body, Page, PageQuery, answer, envelope, page_of
from portal.web.http.access import requires, visitor
from portal.web.http.uploads import takes_files

APPLICATION = f"/applications/<int(min=1, max={LARGEST_ID}):application_id>"
DOCUMENT = f"{APPLICATION}/documents/<int(min=1, max={LARGEST_ID}):document_id>"
MOST_ANSWERS, MOST_CHOICES, LONGEST = 40, 20, 4000
BASE64_BYTES = 4 * (MOST_BYTES // 3 + 1)


class AnswerValue(fields.Field[Any]):
    """A text, or a list of texts where several choices can be made."""

    def __init__(self) -> None:
        text = {"type": "string", "maxLength": LONGEST}
        several = {"type": "array", "items": text, "maxItems": MOST_CHOICES}
        super().__init__(metadata={"anyOf": [text, several]})

    def _deserialize(self, value: Any, *_args: Any, **_more: Any) -> list[str]:
        given = value if isinstance(value, list) else [value]
        if len(given) > MOST_CHOICES or not all(isinstance(each, str) for each in given):
            raise ValidationError(_("Must be a text or a list of texts."))
        if any(len(each) > LONGEST for each in given):
            raise ValidationError(_("Must have at most %(most)s characters.", most=LONGEST))
        return list(given)


class Content(fields.String):
    """Base64 in a JSON body."""

    def _deserialize(self, value: Any, *args: Any, **more: Any) -> Any:
        text = super()._deserialize(value, *args, **more)
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValidationError(_("Must be base64.")) from error


def _answers(**options: Any) -> fields.Dict:
    about = "Answers by the name of their field, as on the pages of the form."
    return fields.Dict(
        keys=fields.String(validate=characters(1, 40)),
        values=AnswerValue(),
        validate=items(0, MOST_ANSWERS),
        metadata={"description": about, "maxProperties": MOST_ANSWERS},
        **options,
    )


class NewApplication(Body):
    semester_id = Id(required=True)
    kind = fields.String(required=True, metadata={"enum": sorted(KINDS)})
    section_id = Id("The section that it is about, for all kinds but `visiting`.")
    answers = _answers(load_default=dict)


class SomeAnswers(Body):
    answers = _answers(required=True)


class ApiDocument(Body):
    part = fields.String(
        required=True,
        validate=characters(1, 20),
        metadata={"description": "Which of the kind's documents it is."},
    )
    name = fields.String(
        required=True,
        validate=characters(1, 100),
        metadata={"description": "The name of the file.", "examples": ["letter.pdf"]},
    )
    content = Content(
        required=True,
        metadata={
            "contentEncoding": "base64",
            "maxLength": BASE64_BYTES,
            "description": "A PDF, JPEG or PNG of at most 10 MB.",
        },
    )


class ApplicationDocument(Answer):
    id = fields.Integer()
    part = fields.String()
    name = fields.String()
    status = one_of(*DOCUMENT_STATES, attribute="state")
    refusal = described(fields.String, "Why it is refused; blank if it is not.")


class Fee(Answer):
    amount = described(fields.Integer, "In minor units, such as cents.")
    currency = fields.String()
    status = one_of("none", *CHARGE_STATES)
    payment_url = described(fields.String, "The page to pay on.")


class HistoryEntry(Answer):
    action = fields.String()
    at = Moment()
    note = fields.String()


class Status(Answer):
    id = fields.Integer()
    semester_id = fields.Integer()
    kind = one_of(*sorted(KINDS))
    section_id = fields.Integer(allow_none=True)
    status = one_of(*STATES)
    stage = described(fields.String, "Who decides now; blank if it is not in review.")
    documents_checked = fields.Boolean()
    fee = fields.Nested(Fee, allow_none=True)
    documents = fields.List(fields.Nested(ApplicationDocument))
    history = fields.List(fields.Nested(HistoryEntry))
    status_url = described(fields.String, "The address of this status.")
    decided_at = Moment(allow_none=True)


class Statuses(Page):
    applications = fields.List(fields.Nested(Status))


class KindField(Answer):
    name = fields.String()
    label = fields.String()
    required = fields.Boolean()
    several = described(fields.Boolean, "Whether the answer is a list of texts.")
    choices = described(
        fields.Dict, "The labels by value; null if the answer is a text.", allow_none=True
    )
    max_length = described(
        fields.Integer, "The most characters of a text; null for choices.", allow_none=True
    )


class KindDocument(Answer):
    part = fields.String()
    label = fields.String()
    required = fields.Boolean()


class ApplicationKind(Answer):
    kind = one_of(*sorted(KINDS))
    title = fields.String()
    section = described(fields.String, "`none`, `any`, or `yours`: one in which you have a seat.")
    last_day = described(fields.Date, "The last day on which it can be sent.")
    fee = described(fields.Integer, "In minor units, such as cents.")
    currency = fields.String()
    fields_ = fields.List(fields.Nested(KindField), data_key="fields")
    documents = fields.List(fields.Nested(KindDocument))


class Kinds(Answer):
    kinds = fields.List(fields.Nested(ApplicationKind))


@bp.get("/applications", tags=["applications"])
@requires(Right.APPLY)
@bp.arguments(PageQuery, location="query")
@bp.response(200, envelope(Statuses))
def own_applications(query: dict[str, Any]) -> dict[str, Any]:
    """List your own applications, the newest first."""
    found, total = listing.page_of_account(visitor().id, query["page"], query["per_page"])
    rows = {"applications": [_status(each) for each in found]}
    return answer(page_of(query, total) | rows)


@bp.get("/applications/kinds", tags=["applications"])
@requires(Right.APPLY)
@bp.arguments(SemesterQuery, location="query")
@bp.response(200, envelope(Kinds))
@bp.alt_response(404, response="NOT_FOUND")
def application_kinds(query: dict[str, Any]) -> dict[str, Any]:
    """List the kinds that you can apply for, with the fields and documents of each."""
    term = published_catalog(query["semester_id"]).term
    allowed = [
        each
        for each in KINDS.values()
        if each.applicants & visitor().roles and not service.is_late(each, term.id)
    ]
    return answer({"kinds": [_kind(each, term) for each in allowed]})


@bp.post("/applications", tags=["applications"])
@requires(Right.APPLY)
@bp.arguments(NewApplication)
@bp.response(201, envelope(Status))
@bp.alt_response(404, response="NOT_FOUND")
def create_application(body: dict[str, Any]) -> ResponseReturnValue:
    """Begin an application, or return the unfinished one of the same kind and section."""
    kind, term = KINDS.get(body["kind"]), body["semester_id"]
    if kind is None or not kind.applicants & visitor().roles:
        raise invalid("/kind", _("You can’t start an application of this kind."))
    section = _section_of(kind, term, body.get("section_id"))
    answers = _valid(kind, term, {}, body["answers"])
    made = service.start(kind, visitor().id, term, section)
    if answers:
        service.save(made, visitor().id, answers)
    view = _mine(made)
    return answer(_status(view), _("Saved.")), 201, {"Location": _url(view)}


@bp.get(APPLICATION, tags=["applications"])
@requires(Right.APPLY)
@bp.response(200, envelope(Status))
@bp.alt_response(404, response="NOT_FOUND")
def application_status(application_id: int) -> dict[str, Any]:
    """Return how one of your applications stands."""
    return answer(_status(_mine(application_id)))


@bp.post(f"{APPLICATION}/answers", tags=["applications"])
@requires(Right.APPLY)
@bp.arguments(SomeAnswers)
@bp.response(200, envelope(Status))
@bp.alt_response(404, response="NOT_FOUND")
def answer_application(body: dict[str, Any], application_id: int) -> ResponseReturnValue:
    """Store some answers; the others stay."""
    view = _mine(application_id)
    application = view.application
    answers = _valid(view.kind, application.term_id, application.answers, body["answers"])
    service.save(view.id, visitor().id, answers)
    return answer(_status(_mine(view.id)), _("Saved.")), 200


@bp.post(f"{APPLICATION}/documents", tags=["applications"])
@requires(Right.APPLY)
@partial(takes_files, most=BASE64_BYTES + 4096)
@bp.arguments(ApiDocument)
@bp.response(202, envelope(Status))
@bp.alt_response(404, response="NOT_FOUND")
def add_application_document(body: dict[str, Any], application_id: int) -> ResponseReturnValue:
    """Add a document; a worker checks it. The same document sent twice is stored once."""
    view = _mine(application_id)
    if body["part"] not in view.kind.documents:
        raise invalid("/part", _("This kind of application has no such document."))
    sent = NewDocument(body["part"], body["name"].replace("\0", ""), body["content"])
    documents.add(view.id, visitor().id, sent)
    view = _mine(view.id)
    return answer(_status(view), _("The document is being checked.")), 202, {"Location": _url(view)}


@bp.delete(DOCUMENT, tags=["applications"])
@requires(Right.APPLY)
@bp.response(200, envelope(Status))
@bp.alt_response(404, response="NOT_FOUND")
@bp.alt_response(409, response="CONFLICT")
def remove_application_document(application_id: int, document_id: int) -> ResponseReturnValue:
    """Remove a document, such as a refused one, while the application can be changed."""
    view = _mine(application_id)
    if all(each.id != document_id for each in view.application.documents):
        abort(404)
    documents.remove(view.id, visitor().id, document_id)
    return answer(_status(_mine(view.id)), _("The document is removed.")), 200


@bp.post(f"{APPLICATION}/submit", tags=["applications"])
@requires(Right.APPLY)
@bp.arguments(idempotency.KeyHeader, location="headers")
@bp.response(202, envelope(Status), headers=idempotency.HEADERS)
@bp.alt_response(404, response="NOT_FOUND")
def submit_application(headers: dict[str, Any], application_id: int) -> ResponseReturnValue:
    """Send an application, once; its checks, its fee and its decision follow.

    `Location` and `status_url` name the address that says how it stands. Sent again, also under
    another key, it stays sent. A refusal changes nothing and is not stored.
    """
    view, key = _mine(application_id), idempotency.chosen_key(headers, {})
    try:
        replayed = service.submit(view.id, visitor().id, key)
    except ApplicationRefused as refused:
        if refused.code == "key_reused":
            raise KeyReused from refused
        raise
    view = _mine(view.id)
    made = idempotency.headers_of(key, replayed=replayed) | {"Location": _url(view)}
    return answer(_status(view), _("Your application is sent.")), 202, made


def _mine(application_id: int) -> ApplicationView:
    """Return the visitor's application, else 404."""
    found = listing.one(application_id)
    if found is None or found.application.account_id != visitor().id:
        abort(404)
    return found


def _section_of(kind: Kind, term: int, section: int | None) -> int | None:
    """Return the section that an application is about; raise InvalidRequest."""
    try:
        offered = published_catalog(term)
    except NoSuchTerm:
        raise invalid("/semester_id", _("There is no such semester.")) from None
    if kind.whole_term:
        if section is not None:
            raise invalid("/section_id", _("This kind is about a whole semester."))
        return None
    found = offered.published(section or 0)
    if found is None or not (kind.holds or found.status in {"OPEN", "CONFIRMED"}):
        raise invalid("/section_id", _("The semester has no such section."))
    if kind.holds:
        read = partial(read_with_fallback.registrations, term, visitor().student_id or 0)
        held = {each.section for each in read_with_fallback.without_marking(read).enrolled}
        if found.id not in held:
            raise invalid("/section_id", _("You have no seat in this section."))
    return found.id


def _valid(
    kind: Kind, term: int, known: dict[str, Any], given: dict[str, list[str]]
) -> dict[str, Any]:
    """Return the given answers as the form stores them; raise InvalidRequest."""
    names = {name for step in kind.steps for name in step.fields}
    errors = [
        field_error(f"/answers/{name.replace('~', '~0').replace('/', '~1')}", _l("Unknown field."))
        for name in given
        if name not in names
    ]
    found: dict[str, Any] = {}
    for step in kind.steps:
        form = step.form({**known, **given}, term)
        form.validate()
        for name in given.keys() & step.fields.keys():
            errors += [field_error(f"/answers/{name}", str(each)) for each in form[name].errors]
            found[name] = form[name].data
    if errors:
        raise InvalidRequest(errors)
    return found


def _url(view: ApplicationView) -> str:
    return url_for("api.application_status", application_id=view.id)


def _kind(kind: Kind, term: TermView) -> dict[str, Any]:
    return {
        "kind": kind.name,
        "title": str(kind.title),
        "section": "none" if kind.whole_term else "yours" if kind.holds else "any",
        "last_day": service.last_day(kind, term.id),
        "fee": kind.fee,
        "currency": backend().settings.currency,
        "fields_": [field for step in kind.steps for field in _fields(step, term.id)],
        "documents": [
            {"part": part, "label": str(label), "required": part in kind.required}
            for part, label in kind.documents.items()
        ],
    }


def _fields(step: Step, term: int) -> list[dict[str, Any]]:
    empty = step.form({}, term)
    empty.validate()
    return [
        {
            "name": field.name,
            "label": str(field.label.text),
            "required": bool(field.errors),
            "several": isinstance(field, ChoicesField),
            "max_length": getattr(field, "longest", None),
            "choices": {each.value: str(each.label) for each in getattr(field, "choices", ())}
            or None,
        }
        for field in empty
    ]


def _status(view: ApplicationView) -> dict[str, Any]:
    application, charge = view.application, view.charge
    fee = None
    if application.fee:
        page = url_for(
            "student.application_fee", term_id=application.term_id, application_id=view.id
        )
        amount, currency = view.price
        fee = {
            "amount": amount,
            "currency": currency,
            "status": charge.state if charge else "none",
            "payment_url": backend().settings.url + page,
        }
    return {
        "id": view.id,
        "semester_id": application.term_id,
        "kind": application.kind,
        "section_id": application.section_id,
        "status": application.state,
        "stage": view.stage,
        "documents_checked": application.checked,
        "fee": fee,
        "documents": [
            {
                "id": each.id,
                "part": each.part,
                "name": each.name,
                "state": each.state,
                "refusal": str(REFUSED_DOCUMENT.get(each.refused, "")),
            }
            for each in application.documents
        ],
        "history": [
            {"action": each.action, "at": each.at, "note": each.note} for each in view.history
        ],
        "status_url": _url(view),
        "decided_at": application.decided_at,
    }
