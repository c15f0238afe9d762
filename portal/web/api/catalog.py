"""GET /semesters, /windows and /sections/available: terms, windows, and available sections."""

from collections.abc import Iterable
from typing import Any

import marshmallow as ma
from marshmallow import fields

from portal.catalog.search import LONGEST, Query, hours
from portal.catalog.term_catalog import (
    MeetingView,
    SectionView,
    TermCatalog,
    catalog_of,
    offered_terms,
    published_catalog,
)
from portal.catalog.term_fields import TERM_RULES, TermRule
from portal.ledger.types import Registrations, SeatCounts
from portal.people.roles import Right
from portal.people.student_profile import profile
from portal.recorder.read_with_fallback import recorded
from portal.registration import rules
from portal.registration.credits import credit_choices
from portal.registration.next_steps import section_name
from portal.web.api import recorded_reads
from portal.web.api.blueprint import bp
from portal.web.api.fields import Moment, QueryInteger, characters, described, one_of
from portal.web.api.schemas import Answer, Page, PageQuery, answer, envelope, page_of
from portal.web.http.access import signed_in, visitor
from portal.web.student.section_list import distinct_meetings, unknown_counts
from portal.web.student.student_term import seats_open_to, section_title
from portal.windows import bands
from portal.windows.phases import Phase, phase, sections_visible

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
PHASES = ("unscheduled", "before", "open", "ended")
RULE_FIELDS: dict[str, type[fields.Field[Any]]] = {
    "credits": fields.Float,
    "number": fields.Integer,
    "day": fields.Date,
}


class Course(Answer):
    id = fields.Integer(attribute="course_id")
    code = fields.String(attribute="course_code")
    title = fields.String(attribute="course_title")
    subject = fields.String(attribute="subject_name")
    course_id = described(fields.Integer, "The same as `id`.")
    course_code = described(fields.String, "The same as `code`.")
    course_name = described(fields.String, "The same as `title`.", attribute="course_title")


class SectionSeats(Answer):
    capacity = fields.Integer(attribute="all.capacity")
    taken = fields.Integer(attribute="all.taken")
    available = described(
        fields.Integer, "Free seats that are not reserved for a cohort.", attribute="all.open"
    )
    kept = described(
        fields.Integer, "Free seats that are reserved for a cohort.", attribute="all.free_reserved"
    )
    open_to_you = described(
        fields.Integer, "Available seats and those reserved for you.", attribute="yours.open"
    )
    claimable = described(
        fields.Boolean,
        "Whether you could have one now: no one on the waitlist comes first.",
        attribute="yours.claimable",
    )
    waiting = fields.Integer(attribute="all.waiting")
    waitlist_capacity = fields.Integer(attribute="all.waitlist_capacity")


class Meeting(Answer):
    kind = fields.String()
    days = fields.List(one_of(*DAYS))
    starts = described(fields.String, "Such as 14:00, local time.", allow_none=True)
    ends = fields.String(allow_none=True)
    first_day = fields.Date(attribute="first")
    last_day = fields.Date(attribute="last")
    location = fields.String(attribute="room")


class Schedule(Answer):
    """Meeting times, in words and one by one."""

    days = fields.String()
    time = fields.String()
    location = fields.String()
    meetings = fields.List(fields.Nested(Meeting))


class CreditRange(Answer):
    least = fields.Float(attribute="section.credits_min")
    most = fields.Float(attribute="section.credits_max")
    choices = fields.List(fields.Float())


class Section(Answer):
    section_id = fields.Integer(attribute="section.id")
    semester_id = fields.Integer(attribute="section.term_id")
    name = described(fields.String, "Such as CSC 1100-01.")
    section_number = fields.String(attribute="section.number")
    crn = fields.String(attribute="section.crn")
    title = fields.String()
    course_code = described(fields.String, "As in `course`.", attribute="section.course_code")
    course_name = described(fields.String, "As in `course`.", attribute="section.course_title")
    status = one_of("OPEN", "CONFIRMED", "CANCELED", attribute="section.status")
    credits = fields.Nested(CreditRange)
    course = fields.Nested(Course, attribute="section")
    seats = fields.Nested(SectionSeats)
    total_seats = described(fields.Integer, "As `seats.capacity`.", attribute="seats.all.capacity")
    available_seats = described(fields.Integer, "As `seats.available`.", attribute="seats.all.open")
    instructor = fields.String(allow_none=True)
    schedule = fields.Nested(Schedule)


