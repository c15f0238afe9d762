"""The form that schedules a window: filled in, previewed and confirmed."""

from datetime import datetime, timedelta
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import backend
from portal.catalog.models import Term
from portal.ledger.types import WindowView


def from_now(days: int, clock: str = "09:00") -> str:
    zone = backend().settings.zone
    return f"{datetime.now(zone) + timedelta(days=days):%Y-%m-%d}T{clock}"


def a_form(**fields: Any) -> dict[str, Any]:
    form = {"name": "Seniors first", "opens": from_now(30), "closes": from_now(31)}
    return {**form, "whom": "everyone", **fields}


def send(admin: FlaskClient, term: Term, **fields: Any) -> TestResponse:
    """Send the form and return the next page."""
    address = f"/admin/terms/{term.id}/windows"
    return admin.post(address, data=a_form(**fields), follow_redirects=True)


def confirm(admin: FlaskClient, looked: TestResponse) -> TestResponse:
    return admin.post(looked.request.path)


def windows(term: Term) -> list[WindowView]:
    return backend().ledger.windows(term.id)
