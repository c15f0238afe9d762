"""Instructors who decide applications for their department."""

from flask.testing import FlaskClient
from sqlalchemy import update
from werkzeug.test import TestResponse

from portal.catalog.models import Instructor
from portal.core.db import transaction
from portal.people import visitors
from tests.applications.stories import the

HERE = "/teaching/applications"


def set_instructor(instructor: Instructor, **values: object) -> None:
    """Change the row of an instructor, as if it had been so before."""
    with transaction() as session:
        changed = update(Instructor).where(Instructor.id == instructor.id)
        session.execute(changed.values(**values))
    visitors.forget(instructor.account_id or 0)


def set_decider(
    admin: FlaskClient, instructor: Instructor, decides: str, department: str = "SCI"
) -> TestResponse:
    """Send the form that an admin confirms, for a department that it showed."""
    form = {"account": "iris", "decides": decides, "department": department}
    form["reason"] = "The chair asked."
    return admin.post(f"/admin/instructors/{instructor.id}/decider", data=form)


def press(
    browser: FlaskClient, application: int, decision: str, where: str = HERE, **more: object
) -> TestResponse:
    """Send the form of a page that was opened just now."""
    sent = {"decision": decision, "note": "Fine.", "version": the(application).version, **more}
    return browser.post(f"{where}/{application}", data=sent)