def _rule(rule: TermRule) -> fields.Field[Any]:
    """Return the field of a term's rule."""
    about = {"description": rule.meaning} if rule.meaning else {}
    return RULE_FIELDS[rule.kind](allow_none=rule.optional, metadata=about)


Semester = Answer.from_dict(
    {
        "semester_id": fields.Integer(attribute="id"),
        "name": fields.String(),
        "starts_on": fields.Date(),
        "ends_on": fields.Date(),
        **{name: _rule(each) for name, each in TERM_RULES.items() if each.in_api},
        "waitlist_order": fields.Function(
            lambda term: bands.rule(term.bands),
            metadata={
                "type": "string",
                "description": "The bands of waitlists, in words; blank: first come, first served.",
            },
        ),
    },
    name="Semester",
)


class Semesters(Answer):
    semesters = fields.List(fields.Nested(Semester))


class Window(Answer):
    window_id = fields.Integer(attribute="window.id")
    name = fields.String(attribute="window.name")
    opens_at = Moment(attribute="window.opens")
    closes_at = Moment(
        attribute="window.closes", metadata={"description": "The first moment that is too late."}
    )
    state = one_of("scheduled", "canceled", "closed", attribute="window.state")
    answer = one_of(*PHASES, attribute="phase.kind")
    sentence = fields.String(attribute="phase.sentence")


class Windows(Answer):
    semester_id = fields.Integer()
    now = Moment(attribute="phase.now", metadata={"description": "The clock that decides."})
    answer = one_of(*PHASES, attribute="phase.kind", metadata={"description": "For you."})
    sentence = fields.String(attribute="phase.sentence")
    window_id = described(fields.Integer, "The window that the answer is about.", allow_none=True)
    windows = fields.List(fields.Nested(Window))


class Sections(Page):
    answer = one_of(
        *PHASES,
        attribute="phase.kind",
        metadata={"description": "Of your windows; students see sections while it is `open`."},
    )
    sentence = fields.String(attribute="phase.sentence")
    window_id = fields.Integer(allow_none=True)
    sections = fields.List(fields.Nested(Section))
    total_sections = described(fields.Integer, "The same as `total`.", attribute="total")
    total_available_seats = described(fields.Integer, "Seats `available` in all that was found.")


class SemesterQuery(ma.Schema):
    semester_id = QueryInteger(required=True)


class SectionsQuery(SemesterQuery, PageQuery):
    course_id = QueryInteger()
    q = fields.String(
        validate=characters(0, LONGEST),
        load_default="",
        metadata={"description": "Words: a code, a title, a name, a CRN."},
    )
    free = fields.Boolean(
        truthy={"true"},
        falsy={"false"},
        load_default=False,
        metadata={"description": "Only sections in which you could have a seat now."},
    )


@bp.get("/semesters", tags=["catalog"])
@signed_in
@bp.response(200, envelope(Semesters))
def semesters() -> dict[str, Any]:
    """Return the semesters, the latest first."""
    return answer({"semesters": offered_terms()})


@bp.get("/windows", tags=["catalog"])
@signed_in
@bp.arguments(SemesterQuery, location="query")
@bp.response(200, envelope(Windows), headers=recorded_reads.HEADERS)
@bp.alt_response(404, response="NOT_FOUND")
def windows(query: dict[str, Any]) -> dict[str, Any]:
    """Return the selection windows of a semester; students see only their own."""
    term = visible_catalog(query["semester_id"]).term.id
    found, mine = recorded_reads.windows(term), recorded_reads.phase_of(term)
    each = [{"window": window, "phase": phase([window], mine.now)} for window in found]
    data = {"semester_id": term, "phase": mine, "window_id": _window_id(mine), "windows": each}
    return answer(data, recorded_reads.note())


