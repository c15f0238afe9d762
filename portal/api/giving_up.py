"""What giving up a seat and giving up a place in line have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from marshmallow import fields

from portal.api import keys
from portal.api.fields import Id, Key
from portal.api.own import own, semester, semester_of
from portal.api.reasons import Why, in_words
from portal.api.schemas import Body, Said
from portal.api.wanted import published
from portal.catalog.term_catalog import TermCatalog
from portal.core.correlation import correlation
from portal.ledger.types import Decision
from portal.recorder.receipts import code
from portal.seats.desk import Asked
from portal.student import saying


class GivingUp(Body):
    student_id = Id(required=True, metadata={"description": "Your own."})
    semester_id = Id(metadata={"description": "Not needed: a section is of one semester."})
    section_id = Id(required=True)
    idempotency_key = Key()


class GivenUp(Said):
    section_id = fields.Integer()
    student_id = fields.Integer()
    semester_id = fields.Integer()
    idempotency_key = fields.String()
    reasons = fields.List(fields.Nested(Why))
    receipt = fields.String()


ASKED = {"student_id": 5, "semester_id": 7, "section_id": 412}
EXAMPLE = {
    "section_id": 412,
    "student_id": 5,
    "semester_id": 7,
    "idempotency_key": "2030-08-01-evening",
    "reasons": [],
    "receipt": "7-2Q0A-5",
}


@dataclass(frozen=True)
class Request:
    """Whose seat or place it is, of what, and under which key."""

    student: int
    section: int
    offered: TermCatalog
    key: keys.Request

    @property
    def term(self) -> int:
        return self.offered.term.id


def request(header: dict[str, Any], body: dict[str, Any]) -> Request:
    """What is to be given up; refuses what is not one's own, or not offered."""
    student, section = own(body["student_id"]), body["section_id"]
    offered = (
        semester(body["semester_id"])
        if "semester_id" in body
        else semester_of({"/section_id": section})
    )
    published(offered, section, "/section_id")
    return Request(student, section, offered, keys.chosen(header, body))


def decide(asked: Request, how: Callable[[Asked], Decision]) -> Decision:
    """The desk's answer."""
    return how(Asked(asked.student, asked.term, asked.section, asked.key.text, correlation()))


def facts(asked: Request, answer: Decision) -> dict[str, Any]:
    """What is told of either."""
    return {
        "section_id": asked.section,
        "student_id": asked.student,
        "semester_id": asked.term,
        "idempotency_key": asked.key.text,
        "reasons": in_words(answer.reasons, asked.offered, asked.section),
        "receipt": code(asked.term, answer.seq),
    }


def sentence(asked: Request, answer: Decision, along: Sequence[int] = ()) -> str:
    """What came of it, or all that stands in the way."""
    if not answer.reasons:
        return saying.plainly([replace(answer, replayed=False)], asked.term, along)
    reasons = in_words(answer.reasons, asked.offered, asked.section)
    return " ".join(each["message"] for each in reasons)
