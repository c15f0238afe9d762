"""POST /register: seats or waitlist positions, all decided in one step."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from flask import abort
from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.backend import backend
from portal.catalog import linked_courses
from portal.catalog.term_catalog import (
    NoSuchTerm,
    SectionView,
    TermCatalog,
    catalog_of,
    live_terms,
)
from portal.core.correlation import correlation
from portal.core.i18n import _, _l
from portal.ledger.errors import LedgerUnavailable, NotAdmitted
from portal.ledger.types import Decision, Outcome, SubmissionResult
from portal.recorder.receipts import code
from portal.registration import commands, requests
from portal.registration.credits import credit_choices, hundredths, points
from portal.registration.requests import Requester, SectionRequest
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
from portal.web.http.errors import Words
from portal.web.student.results import Status, decision_in_words
from portal.web.student.results import summary as summary_in_words

MOST_SECTIONS = 20
STATUSES = ("enrolled", "waitlisted", "already_registered", "refused")
HAD_ALREADY = {"already_enrolled": "already_registered", "already_waiting": "waitlisted"}
NO_ACCESS_TOKEN = Words(
    _l("This takes a pass of the waiting room"),
    _l("Nothing was changed. POST /api/v1/waiting-room/{window_id}/requests gives passes out."),
    problem_type("no-pass"),
)


class Choice(Body):
    """A section with options, such as credits."""

    section_id = Id(required=True)
    credits = Credits("Where the section leaves a choice.")
    wait = StrictBoolean(metadata={"description": "For this section, in place of the request's."})
    instead_of = Id("A section that is given up for this one, once this one is yours.")


class ChoiceField(fields.Field[dict[str, Any]]):
    """A section: its id, or a Choice."""

    schema = Choice()

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
        fields.Integer, "The section given up for it, or once a seat comes.", allow_none=True
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


@dataclass(frozen=True)
class Line:
    """One section of a request, at its place in `section_ids`."""

    number: int
    section: SectionView
    credits: Decimal | None
    wait: bool
    instead_of: int | None


@bp.post("/register", tags=["registration"])
@requires("student")
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
    student, catalog = own_student(body), _catalog(body)
    token, key = admission.access_token(), idempotency.chosen_key(headers, body)
    if token and token.term != catalog.term.id:
        raise AccessTokenRequired
    lines = _lines(body, catalog)
    choices = [_choice(group) for group in _decided_together(lines, catalog)]
    asker = Requester(student, catalog.term.id, key, correlation(), token.window if token else None)
    found = commands.register(asker, choices, _content(lines))
    results = _results(found, lines, catalog, student)
    counts = Counter(each["status"] for each in results)
    data = {
        "student_id": student,
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
    message = _summary_in_words(counts)
    return idempotency.decision(
        Registered(), data, message, granted=granted, replayed=found.replayed
    )


def own_student(body: Mapping[str, Any]) -> int:
    """Return the student of a body; 403 unless it is the visitor, known or not."""
    if body["student_id"] != visitor().student_id:
        abort(403)
    return int(body["student_id"])


def catalog_of_semester(term: int) -> TermCatalog:
    """Return the catalog of the semester in a body. Raise InvalidRequest."""
    try:
        return catalog_of(term)
    except NoSuchTerm as error:
        raise invalid("/semester_id", _("There is no such semester."), 404) from error


def catalog_of_sections(sections: Mapping[str, int]) -> TermCatalog:
    """Return the catalog of the sections' semester; the sections are given by JSON pointer.

    Raise InvalidRequest for unknown sections, and for sections of several semesters.
    """
    catalogs = [catalog_of(term.id) for term in live_terms()]
    found: list[TermCatalog] = []
    for pointer, section in sections.items():
        having = next((each for each in catalogs if each.section(section)), None)
        if having is None:
            raise invalid(pointer, _("There is no such section."), 404)
        found.append(having)
    first = found[0].term
    elsewhere = [
        field_error(
            pointer,
            _(
                "This section is of %(here)s and the first one of %(first)s."
                " Send a request for each semester.",
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
    found = catalog.section(section)
    if found is None or found.status == "NEW":
        raise invalid(pointer, _("There is no such section in this semester."), 404)
    return found


def _catalog(body: dict[str, Any]) -> TermCatalog:
    if "semester_id" in body:
        return catalog_of_semester(body["semester_id"])
    choices = enumerate(body["section_ids"])
    return catalog_of_sections({f"/section_ids/{at}": each["section_id"] for at, each in choices})


def _lines(body: dict[str, Any], catalog: TermCatalog) -> list[Line]:
    """Return the sections of a body. Raise InvalidRequest for unknown and repeated ones."""
    found: list[Line] = []
    for number, choice in enumerate(body["section_ids"]):
        pointer = f"/section_ids/{number}"
        section = published_section(catalog, choice["section_id"], pointer)
        if any(line.section is section for line in found):
            raise invalid(pointer, _("This section is named twice."))
        if "instead_of" in choice:
            published_section(catalog, choice["instead_of"], f"{pointer}/instead_of")
        amount = _checked_credits(section, choice.get("credits"), f"{pointer}/credits")
        wait = choice.get("wait", body["wait"])
        found.append(Line(number, section, amount, wait, choice.get("instead_of")))
    return found


def _checked_credits(section: SectionView, amount: Decimal | None, pointer: str) -> Decimal | None:
    offered = [Decimal(each) for each in credit_choices(section)] or [section.credits_min]
    if amount is None or amount in offered:
        return amount
    choices = ", ".join(points(hundredths(each)) for each in offered)
    raise invalid(pointer, _("This section is offered for %(choices)s credits.", choices=choices))


def _decided_together(lines: Sequence[Line], catalog: TermCatalog) -> list[list[Line]]:
    """Group the sections whose courses are corequisites."""
    groups: list[list[Line]] = []
    for line in lines:
        needed = set(linked_courses.courses(line.section, catalog))
        for group in groups:
            known = {each.section.course_id for each in group}
            if line.section.course_id not in known and known & needed:
                group.append(line)
                break
        else:
            groups.append([line])
    return groups


def _content(lines: Sequence[Line]) -> list[Any]:
    """Return the client's request, as the content of its idempotency key."""
    return [
        [
            line.section.id,
            0 if line.credits is None else hundredths(line.credits),
            line.wait,
            line.instead_of or 0,
        ]
        for line in lines
    ]


