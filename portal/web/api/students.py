"""GET /me, /students/{id}/registrations and /waitlist: the visitor, and students' sections."""

from dataclasses import dataclass, replace
from typing import Any

from flask import abort, g
from flask_wtf.csrf import generate_csrf
from marshmallow import Schema, fields

from portal.catalog.term_catalog import TermCatalog, live_terms, published_terms
from portal.ledger import types as ledger_types
from portal.ledger.types import HeldSeat, WaitlistPosition
from portal.people.advising import advises
from portal.people.roles import PERSONAL_SCOPES, ROLES, SERVICE_SCOPES, Right
from portal.people.student_profile import profile
from portal.recorder import odds
from portal.web.api import recorded_reads
from portal.web.api.blueprint import bp
from portal.web.api.catalog import Section, shown, visible_catalog
from portal.web.api.fields import LARGEST_ID, Moment, QueryInteger, described, one_of
from portal.web.api.schemas import Answer, ReasonSchema, answer, envelope, reasons_in_words
from portal.web.http import authentication
from portal.web.http.access import signed_in, visitor
from portal.web.student.waitlist_odds import waitlist_odds

STUDENT = f"/students/<int(min=1, max={LARGEST_ID}):student_id>"


class Me(Answer):
    id = described(fields.Integer, "Of the account.")
    name = fields.String()
    roles = fields.List(one_of(*sorted(ROLES)))
    student_id = fields.Integer(allow_none=True)
    teacher_ids = fields.List(
        fields.Integer(), metadata={"description": "Of the instructors who share the account."}
    )
    scopes = fields.List(one_of(*PERSONAL_SCOPES, *SERVICE_SCOPES))
    csrf_token = described(
        fields.String, "For the header X-CSRFToken, if a session asks.", allow_none=True
    )


class Registration(Answer):
    registration_id = fields.Integer(attribute="entry.registration")
    semester_id = fields.Integer()
    section_id = fields.Integer(attribute="entry.section")
    status = one_of("enrolled", dump_default="enrolled")
    credits = fields.Float()
    registered_at = Moment(attribute="entry.at")
    registration_date = Moment(
        attribute="entry.at", metadata={"description": "The same as `registered_at`."}
    )
    section = fields.Nested(Section, allow_none=True)


class Registrations(Answer):
    student_id = fields.Integer()
    registrations = fields.List(fields.Nested(Registration))
    total_registrations = fields.Integer()
    enrolled_credits = described(fields.Float, "The sum of their credits.")


class WaitlistEntry(Answer):
    waitlist_id = described(fields.Integer, "The number of this entry.", attribute="entry.ticket")
    semester_id = fields.Integer()
    section_id = fields.Integer(attribute="entry.section")
    waitlist_position = fields.Integer(attribute="entry.position")
    position = described(
        fields.Integer, "The same as `waitlist_position`.", attribute="entry.position"
    )
    waitlist_size = fields.Integer(attribute="entry.size")
    band = described(
        fields.Integer,
        "The band of the waitlist, from 1; fixed on joining. See `waitlist_order` of the semester.",
        attribute="entry.band",
    )
    credits = fields.Float()
    joined_at = Moment(attribute="entry.at")
    added_at = Moment(attribute="entry.at", metadata={"description": "The same as `joined_at`."})
    expires_at = Moment(
        allow_none=True,
        metadata={"description": "When the window closes: no seat comes after that."},
    )
    estimated_wait_time = described(
        fields.String,
        "How likely a seat is, in words. Null while waitlists do not move.",
        allow_none=True,
    )
    instead_of = described(
        fields.Integer, "The section that is dropped once the seat comes.", allow_none=True
    )
    passed_over = fields.List(
        fields.Nested(ReasonSchema), metadata={"description": "Why a seat went to the next one."}
    )
    section = fields.Nested(Section, allow_none=True)


class Waitlist(Answer):
    student_id = fields.Integer()
    waitlist = fields.List(fields.Nested(WaitlistEntry))
    waitlist_entries = fields.List(
        fields.Nested(WaitlistEntry),
        attribute="waitlist",
        metadata={"description": "The same as `waitlist`."},
    )
    total_waitlist_entries = fields.Integer()


class TermQuery(Schema):
    semester_id = QueryInteger()


@dataclass(frozen=True)
class StudentRecord:
    """The part of a student's enrollments and waitlists in a term that the visitor may see."""

    student: int
    catalog: TermCatalog
    registrations: ledger_types.Registrations


