"""Register and drop classes in a student's name, for programs of the university."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.catalog.term_catalog import catalog_of
from portal.core.correlation import correlation
from portal.core.i18n import _
from portal.ledger.types import Outcome, Reason
from portal.recorder.receipts import code
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from portal.registration.reasons import OBSTACLES, label
from portal.web.api import idempotency
from portal.web.api.admin_changes import SEMESTER, Change, StudentField, program_post, student_of
from portal.web.api.fields import Id, Moment, one_of
from portal.web.api.registration import published_section
from portal.web.api.schemas import Answer, ReasonSchema
from portal.web.http.access import visitor

SCOPE = "registrations"


class SectionOfStudent(Change):
    student_number = StudentField()
    section_id = Id(required=True)


class Adjusted(Answer):
    semester_id = fields.Integer()
    student_number = fields.String()
    section_id = fields.Integer()
    status = one_of("enrolled", "dropped", "refused")
    decided_at = Moment()
    idempotency_key = fields.String()
    reasons = fields.List(fields.Nested(ReasonSchema))
    receipt = fields.String(allow_none=True)


@program_post(f"{SEMESTER}/registrations", SCOPE, SectionOfStudent, Adjusted)
def register_student(
    headers: dict[str, Any], body: dict[str, Any], semester_id: int
) -> ResponseReturnValue:
    """Enroll a student in a section; every rule that the student meets applies."""
    return _adjust(headers, body, semester_id, add=body["section_id"])


@program_post(f"{SEMESTER}/registrations/drop", SCOPE, SectionOfStudent, Adjusted)
def drop_student(
    headers: dict[str, Any], body: dict[str, Any], semester_id: int
) -> ResponseReturnValue:
    """Drop a student from a section; the seat goes to the head of the waitlist."""
    return _adjust(headers, body, semester_id, drop=body["section_id"])


def _adjust(
    headers: dict[str, Any],
    body: dict[str, Any],
    semester_id: int,
    *,
    add: int | None = None,
    drop: int | None = None,
) -> ResponseReturnValue:
    catalog, section = catalog_of(semester_id), body["section_id"]
    published_section(catalog, section, "/section_id")
    student = student_of(body["student_number"])
    key = idempotency.chosen_key(headers, {})
    decided = adjustments.adjust(
        Adjustment(semester_id, student, add=add, drop=drop),
        why=body["reason"],
        by=visitor().id,
        idempotency_key=sha256(f"{visitor().id}:{key}".encode()).hexdigest()[:32],
        correlation=correlation(),
    )
    reasons = _neutral_texts(decided.reasons)
    granted = decided.outcome != Outcome.REFUSED
    data = {
        "semester_id": semester_id,
        "student_number": body["student_number"],
        "section_id": section,
        "status": ("enrolled" if add else "dropped") if granted else "refused",
        "decided_at": decided.at,
        "idempotency_key": key,
        "reasons": reasons,
        "receipt": code(semester_id, decided.seq) if decided.seq else None,
    }
    done = _("The student is enrolled.") if add else _("The student is dropped.")
    message = done if granted else "; ".join(each["message"] for each in reasons) + "."
    return idempotency.decision(
        Adjusted(), data, message, granted=granted, replayed=decided.replayed
    )


def _neutral_texts(reasons: Iterable[Reason]) -> list[dict[str, str]]:
    """Return each reason's code and rule, without the facts of the student's record."""
    return [
        {"code": each.code, "message": str(OBSTACLES.get(each.code) or label(each.code))}
        for each in reasons
    ]
