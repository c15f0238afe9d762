"""POST /register: seats or places in line, all decided in one step."""

from itertools import chain
from typing import Any

from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.api import keys, wanted
from portal.api.entry import bp
from portal.api.examples import RESULT
from portal.api.fields import Id, Key, Yes
from portal.api.kinds import kind
from portal.api.operations import about, asks, gives, takes
from portal.api.own import decided, own, semester, semester_of
from portal.api.results import Result, Summary, sentence, summary, told
from portal.api.schemas import Body, Said
from portal.api.wrongs import so_long, so_many
from portal.catalog.term_catalog import TermCatalog
from portal.core.correlation import correlation
from portal.core.i18n import _l
from portal.ledger.errors import NotAdmitted
from portal.recorder.events import moment
from portal.seats import desk
from portal.seats.desk import Asker
from portal.web.http import guard
from portal.web.http.access import requires
from portal.web.http.errors import Words
from portal.web.http.guard import AccessTokenRequired, needs_access_token

MOST = 20  # sections of one request
NO_PASS = Words(
    _l("This takes a pass of the waiting room"),
    _l("Nothing was changed. POST /api/v1/waiting-room/{window_id}/requests gives passes out."),
    kind("no-pass"),
)


class Register(Body):
    student_id = Id(required=True, metadata={"description": "Your own."})
    semester_id = Id(metadata={"description": "Not needed: sections are of one semester."})
    section_ids = fields.List(
        wanted.Item(),
        required=True,
        validate=so_many(1, MOST),
        metadata={
            "uniqueItems": True,
            "description": "Sections by id, or objects where there is more to say. Those whose"
            " courses need each other, as a lecture and its lab, are had together or not at all.",
        },
    )
    wait = Yes(
        load_default=False,
        metadata={"description": "Whether a place in line is welcome where no seat is left."},
    )
    idempotency_key = Key()


class Header(keys.Header):
    """The headers that carry a key and a pass."""

    held = fields.String(
        data_key=guard.HEADER,
        validate=so_long(0, 1000),
        metadata={"description": "The access token of the waiting room, where there is a gate."},
    )


class Registered(Said):
    student_id = fields.Integer()
    semester_id = fields.Integer()
    decided_at = fields.DateTime()
    idempotency_key = fields.String()
    results = fields.List(fields.Nested(Result))
    summary = fields.Nested(Summary)


ASKED = {"student_id": 5, "semester_id": 7, "section_ids": [412, {"section_id": 415, "wait": True}]}
EXAMPLE = {
    "student_id": 5,
    "semester_id": 7,
    "decided_at": "2030-08-01T13:00:00.412000+00:00",
    "idempotency_key": "2030-08-01-morning",
    "results": [RESULT],
    "summary": {
        "total_requested": 1,
        "enrolled": 1,
        "waitlisted": 0,
        "already_registered": 0,
        "errors": 0,
    },
}


@bp.post("/register")
@requires("student")
@needs_access_token
@asks(Header, "headers")
@takes(Register, example=ASKED)
@about("registration", [404])
@gives(Registered, example=EXAMPLE, headers=keys.TOLD)
def register(header: dict[str, Any], body: dict[str, Any]) -> ResponseReturnValue:
    """Register for sections of one semester, in one step, with a result for each.

    It is 200 where anything was had, and 409 with the same `data` where all was refused. Every
    decision, a refusal too, is kept for a day under its idempotency key and answered again word
    for word. To try again after a refusal, take a new key.
    """
    student, offered = own(body["student_id"]), _offered(body)
    passed, key = guard.access_token(), keys.chosen(header, body)
    if passed and passed.term != offered.term.id:
        raise AccessTokenRequired
    lines = wanted.lines(body, offered)
    groups = wanted.together(lines, offered)
    wishes = [wanted.wish(group) for group in groups]
    window = passed.window if passed else None
    asker = Asker(student, offered.term.id, key.text, correlation(), window)
    found = desk.submit(asker, wishes, wanted.content(lines))
    order = {line.card.id: line.number for line in chain.from_iterable(groups)}
    each = sorted(told(found, offered, student), key=lambda one: order[one["section_id"]])
    counts = summary(each)
    return decided(
        {
            "student_id": student,
            "semester_id": offered.term.id,
            "decided_at": moment(found.at),
            "idempotency_key": key.text,
            "results": each,
            "summary": counts,
        },
        sentence(counts),
        key,
        granted=counts["errors"] < len(each),
        replayed=found.replayed,
    )


def _offered(body: dict[str, Any]) -> TermCatalog:
    """The semester that the body names, or that its sections are of."""
    if "semester_id" in body:
        return semester(body["semester_id"])
    items = enumerate(body["section_ids"])
    return semester_of({f"/section_ids/{at}": item["section_id"] for at, item in items})


@bp.errorhandler(AccessTokenRequired)
@bp.errorhandler(NotAdmitted)
def _no_pass(_error: Exception) -> ResponseReturnValue:
    return guard.refused(NO_PASS)
