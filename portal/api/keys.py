"""Idempotency: one key, one decision, however often it is asked for."""

import logging
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import marshmallow as ma
from flask import g
from flask.typing import ResponseReturnValue

from portal.api.entry import bp
from portal.api.fields import Key
from portal.api.kinds import kind
from portal.api.reading import fault
from portal.core import logs
from portal.core.i18n import _, _l
from portal.ledger.errors import LedgerSilent
from portal.web.http.errors import LATER, UNSURE, Words, problem

log = logging.getLogger(__name__)

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
TOLD = (HEADER, REPLAYED)  # with every decision

SILENT = Words(
    UNSURE.title,
    _l("Send the same request again, with the Idempotency-Key of this answer: it counts once."),
    kind("silent"),
)


class Header(ma.Schema):
    """The header that carries a key."""

    key = Key(data_key=HEADER)


@dataclass(frozen=True)
class Request:
    """The key of a request: the client's, or one that was made for it."""

    text: str


def chosen(header: dict[str, Any], body: dict[str, Any]) -> Request:
    """The key of the header or of the body, else a new one; refuses two that differ."""
    given = {key for key in (header.get("key"), body.get("idempotency_key")) if key}
    if len(given) > 1:
        message = _("The header and the body have different keys.")
        raise fault("/idempotency_key", message, 400)
    found = Request(given.pop() if given else uuid4().hex)
    g.idempotency_key = found.text
    return found


def headers(request: Request, *, replayed: bool) -> dict[str, str]:
    """What an answer says of its key."""
    return {HEADER: request.text} | ({REPLAYED: "true"} if replayed else {})


@bp.errorhandler(LedgerSilent)
def _silent(error: LedgerSilent) -> ResponseReturnValue:
    """Whoever sent no key is told the one that was made, so as to ask again under it."""
    logs.warn(log, "No answer to a decision", error)
    made = {HEADER: str(g.idempotency_key)} if "idempotency_key" in g else {}
    return problem(503, SILENT, LATER | made)
