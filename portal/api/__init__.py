"""The JSON API: a bearer token or a session, errors as problem details, an OpenAPI document."""

from flask import Flask

from portal.api import (
    available,
    captcha,
    docs,
    drop,
    leave,
    me,
    recording,
    register,
    registrations,
    rooms,
    semesters,
    windows,
)
from portal.api.docs.document import Document
from portal.api.entry import bp
from portal.api.schemas import Json

__all__ = [
    "available",
    "captcha",
    "docs",
    "drop",
    "leave",
    "me",
    "recording",
    "register",
    "registrations",
    "rooms",
    "semesters",
    "start",
    "windows",
]


def start(app: Flask) -> None:
    """Put the API's addresses into the app, and its document beside them."""
    app.json = Json(app)
    document = Document(app)
    document.register_blueprint(bp)
    docs.start(app, document)
