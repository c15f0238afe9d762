"""POST /register/leave: a place in line given up."""

from typing import Any

from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.api import giving_up, keys
from portal.api.entry import bp
from portal.api.giving_up import GivenUp, GivingUp
from portal.api.operations import about, asks, gives, takes
from portal.api.own import decided
from portal.recorder.events import moment
from portal.seats import desk
from portal.web.http.access import requires


class Left(GivenUp):
    left_at = fields.DateTime(allow_none=True)


EXAMPLE = {**giving_up.EXAMPLE, "left_at": "2030-08-01T20:15:00.020000+00:00"}


@bp.post("/register/leave")
@requires("student")
@asks(keys.Header, "headers")
@takes(GivingUp, example=giving_up.ASKED)
@about("registration", [404])
@gives(Left, example=EXAMPLE, headers=keys.TOLD)
def leave(header: dict[str, Any], body: dict[str, Any]) -> ResponseReturnValue:
    """Give a place in line up. Needs no pass, and no open window."""
    asked = giving_up.request(header, body)
    answer = giving_up.decide(asked, desk.leave)
    left = {"left_at": None if answer.reasons else moment(answer.at)}
    return decided(
        giving_up.facts(asked, answer) | left,
        giving_up.sentence(asked, answer),
        asked.key,
        granted=not answer.reasons,
        replayed=answer.replayed,
    )
