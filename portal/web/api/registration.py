"""POST /register: seats or waitlist positions, all decided in one step."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from flask import abort
from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.backend import backend
from portal.catalog.term_catalog import (
    NoSuchTerm,
    SectionView,
    TermCatalog,
    published_catalog,
    published_terms,
)
from portal.core.i18n import _, _l
from portal.ledger.errors import LedgerUnavailable, NotAdmitted
from portal.ledger.types import Decision, Outcome, SubmissionResult
from portal.people.roles import Right
from portal.recorder.receipts import code
from portal.registration import commands, requests
from portal.registration.credits import credit_choices, hundredths, points
from portal.registration.requests import Choice, SectionRequest
from portal.web.api import idempotency
from portal.web.api.blueprint import InvalidRequest, bp, field_error, invalid
from portal.web.api.fields import (
    Credits,
    Id,
    IdempotencyKey,
    Moment,
    StrictBoolean,
    characters,
    described,
    items,
    one_of,
)
from portal.web.api.schemas import (
    Answer,
    Body,
    ReasonSchema,
    envelope,
    problem_type,
    reasons_in_words,
)
from portal.web.http import admission
from portal.web.http.access import requires, visitor
from portal.web.http.admission import AccessTokenRequired, needs_access_token
from portal.web.http.errors import Message
from portal.web.http.request_context import request_context
from portal.web.student.results import decision_in_words, summary

MOST_SECTIONS = 20
STATUSES = ("enrolled", "waitlisted", "already_registered", "refused")
HAD_ALREADY = {"already_enrolled": "already_registered", "already_waiting": "waitlisted"}
NO_ACCESS_TOKEN = Message(
    _l("An access token of the waiting room is required"),
    _l(
        "Nothing was changed. Get an access token with POST"
        " /api/v1/waiting-room/{window_id}/requests."
    ),
    problem_type("no-pass"),
)


class SectionChoice(Body):
    """A section with options, such as credits."""

    section_id = Id(required=True)
    credits = Credits("Where the section leaves a choice.")
    wait = StrictBoolean(metadata={"description": "For this section, in place of the request's."})
    instead_of = Id("A section that is dropped for this one, once this one is yours.")


class ChoiceField(fields.Field[dict[str, Any]]):
    """A section: its id, or a SectionChoice."""

    schema = SectionChoice()

    def __init__(self) -> None:
        shape = [{"type": "integer", "minimum": 1}, {"$ref": "#/components/schemas/Choice"}]
        super().__init__(metadata={"anyOf": shape})

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> dict[str, Any]:
        if isinstance(value, dict):
            return dict(self.schema.load(value))
        return {"section_id": self.schema.fields["section_id"].deserialize(value)}


class Register(Body):
    student_id = Id("Your own.", required=True)
    semester_id = Id("Not needed: sections are of one semester.")
    section_ids = fields.List(
        ChoiceField(),
        required=True,
        validate=items(1, MOST_SECTIONS),
        metadata={
            "uniqueItems": True,
            "description": "Sections by id, or objects where there is more to say. Sections whose"
            " courses need each other, such as a lecture and its lab, are decided together.",
        },
    )
    wait = StrictBoolean(
        load_default=False,
        metadata={"description": "Whether to join the waitlist where no seat is left."},
    )
    idempotency_key = IdempotencyKey()


class RegisterHeaders(idempotency.KeyHeader):
    access_token = fields.String(
        data_key=admission.HEADER,
        validate=characters(0, 1000),
        metadata={"description": "The access token that the waiting room gave you."},
    )


class Result(Answer):
    section_id = fields.Integer()
    status = one_of(*STATUSES)
    message = fields.String()
    registration_id = fields.Integer(allow_none=True)
    waitlist_position = fields.Integer(allow_none=True)
    instead_of = described(
        fields.Integer, "The section dropped for it, or once a seat comes.", allow_none=True
    )
    reasons = fields.List(fields.Nested(ReasonSchema))
    receipt = described(fields.String, "The code of this decision.", allow_none=True)


class Summary(Answer):
    total_requested = fields.Integer()
    enrolled = fields.Integer()
    waitlisted = fields.Integer()
    already_registered = fields.Integer()
    errors = described(fields.Integer, "How many were refused.")


class Registered(Answer):
    student_id = fields.Integer()
    semester_id = fields.Integer()
    decided_at = Moment()
    idempotency_key = fields.String()
    results = fields.List(fields.Nested(Result))
    summary = fields.Nested(Summary)


@bp.post("/register", tags=["registration"])
@requires(Right.REGISTER)
@needs_access_token
@bp.arguments(RegisterHeaders, location="headers")
@bp.arguments(Register)
@bp.response(200, envelope(Registered), headers=idempotency.HEADERS)
@bp.alt_response(404, response="NOT_FOUND")
def register(headers: dict[str, Any], body: dict[str, Any]) -> ResponseReturnValue:
    """Register for sections of one semester, in one step, with a result for each.

    The status is 200 if anything was granted, and 409 with the same `data` if all was refused. Each
    decision, also a refusal, is stored for a day under its idempotency key. A request with the same
    key gets the same response. To try again after a refusal, use a new key.
    """
    require_own_student(body)
    pointers = {f"/section_ids/{at}": each for at, each in enumerate(body["section_ids"])}
    sections = {pointer: each["section_id"] for pointer, each in pointers.items()}
    catalog = catalog_of_request(body, sections)
    token, key = admission.access_token(), idempotency.chosen_key(headers, body)
    if token and token.term != catalog.term.id:
        raise AccessTokenRequired
    requested = _choices(pointers, catalog, wait=body["wait"])
    choices, content = _taken_together(requested, catalog), requests.idempotency_content(requested)
    found = commands.register(request_context(catalog.term.id, key), choices, content)
    results = _results(found, requested, catalog, body["student_id"])
    counts = Counter(each["status"] for each in results)
    data = {
        "student_id": body["student_id"],
        "semester_id": catalog.term.id,
        "decided_at": found.at,
        "idempotency_key": key,
        "results": results,
        "summary": {
            "total_requested": len(results),
            "errors": counts["refused"],
            **{status: counts[status] for status in STATUSES},
        },
    }
    granted = counts["refused"] < len(results)
    message = summary(Counter({**counts, "had": counts["already_registered"]}))
    return idempotency.decision(
        Registered(), data, message, granted=granted, replayed=found.replayed
    )


def require_own_student(body: Mapping[str, Any]) -> None:
    """Answer with 403 unless the student of a body is the visitor, known or not."""
    if body["student_id"] != visitor().student_id:
        abort(403)


def catalog_of_request(body: Mapping[str, Any], sections: Mapping[str, int]) -> TermCatalog:
    """Return the catalog of the body's semester, else of its sections, given by JSON pointer.

    Raise InvalidRequest for an unknown semester, and without one for unknown sections and for
    sections of several semesters.
    """
    if "semester_id" in body:
        try:
            return published_catalog(body["semester_id"])
        except NoSuchTerm as error:
            raise invalid("/semester_id", _("This semester does not exist."), 404) from error
    catalogs = [published_catalog(term.id) for term in published_terms()]
    found: list[TermCatalog] = []
    for pointer, section in sections.items():
        having = next((each for each in catalogs if each.section(section)), None)
        if having is None:
            raise invalid(pointer, _("This section does not exist."), 404)
        found.append(having)
    first = found[0].term
    elsewhere = [
        field_error(
            pointer,
            _(
                "This section belongs to %(here)s, the first one to %(first)s. Send one"
                " request per semester.",
                here=catalog.term.name,
                first=first.name,
            ),
        )
        for pointer, catalog in zip(sections, found, strict=True)
        if catalog.term.id != first.id
    ]
    if elsewhere:
        raise InvalidRequest(elsewhere)
    return found[0]


def published_section(catalog: TermCatalog, section: int, pointer: str) -> SectionView:
    """Return a section that is visible to students. Raise InvalidRequest."""
    found = catalog.published(section)
    if found is None:
        raise invalid(pointer, _("This semester has no such section."), 404)
    return found


def _choices(
    pointers: Mapping[str, dict[str, Any]], catalog: TermCatalog, *, wait: bool
) -> list[Choice]:
    """Return a choice for each section of a body. Raise InvalidRequest."""
    found: list[Choice] = []
    for pointer, item in pointers.items():
        section = published_section(catalog, item["section_id"], pointer)
        if any(section.id in choice.sections for choice in found):
            raise invalid(pointer, _("This section appears twice."))
        if "instead_of" in item:
            published_section(catalog, item["instead_of"], f"{pointer}/instead_of")
        amount = _checked_credits(section, item.get("credits"), f"{pointer}/credits")
        alternative = (SectionRequest(section.id, amount),)
        found.append(Choice((alternative,), item.get("wait", wait), item.get("instead_of")))
    return found


def _checked_credits(section: SectionView, amount: Decimal | None, pointer: str) -> int | None:
    """Return credits in hundredths. Raise InvalidRequest if the section is not offered for them."""
    if amount is None:
        return None
    offered = [Decimal(each) for each in credit_choices(section)] or [section.credits_min]
    if amount in offered:
        return hundredths(amount)
    choices = ", ".join(points(hundredths(each)) for each in offered)
    raise invalid(pointer, _("This section is offered for %(choices)s credits.", choices=choices))


def _taken_together(choices: Sequence[Choice], catalog: TermCatalog) -> list[Choice]:
    try:
        return requests.taken_together(choices, catalog)
    except requests.SeveralSwaps as error:
        message = _("Corequisites can be given for one section only.")
        raise invalid(f"/section_ids/{error.choice}/instead_of", message) from error


def _results(
    found: SubmissionResult, choices: Sequence[Choice], catalog: TermCatalog, student: int
) -> list[dict[str, Any]]:
    """Return a result for each section, in the order of the request."""
    decided = [each for result in found.results for each in result.decisions]
    by_section = {each.section: each for each in decided}
    registrations = _registrations(decided, catalog.term.id, student)
    return [_result(by_section[each.sections[0]], catalog, registrations) for each in choices]


def _result(
    decided: Decision, catalog: TermCatalog, registrations: dict[int, int]
) -> dict[str, Any]:
    term, status = catalog.term.id, _status(decided)
    reasons = reasons_in_words(decided.reasons, catalog, decided.section, decided.swap_out)
    refusal = " ".join(each["message"] for each in reasons)
    position = next((each.facts.get("position") for each in decided.reasons), None)
    return {
        "section_id": decided.section,
        "status": status,
        "message": refusal if status == "refused" else decision_in_words([decided], term, ()),
        "registration_id": decided.registration or registrations.get(decided.section),
        "waitlist_position": decided.position or position,
        "instead_of": decided.swap_out or None,
        "reasons": reasons,
        "receipt": code(term, decided.seq) if decided.seq else None,
    }


def _status(decided: Decision) -> str:
    if decided.outcome != Outcome.REFUSED:
        return str(decided.outcome)
    codes = {each.code for each in decided.reasons}
    return HAD_ALREADY.get(codes.pop(), "refused") if len(codes) == 1 else "refused"


def _registrations(decided: Sequence[Decision], term: int, student: int) -> dict[int, int]:
    """Return the ids of the seats that the student had already, by section."""
    if not any(each.code == "already_enrolled" for one in decided for each in one.reasons):
        return {}
    with suppress(LedgerUnavailable):  # the decision is made, and the response says so in any case
        mine = backend().ledger.registrations(term, student).enrolled
        return {each.section: each.registration for each in mine}
    return {}


@bp.errorhandler(AccessTokenRequired)
@bp.errorhandler(NotAdmitted)
def _no_access_token(_error: Exception) -> ResponseReturnValue:
    return admission.refused(NO_ACCESS_TOKEN)
