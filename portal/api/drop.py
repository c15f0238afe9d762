"""POST /register/drop: a seat given up."""

from typing import Any

from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.api import giving_up, keys
from portal.api.entry import bp
from portal.api.fields import Id
from portal.api.giving_up import GivenUp, GivingUp
from portal.api.operations import about, asks, gives, takes
from portal.api.own import decided
from portal.api.promoted import next_in, processed
from portal.api.wanted import published
from portal.api.wrongs import so_many
from portal.ledger.types import Decision
from portal.recorder.events import moment
from portal.seats import desk
from portal.student.wish import MOST_TOGETHER
from portal.web.http.access import requires, visitor


class Drop(GivingUp):
    along = fields.List(
        Id(),
        load_default=list,
        validate=so_many(0, MOST_TOGETHER),
        metadata={
            "uniqueItems": True,
            "description": "Sections given up with it in one step. One that can't be held without"
            " another of them, such as the lab without its lecture, is no drop of its own; every"
            " other counts as a drop of the day. Waitlists named here are left.",
        },
    )


class Dropped(GivenUp):
    dropped_at = fields.DateTime(allow_none=True)
    seat_released = fields.Boolean(
        metadata={"description": "False where the section has as many students as seats still."}
    )
    waitlist_processed = fields.Boolean(
        allow_none=True,
        metadata={
            "description": "True: those who waited have been considered. False: there was nothing"
            " to do. Null: a worker is at it, as a rule for some milliseconds more."
        },
    )
    promoted_student_id = fields.Integer(
        allow_none=True,
        metadata={
            "description": "Who came in, if that is known yet: told to admins and to instructors"
            " of the section."
        },
    )


FREED = {
    "dropped_at": "2030-08-01T20:15:00.020000+00:00",
    "seat_released": True,
    "waitlist_processed": True,
    "promoted_student_id": None,
}
EXAMPLE = {**giving_up.EXAMPLE, **FREED}


@bp.post("/register/drop")
@requires("student")
@asks(keys.Header, "headers")
@takes(Drop, example=giving_up.ASKED)
@about("registration", [404])
@gives(Dropped, example=EXAMPLE, headers=keys.TOLD)
def drop(header: dict[str, Any], body: dict[str, Any]) -> ResponseReturnValue:
    """Give a seat up; it goes to the head of the waitlist, if anyone is on it. Needs no pass."""
    asked, along = giving_up.request(header, body), body["along"]
    for number, section in enumerate(along):
        published(asked.offered, section, f"/along/{number}")
    answer = giving_up.decide(asked, lambda who: desk.drop(who, along))
    return decided(
        giving_up.facts(asked, answer) | _freed(asked, answer),
        giving_up.sentence(asked, answer, along),
        asked.key,
        granted=not answer.reasons,
        replayed=answer.replayed,
    )


def _may_know_who(asked: giving_up.Request) -> bool:
    """Whether the visitor may see who came in: an admin, or an instructor of the section."""
    who, card = visitor(), asked.offered.section(asked.section)
    teaches = card is not None and not who.teacher_ids.isdisjoint(card.teacher_ids)
    return teaches or "admin" in who.roles


def _freed(asked: giving_up.Request, answer: Decision) -> dict[str, Any]:
    if answer.reasons:
        return dict.fromkeys(FREED) | {"seat_released": False, "waitlist_processed": False}
    done = processed(asked.term, answer)
    seen = done and _may_know_who(asked)
    return {
        "dropped_at": moment(answer.at),
        "seat_released": bool(answer.seats and answer.seats.open),
        "waitlist_processed": done,
        "promoted_student_id": next_in(asked.term, answer) if seen else None,
    }