@bp.get("/sections/available", tags=["catalog"])
@signed_in
@bp.arguments(SectionsQuery, location="query")
@bp.response(200, envelope(Sections), headers=recorded_reads.HEADERS)
@bp.alt_response(404, response="NOT_FOUND")
def available(query: dict[str, Any]) -> dict[str, Any]:
    """Return the open sections of a semester with their seats: those of courses open to you.

    A student sees none unless their window is open: `answer` gives the state of the window.
    """
    catalog = visible_catalog(query["semester_id"])
    now = recorded_reads.phase_of(catalog.term.id)
    counts = recorded_reads.all_seats(catalog.term.id)
    listed = _is_staff() or sections_visible(now, to_register=True)
    found = _search(catalog, query, counts) if listed else []
    page, size = query["page"], query["per_page"]
    data = page_of(query, len(found)) | {
        "phase": now,
        "window_id": _window_id(now),
        "sections": list(shown(catalog, found[(page - 1) * size : page * size]).values()),
        "total_available_seats": sum(
            max(0, counts[each.id].open) for each in found if each.id in counts
        ),
    }
    return answer(data, recorded_reads.note() or ("" if listed else now.sentence))


def visible_catalog(term: int) -> TermCatalog:
    """Return the catalog of a semester; only staff see a draft. Raise NoSuchTerm."""
    return catalog_of(term) if visitor().may(Right.SEE_SECTIONS) else published_catalog(term)


def shown(catalog: TermCatalog, sections: Iterable[SectionView]) -> dict[int, dict[str, Any]]:
    """Return sections by id for the schema Section, with their current counts."""
    found = list(sections)
    counts = recorded_reads.seats_of(catalog.term.id, [each.id for each in found])
    yours = _open_to_visitor(catalog, found, counts)
    return {
        each.id: {
            "section": each,
            "name": section_name(each),
            "title": section_title(catalog, each),
            "credits": {"section": each, "choices": credit_choices(each) or [each.credits_min]},
            "seats": {
                "all": counts.get(each.id) or unknown_counts(each),
                "yours": yours.get(each.id) or unknown_counts(each),
            },
            "instructor": ", ".join(each.instructors) or None,
            "schedule": _schedule(each),
        }
        for each in found
    }


def _window_id(found: Phase) -> int | None:
    return found.window.id if found.window else None


def _is_staff() -> bool:
    """Return whether the visitor always sees sections: everyone but students does."""
    who = visitor()
    return who.may(Right.SEE_SECTIONS) or not who.student_id


def _search(
    catalog: TermCatalog, query: dict[str, Any], counts: dict[int, SeatCounts]
) -> list[SectionView]:
    text = " ".join(query["q"].replace("\0", "").split())
    seats = _open_to_visitor(catalog, catalog.sections, counts) if query["free"] else None
    found = catalog.search(Query(text=text, open_only=query["free"]), seats)
    course, student = query.get("course_id"), visitor().student_id
    who = profile(student) if student else None
    return [
        each
        for each in found
        if course in {None, each.course_id}
        and (rules.visible(who, each) if who else each.status == "OPEN")
    ]


def _open_to_visitor(
    catalog: TermCatalog, sections: Iterable[SectionView], counts: dict[int, SeatCounts]
) -> dict[int, SeatCounts]:
    """Return the counts with seats that are reserved for the visitor counted as open."""
    some = [each for each in sections if each.reserves and each.id in counts]
    student = visitor().student_id
    if not some or not student:
        return counts
    now, likely = recorded_reads.student_term(catalog, student, Registrations()), recorded()
    return counts | {
        each.id: seats_open_to(now, each, counts[each.id], likely=likely) for each in some
    }


def _schedule(section: SectionView) -> dict[str, Any]:
    meetings = distinct_meetings(section)
    return {
        "days": "; ".join(each.days for each in meetings),
        "time": "; ".join(each.times for each in meetings),
        "location": "; ".join(dict.fromkeys(each.room for each in meetings if each.room)),
        "meetings": [_meeting(each) for each in meetings],
    }


def _meeting(meeting: MeetingView) -> dict[str, Any]:
    return {
        "kind": meeting.kind,
        "days": [day for bit, day in enumerate(DAYS) if meeting.mask >> bit & 1],
        "starts": hours(meeting.start) or None,
        "ends": hours(meeting.end) or None,
        "first": meeting.first,
        "last": meeting.last,
        "room": meeting.room,
    }
