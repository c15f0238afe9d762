"""GET /captcha: a challenge, for those whom the waiting room asks for a proof."""

from typing import Any

from marshmallow import fields

from portal.api.entry import bp
from portal.api.operations import about, gives
from portal.api.schemas import Said, said
from portal.protection import captcha
from portal.web.http.access import signed_in, visitor

EXAMPLE = {
    "needed": True,
    "challenge": {
        "parameters": {
            "algorithm": "PBKDF2/SHA-256",
            "cost": 1000,
            "keyLength": 32,
            "keyPrefix": "1fe3…",
            "nonce": "70f1…",
            "salt": "9c1b…",
        },
        "signature": "4be0…",
    },
}


class Challenge(Said):
    needed = fields.Boolean(metadata={"description": "Whether a proof is asked for at all."})
    challenge = fields.Dict(metadata={"description": "A puzzle, as ALTCHA's solvers take it."})


@bp.get("/captcha")
@signed_in
@about("waiting room")
@gives(Challenge, example=EXAMPLE)
def captcha_challenge() -> dict[str, Any]:
    """A puzzle for this account, whose solution counts once: proof of work, for no one's eyes."""
    return said({"needed": captcha.needed(), "challenge": captcha.challenge(visitor().id)})
