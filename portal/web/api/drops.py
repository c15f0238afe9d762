"""POST /register/drop and /register/leave: drop a seat, or leave a waitlist."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.catalog.term_catalog import TermCatalog
from portal.ledger.types import Decision, RequestContext
from portal.people.roles import Right
from portal.recorder import promotion
from portal.recorder.receipts import code
from portal.registration import commands
from portal.web.api import idempotency
from portal.web.api.blueprint import bp
from portal.web.api.fields import Id, IdempotencyKey, Moment, described, items
from portal.web.api.registration import (
    catalog_of_request,
    published_section,
    require_own_student,
)
from portal.web.api.schemas import Answer, Body, ReasonSchema, envelope, reasons_in_words
from portal.web.http.access import requires, visitor
from portal.web.http.request_context import request_context
from portal.web.student import results
from portal.web.student.request_form import MOST_TOGETHER


class Leave(Body):
    student_id = Id("Your own.", required=True)
    semester_id = Id("Not needed: a section is of one semester.")
    section_id = Id(required=True)
    idempotency_key = IdempotencyKey()


class Drop(Leave):
    along = fields.List(
        Id(),
        load_default=list,
        validate=items(0, MOST_TOGETHER),
        metadata={
            "uniqueItems": True,
            "description": "Sections dropped in the same step. One that can't be held without"
            " another of them, such as the lab without its lecture, is no drop of its own; every"
            " other counts as a drop of the day. Waitlists named here are left.",
        },
    )


class GivenUp(Answer):
    section_id = fields.Integer()
    student_id = fields.Integer()
    semester_id = fields.Integer()
    idempotency_key = fields.String()
    reasons = fields.List(fields.Nested(ReasonSchema))
    receipt = fields.String()


class Left(GivenUp):
    left_at = Moment(allow_none=True)


class Dropped(GivenUp):
    dropped_at = Moment(allow_none=True)
    seat_released = described(
        fields.Boolean, "False if the section still has as many students as seats."
    )
    waitlist_processed = described(
        fields.Boolean,
        "True: the waitlist has been considered. False: there was nothing to do. Null: a worker"
        " is still at it.",
        allow_none=True,
    )
    promoted_student_id = described(
        fields.Integer,
        "Who got the seat, if that is known yet; only for admins and instructors of the section.",
        allow_none=True,
    )


@bp.post("/register/drop", tags=["registration"])
@requires(Right.REGISTER)
@bp.arguments(idempotency.KeyHeader, location="headers")
@bp.arguments(Drop)
@bp.response(200, envelope(Dropped), headers=idempotency.HEADERS)
@bp.alt_response(404, response="NOT_FOUND")
def drop(headers: dict[str, Any], body: dict[str, Any]) -> ResponseReturnValue:
    """Drop a seat, which goes to the head of the waitlist. Needs no access token."""
    catalog, context, section = _request(headers, body)
    for number, other in enumerate(body["along"]):
        published_section(catalog, other, f"/along/{number}")
    decided = commands.drop(context, section, body["along"])
    refused = bool(decided.reasons)
    processed = False if refused else promotion.waitlist_processed(context.term, decided)
    data = _data(context, section, catalog, decided) | {
        "dropped_at": None if refused else decided.at,
        "seat_released": bool(not refused and decided.seats and decided.seats.open),
        "waitlist_processed": processed,
        "promoted_student_id": (
            promotion.promoted_student(context.term, decided)
            if processed and _may_know_who(catalog, section)
            else None
        ),
    }
    return _decision(Dropped(), data, decided, body["along"])


@bp.post("/register/leave", tags=["registration"])
@requires(Right.REGISTER)
@bp.arguments(idempotency.KeyHeader, location="headers")
@bp.arguments(Leave)
@bp.response(200, envelope(Left), headers=idempotency.HEADERS)
@bp.alt_response(404, response="NOT_FOUND")
def leave(headers: dict[str, Any], body: dict[str, Any]) -> ResponseReturnValue:
    """Leave a waitlist. Needs no access token and no open window."""
    catalog, context, section = _request(headers, body)
    decided = commands.leave_waitlist(context, section)
    left = {"left_at": None if decided.reasons else decided.at}
    return _decision(Left(), _data(context, section, catalog, decided) | left, decided)


def _request(
    headers: dict[str, Any], body: dict[str, Any]
) -> tuple[TermCatalog, RequestContext, int]:
    require_own_student(body)
    section = body["section_id"]
    catalog = catalog_of_request(body, {"/section_id": section})
    published_section(catalog, section, "/section_id")
    context = request_context(catalog.term.id, idempotency.chosen_key(headers, body))
    return catalog, context, section


def _data(
    context: RequestContext, section: int, catalog: TermCatalog, decided: Decision
) -> dict[str, Any]:
    return {
        "section_id": section,
        "student_id": context.student,
        "semester_id": context.term,
        "idempotency_key": context.idempotency_key,
        "reasons": reasons_in_words(decided.reasons, catalog, section),
        "receipt": code(context.term, decided.seq),
    }


def _decision(
    schema: GivenUp, data: dict[str, Any], decided: Decision, along: Sequence[int] = ()
) -> ResponseReturnValue:
    if data["reasons"]:
        message = " ".join(each["message"] for each in data["reasons"])
    else:
        first = replace(decided, replayed=False)
        message = results.decision_in_words([first], data["semester_id"], along)
    granted = not data["reasons"]
    return idempotency.decision(schema, data, message, granted=granted, replayed=decided.replayed)


def _may_know_who(catalog: TermCatalog, section: int) -> bool:
    """Return whether the visitor may know who got the seat."""
    who, found = visitor(), catalog.section(section)
    teaches = found is not None and not who.instructor_ids.isdisjoint(found.instructor_ids)
    return teaches or who.may(Right.SEE_ROSTERS)