def _choice(group: Sequence[Line]) -> requests.Choice:
    """Return one choice of the submission: it may wait if all of its sections may."""
    swapped = {line.instead_of for line in group if line.instead_of}
    if len(swapped) > 1:
        last = next(line for line in reversed(group) if line.instead_of)
        message = _("What is taken together is had for one section at most.")
        raise invalid(f"/section_ids/{last.number}/instead_of", message)
    alternative = tuple(
        SectionRequest(each.section.id, None if each.credits is None else hundredths(each.credits))
        for each in group
    )
    wait = all(each.wait for each in group)
    return requests.Choice((alternative,), wait, next(iter(swapped), None))


def _results(
    found: SubmissionResult, lines: Sequence[Line], catalog: TermCatalog, student: int
) -> list[dict[str, Any]]:
    """Return a result for each section, in the order of the request."""
    decided = [each for line in found.lines for each in line.taken or line.refused[0]]
    by_section = {each.section: each for each in decided}
    registrations = _registrations(decided, catalog.term.id, student)
    return [_result(by_section[line.section.id], catalog, registrations) for line in lines]


def _result(
    decided: Decision, catalog: TermCatalog, registrations: dict[int, int]
) -> dict[str, Any]:
    term, status = catalog.term.id, _status(decided)
    reasons = reasons_in_words(decided.reasons, catalog, decided.section, decided.given_up)
    refusal = " ".join(each["message"] for each in reasons)
    position = next((each.facts.get("position") for each in decided.reasons), None)
    return {
        "section_id": decided.section,
        "status": status,
        "message": refusal if status == "refused" else decision_in_words([decided], term, ()),
        "registration_id": decided.registration or registrations.get(decided.section),
        "waitlist_position": decided.position or position,
        "instead_of": decided.given_up or None,
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
        mine = backend().ledger.standing(term, student).enrolled
        return {each.section: each.registration for each in mine}
    return {}


def _summary_in_words(counts: Counter[str]) -> str:
    words: dict[Status, int] = {
        "enrolled": counts["enrolled"],
        "waitlisted": counts["waitlisted"],
        "had": counts["already_registered"],
        "refused": counts["refused"],
    }
    return summary_in_words(Counter(words))


@bp.errorhandler(AccessTokenRequired)
@bp.errorhandler(NotAdmitted)
def _no_access_token(_error: Exception) -> ResponseReturnValue:
    return admission.refused(NO_ACCESS_TOKEN)
