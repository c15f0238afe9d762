"""/.well-known/jwks.json: the public keys that verify our signed tokens."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from portal.people import signing_keys
from portal.web.http.access import public

SECONDS = 60  # that a verifier may keep the keys

bp = Blueprint("well_known", __name__, url_prefix="/.well-known")


@bp.get("/jwks.json")
@public
def jwks() -> ResponseReturnValue:
    """Return the public keys as a JSON Web Key Set (RFC 7517)."""
    response = jsonify({"keys": [dict(each) for each in signing_keys.keys().public]})
    response.headers["Cache-Control"] = f"public, max-age={SECONDS}"
    return response
