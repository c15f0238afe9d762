"""POST /token: a signed token (JWT) in exchange for a service token."""

from typing import Any

from flask import abort, g
from flask.typing import ResponseReturnValue
from marshmallow import fields
from marshmallow.validate import OneOf

from portal.core.i18n import _, _l
from portal.people import signed_tokens
from portal.people.roles import SERVICE_SCOPES, Right
from portal.people.tokens import PREFIX
from portal.web.api.blueprint import bp, invalid
from portal.web.api.fields import described, items, one_of
from portal.web.api.schemas import Answer, Body, answer, envelope
from portal.web.http import authentication
from portal.web.http.access import needs_scope, requires, visitor

TOKEN_SCOPES = (*SERVICE_SCOPES, "read")


class TokenBody(Body):
    scopes = fields.List(
        fields.String(validate=OneOf(TOKEN_SCOPES, error=_l("There is no such scope."))),
        validate=items(1, len(TOKEN_SCOPES)),
        metadata={"description": "Fewer than the service token has; left out, all of them."},
    )


class TokenAnswer(Answer):
    access_token = described(fields.String, "A JWT signed with RS256.")
    token_type = one_of("Bearer")
    expires_in = described(fields.Integer, "Seconds.")
    scope = described(fields.String, "The scopes, separated by blanks.")


@bp.post("/token", tags=["administration"])
@requires(Right.CALL_ADMIN_API)
@needs_scope("read")
@bp.arguments(TokenBody, required=False)
@bp.response(200, envelope(TokenAnswer))
def signed_token(body: dict[str, Any]) -> ResponseReturnValue:
    """Exchange a service token for a signed token of ten minutes.

    Other services verify it with the keys of `/.well-known/jwks.json`. The portal accepts it in
    place of the service token, as long as that is not revoked. It can't be exchanged again.
    """
    if not (authentication.bearer() or "").startswith(PREFIX):
        abort(403)
    try:
        made = signed_tokens.issue(g.bearer, visitor().name, body.get("scopes"))
    except ValueError as lacking:
        message = _("The service token lacks: %(scopes)s.", scopes=lacking)
        raise invalid("/scopes", message) from lacking
    data = {
        "access_token": made.text,
        "token_type": "Bearer",
        "expires_in": made.seconds,
        "scope": " ".join(made.scopes),
    }
    return answer(data), 200, {"Cache-Control": "no-store"}
