"""GET /calendar/<secret>.ics: a student's classes, for the calendar programs they choose."""

from datetime import UTC, datetime
from hashlib import sha256

from flask import Blueprint, Response, abort, request

from portal.backend import backend
from portal.calendar import feeds, ical
from portal.core.db import transaction
from portal.core.i18n import _, in_language
from portal.web.http.access import public
from portal.web.http.extensions import limiter
from portal.web.http.request_info import client_address

bp = Blueprint("calendar", __name__, url_prefix="/calendar")

EPOCH = datetime.fromtimestamp(0, UTC)


def _secret() -> str:
    """Return the rate limit key of a secret, which does not reveal it."""
    given = str((request.view_args or {}).get("secret", ""))
    return sha256(given.encode()).hexdigest()


def _unknown(response: Response) -> bool:
    return response.status_code == 404


# One service may fetch the calendars of a whole campus from one address. So the limit of an address
# counts only calendars that do not exist.
@bp.get("/<secret>.ics")
@public
@limiter.limit("10/minute;120/hour", key_func=_secret)
@limiter.limit("60/minute", key_func=client_address, deduct_when=_unknown)
def feed(secret: str) -> Response:
    """Return the calendar of a secret; 404 if it is unknown or has been turned off."""
    with transaction() as session:
        found = feeds.find(session, secret)
        if found is None:
            abort(404)
        content, language = found
        held = ical.enrolled_meetings(session, content.student_id)
        digest = sha256(_written(held, language, EPOCH)).hexdigest()
        changed = feeds.since(content, digest)
    return _answer(_written(held, language, changed), digest, changed)


def _written(held: list[ical.ClassMeeting], language: str, stamp: datetime) -> bytes:
    settings = backend().settings
    with in_language(language):
        name = _("Classes at %(institution)s", institution=settings.institution)
        return ical.render_calendar(held, name, settings.zone, stamp)


def _answer(text: bytes, digest: str, changed: datetime) -> Response:
    response = Response(text, mimetype="text/calendar")
    response.headers["Content-Disposition"] = 'inline; filename="classes.ics"'
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["X-Robots-Tag"] = "noindex"
    response.last_modified = changed
    response.set_etag(digest[:32])
    response.make_conditional(request)
    return response
