"""An admin's changes of accounts, students and courses, through their forms."""

from typing import Any

from flask.testing import FlaskClient
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from tests.web.admin.sections.forms import inputs
from tests.web.pages import send

WHY = "The dean has written."


def confirmed(admin: FlaskClient, path: str, form: Any) -> TestResponse:
    """Send a form, and confirm it if it can be."""
    shown = send(admin, path, form)
    if 'name="confirmed"' not in shown.text:
        return shown
    return send(admin, path, with_reason(shown.text))


def with_reason(page: str) -> MultiDict[str, str]:
    """Return what the form of a review sends."""
    form = inputs(page)
    form["reason"] = WHY
    return form


def edited(admin: FlaskClient, page: str, **changes: Any) -> TestResponse:
    """Send the form of a record with changes, and confirm it if it can be."""
    form = inputs(admin.get(f"{page}/edit").text)
    for name, value in changes.items():
        form.setlist(name, value if isinstance(value, list) else [value])
    return confirmed(admin, f"{page}/edit", form)
