"""GET /calendar/<secret>.ics: a student's classes, for the programs that the student gave it to."""

from datetime import UTC, datetime
from hashlib import sha256

from flask import Blueprint, Response, abort, request

from portal.access import public
from portal.backend import backend
from portal.db import transaction
from portal.gate.limits import TooMany, spend
from portal.gate.meter import Charge, Limit, meters
from portal.languages import speaking
from portal.schedule import classes, feeds, ical
from portal.words import _

bp = Blueprint("calendar", __name__, url_prefix="/calendar")

EPOCH = datetime.fromtimestamp(0, UTC)


# One service may fetch the calendars of a whole campus from one address: so what counts for an
# address is what was not found.
OF_SECRET = Limit("calendar", at_once=10, a_minute=2)
NOT_FOUND = Limit("calendar-unknown", at_once=60, a_minute=60)


@bp.get("/<secret>.ics")
@public
def feed(secret: str) -> Response:
    """The calendar of a secret; 404 where it is none, or has been turned off."""
    unknown = Charge(NOT_FOUND, request.remote_addr or "")
    known = Charge(OF_SECRET, sha256(secret.encode()).hexdigest())
    if wait := meters().look(unknown):
        raise TooMany(wait)
    spend(known)
    with transaction() as session:
        found = feeds.find(session, secret)
        if found is None:
            meters().owe(unknown)
            abort(404)
        kept, language = found
        held = classes.held(session, kept.student_id)
        digest = sha256(_written(held, language, EPOCH)).hexdigest()
        changed = feeds.since(kept, digest)
    return _answer(_written(held, language, changed), digest, changed)


def _written(held: list[classes.Held], language: str, stamp: datetime) -> bytes:
    settings = backend().settings
    with speaking(language):
        name = _("Classes at %(institution)s", institution=settings.institution)
        return ical.calendar(held, name, settings.zone, stamp)


def _answer(text: bytes, digest: str, changed: datetime) -> Response:
    response = Response(text, mimetype="text/calendar")
    response.headers["Content-Disposition"] = 'inline; filename="classes.ics"'
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["X-Robots-Tag"] = "noindex"
    response.last_modified = changed
    response.set_etag(digest[:32])
    response.make_conditional(request)
    return response
