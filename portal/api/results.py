"""What came of a request, section by section, and all in all."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from marshmallow import fields

from portal.api.reasons import Why, in_words
from portal.api.schemas import Said
from portal.backend import backend
from portal.catalog.term_catalog import TermCatalog
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Decision, Outcome, SubmissionResult
from portal.recorder.receipts import code
from portal.student import saying
from portal.student.planning.result import Word
from portal.student.planning.result import summary as in_short

STATUSES = ("enrolled", "waitlisted", "already_registered", "refused")
HAD = {"already_enrolled": "already_registered", "already_waiting": "waitlisted"}


class Result(Said):
    section_id = fields.Integer()
    status = fields.String(metadata={"enum": list(STATUSES)})
    message = fields.String()
    registration_id = fields.Integer(allow_none=True)
    waitlist_position = fields.Integer(allow_none=True)
    instead_of = fields.Integer(
        allow_none=True,
        metadata={"description": "The section given up for it, or once a seat comes."},
    )
    reasons = fields.List(fields.Nested(Why))
    receipt = fields.String(
        allow_none=True, metadata={"description": "The code of this decision, refusals too."}
    )


class Summary(Said):
    total_requested = fields.Integer()
    enrolled = fields.Integer()
    waitlisted = fields.Integer()
    already_registered = fields.Integer()
    errors = fields.Integer(metadata={"description": "How many were refused."})


def told(decided: SubmissionResult, offered: TermCatalog, student: int) -> list[dict[str, Any]]:
    """A result for each section, in the order of the wishes."""
    answers = [each for line in decided.lines for each in line.taken or line.refused[0]]
    seats = _held(answers, offered.term.id, student)
    return [_result(each, offered, seats) for each in answers]


def summary(found: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How many results there are of each kind."""
    counted = Counter(each["status"] for each in found)
    counts = {status: counted[status] for status in STATUSES}
    return {"total_requested": len(found), "errors": counts.pop("refused"), **counts}


def sentence(counts: dict[str, int]) -> str:
    """The same in words."""
    words: dict[Word, int] = {
        "enrolled": counts["enrolled"],
        "waitlisted": counts["waitlisted"],
        "had": counts["already_registered"],
        "refused": counts["errors"],
    }
    return in_short(Counter(words))


def _result(answer: Decision, offered: TermCatalog, seats: dict[int, int]) -> dict[str, Any]:
    status, term = _status(answer), offered.term.id
    why = in_words(answer.reasons, offered, answer.section, answer.given_up)
    against = " ".join(each["message"] for each in why)
    return {
        "section_id": answer.section,
        "status": status,
        "message": against if status == "refused" else saying.plainly([answer], term, ()),
        "registration_id": answer.registration or seats.get(answer.section),
        "waitlist_position": answer.position or _position(answer),
        "instead_of": answer.given_up or None,
        "reasons": why,
        "receipt": code(term, answer.seq) if answer.seq else None,
    }


def _status(answer: Decision) -> str:
    if answer.outcome != Outcome.REFUSED:
        return str(answer.outcome)
    codes = {each.code for each in answer.reasons}
    return HAD.get(codes.pop(), "refused") if len(codes) == 1 else "refused"


def _position(answer: Decision) -> int | None:
    """The place of one who waits already."""
    return next((each.facts.get("position") for each in answer.reasons), None)


def _held(answers: Sequence[Decision], term: int, student: int) -> dict[int, int]:
    """The numbers of the seats that were had already, by section."""
    if not any(each.code == "already_enrolled" for one in answers for each in one.reasons):
        return {}
    with suppress(LedgerUnavailable):  # it has been decided, and is told in any case
        mine = backend().ledger.standing(term, student).enrolled
        return {each.section: each.registration for each in mine}
    return {}