@bp.get("/me", tags=["you"])
@signed_in
@bp.response(200, Me)
def me() -> dict[str, Any]:
    """Return who you are, your roles, and what you may do here."""
    who = visitor()
    return {
        "id": who.id,
        "name": who.name,
        "roles": sorted(who.roles),
        "student_id": who.student_id,
        "teacher_ids": sorted(who.instructor_ids),
        "scopes": sorted(g.get("scopes", PERSONAL_SCOPES)),
        "csrf_token": None if authentication.bearer() else generate_csrf(),
    }


@bp.get(f"{STUDENT}/registrations", tags=["records"])
@signed_in
@bp.arguments(TermQuery, location="query")
@bp.response(200, envelope(Registrations), headers=recorded_reads.HEADERS)
@bp.alt_response(404, response="NOT_FOUND")
def registrations(query: dict[str, Any], student_id: int) -> dict[str, Any]:
    """Return a student's seats: your own, those in classes you teach, or all with the right to."""
    records = _visible_records(student_id, query.get("semester_id"))
    found = [each for record in records for each in _entries(record, record.registrations.enrolled)]
    data = {
        "student_id": student_id,
        "registrations": found,
        "total_registrations": len(found),
        "enrolled_credits": sum(each["credits"] for each in found),
    }
    return answer(data, recorded_reads.note())


@bp.get(f"{STUDENT}/waitlist", tags=["records"])
@signed_in
@bp.arguments(TermQuery, location="query")
@bp.response(200, envelope(Waitlist), headers=recorded_reads.HEADERS)
@bp.alt_response(404, response="NOT_FOUND")
def waitlist(query: dict[str, Any], student_id: int) -> dict[str, Any]:
    """Return a student's waitlist positions: your own, those in classes you teach, or all."""
    records = _visible_records(student_id, query.get("semester_id"))
    found = [each for record in records for each in _waitlist_entries(record)]
    data = {"student_id": student_id, "waitlist": found, "total_waitlist_entries": len(found)}
    return answer(data, recorded_reads.note())


def _visible_records(student: int, term: int | None) -> list[StudentRecord]:
    """Return a student's records of one term or all: the visitor's own, or those they may see.

    Instructors see records of their sections, advisers those of advisees; the right to see students
    opens all. Everyone else gets a 404, which does not reveal whether the student exists.
    """
    who = visitor()
    sees_all = who.may(Right.SEE_STUDENTS) or advises(who, student)
    offered = live_terms() if who.may(Right.SEE_SECTIONS) else published_terms()
    terms = [term] if term else [each.id for each in offered]
    found = [
        StudentRecord(student, visible_catalog(each), recorded_reads.registrations(each, student))
        for each in terms
    ]
    if student == who.student_id or (sees_all and _exists(student)):
        return found
    taught = [_of_instructor(each, who.instructor_ids) for each in found]
    if not any(each.registrations != ledger_types.Registrations() for each in taught):
        abort(404)
    return taught


def _exists(student: int) -> bool:
    try:
        return bool(profile(student))
    except LookupError:
        return False


def _of_instructor(record: StudentRecord, instructors: frozenset[int]) -> StudentRecord:
    """Keep the entries of the instructor's sections, without details about other sections."""

    def taught(entry: HeldSeat | WaitlistPosition) -> bool:
        section = record.catalog.section(entry.section)
        return section is not None and not instructors.isdisjoint(section.instructor_ids)

    enrolled = tuple(filter(taught, record.registrations.enrolled))
    waiting = filter(taught, record.registrations.waiting)
    alone = tuple(replace(each, swap_out=0, reasons=()) for each in waiting)
    return replace(record, registrations=ledger_types.Registrations(enrolled, alone))


def _entries(
    record: StudentRecord, entries: tuple[HeldSeat, ...] | tuple[WaitlistPosition, ...]
) -> list[dict[str, Any]]:
    catalog = record.catalog
    sections = shown(catalog, catalog.some(each.section for each in entries))
    return [
        {
            "entry": each,
            "semester_id": catalog.term.id,
            "credits": each.credits / 100,
            "section": sections.get(each.section),
        }
        for each in entries
    ]


def _waitlist_entries(record: StudentRecord) -> list[dict[str, Any]]:
    waiting = record.registrations.waiting
    if not waiting:
        return []
    odds.refresh_freed_seats(record.catalog.term.id)
    now = recorded_reads.student_term(record.catalog, record.student, record.registrations)
    likely, window = waitlist_odds(now), now.phase.window
    return [
        {
            **about,
            "expires_at": window.closes if window else None,
            "estimated_wait_time": likely[each.section].text if each.section in likely else None,
            "instead_of": each.swap_out or None,
            "passed_over": reasons_in_words(each.reasons, record.catalog, each.section),
        }
        for each, about in zip(waiting, _entries(record, waiting), strict=True)
    ]
