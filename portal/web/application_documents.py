"""What the pages of applications share: their texts, and documents as downloads.

No browser opens a document as a page of ours.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Response, abort
from flask.typing import ResponseReturnValue

from portal.applications import documents
from portal.applications.documents import MEDIA, REFUSED_DOCUMENT
from portal.applications.fees import FEE_REFUSED
from portal.applications.models import (
    ACTIONS,
    CHARGE_STATES,
    CHARGE_TONES,
    DOCUMENT_STATES,
    DOCUMENT_TONES,
    STATES,
    TONES,
)
from portal.applications.service import REFUSED
from portal.catalog.formatting import money
from portal.core.bulkheads import Bulkhead
from portal.core.moments import milliseconds
from portal.registration.reasons import permission_names
from portal.web.http.downloads import attachment

AT_ONCE = 4  # pages that a process draws at once
drawing = Bulkhead(AT_ONCE)

TEXTS = {
    "states": STATES,
    "tones": TONES,
    "actions": ACTIONS,
    "stale": REFUSED,
    "charge_states": CHARGE_STATES,
    "charge_tones": CHARGE_TONES,
    "fee_refused": FEE_REFUSED,
    "money": money,
    "moments": milliseconds,
    "rules": permission_names,
    "document_states": DOCUMENT_STATES,
    "document_tones": DOCUMENT_TONES,
    "document_refusals": REFUSED_DOCUMENT,
}


def document_to_download(application: int, document: int, by: int) -> ResponseReturnValue:
    """Return a checked document; the caller has checked who may read it. The trail records it."""
    try:
        found, content = documents.open_for(document, application, by)
    except (LookupError, OSError):
        abort(404)
    # A name of ours: that of the student may deceive.
    name = f"document-{found.id}.{found.type}"
    answer = attachment(name, content, MEDIA[found.type])
    answer.headers.set("Content-Security-Policy", "default-src 'none'; sandbox")
    return answer


def page_picture(application: int, document: int, page: int, by: int) -> ResponseReturnValue:
    """Return a page of a checked document as a picture that we drew ourselves."""
    try:
        with previews():
            content = documents.page_of(document, application, page, by)
    except (LookupError, OSError):
        abort(404)
    answer = Response(content, mimetype="image/png")
    answer.headers.set("Content-Security-Policy", "default-src 'none'; sandbox")
    return answer


@contextmanager
def previews() -> Iterator[None]:
    """Take a place for drawing a page; raise Full if there is none."""
    drawing.enter()
    try:
        yield
    finally:
        drawing.leave()
