"""Idempotency keys: a request is decided once under its key, however often it is sent."""

import logging
from typing import Any
from uuid import uuid4

import marshmallow as ma
from flask import g, request
from flask.typing import ResponseReturnValue

from portal.core import logs
from portal.core.i18n import _, _l
from portal.ledger.errors import KeyReused, LedgerSilent
from portal.web.api.blueprint import bp, field_error, invalid, refused
from portal.web.api.fields import IdempotencyKey
from portal.web.api.schemas import answer, problem_type
from portal.web.http.errors import LATER, UNSURE, Message, problem

log = logging.getLogger(__name__)

KEY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotency-Replayed"
HEADERS = {
    KEY_HEADER: {
        "description": "The key of this request: yours, or the one that was made for it.",
        "schema": {"type": "string"},
    },
    REPLAYED_HEADER: {
        "description": "`true` if this repeats the answer to an earlier request with this key.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}

REUSED = Message(
    _l("This idempotency key was used for another request"),
    _l("Use a new key. The decision of the first request is unchanged."),
    problem_type("key-reused"),
)
SILENT = Message(
    UNSURE.title,
    _l("Send the same request again with the Idempotency-Key of this response. It counts once."),
    problem_type("silent"),
)


class KeyHeader(ma.Schema):
    """The header that carries a key."""

    key = IdempotencyKey(data_key=KEY_HEADER)


def chosen_key(headers: dict[str, Any], body: dict[str, Any]) -> str:
    """Return the key of the header or the body, or a new one.

    Raise InvalidRequest if the two differ.
    """
    given = {key for key in (headers.get("key"), body.get("idempotency_key")) if key}
    if len(given) > 1:
        message = _("The header and the body have different idempotency keys.")
        raise invalid("/idempotency_key", message, 400)
    g.idempotency_key = given.pop() if given else uuid4().hex
    return str(g.idempotency_key)


def headers_of(key: str, *, replayed: bool) -> dict[str, str]:
    """Return the headers of a response: the key, and whether the answer is repeated."""
    return {KEY_HEADER: key} | ({REPLAYED_HEADER: "true"} if replayed else {})


def decision(
    schema: ma.Schema, data: dict[str, Any], message: str, *, granted: bool, replayed: bool
) -> ResponseReturnValue:
    """Return a success response if anything was granted, else a problem with the same data."""
    headers = headers_of(data["idempotency_key"], replayed=replayed)
    if granted:
        return answer(data, message), 200, headers
    return problem(409, refused(message), headers, data=schema.dump(data))


@bp.errorhandler(KeyReused)
def _reused(_error: KeyReused) -> ResponseReturnValue:
    by_header = KEY_HEADER in request.headers
    pointer = f"/{KEY_HEADER}" if by_header else "/idempotency_key"
    error = field_error(pointer, str(REUSED.title), "header" if by_header else "body")
    return problem(400, REUSED, errors=[error])


@bp.errorhandler(LedgerSilent)
def _silent(error: LedgerSilent) -> ResponseReturnValue:
    """Return the generated key, so that the client can repeat the request under it."""
    logs.warn(log, "No answer to a decision", error)
    made = {KEY_HEADER: str(g.idempotency_key)} if "idempotency_key" in g else {}
    return problem(503, SILENT, LATER | made)
