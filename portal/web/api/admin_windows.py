"""Selection windows, for programs: create, move, extend, close and cancel them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from marshmallow import fields

from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.core.i18n import _
from portal.core.moments import milliseconds
from portal.ledger.errors import WindowRefused
from portal.people.api_requests import Refusal
from portal.people.models import ApiRequest
from portal.web.admin.window_forms import FARTHEST, MOST_STUDENTS, TOO_FAR
from portal.web.admin.windows import REFUSED
from portal.web.api.admin_changes import (
    SEMESTER,
    WINDOW,
    Act,
    Change,
    existing_window,
    program_change,
)
from portal.web.api.blueprint import invalid
from portal.web.api.fields import Moment, characters, described, items, one_of
from portal.web.api.schemas import Answer, Body
from portal.web.http.access import visitor
from portal.windows import cohorts, service
from portal.windows.cohorts import Cohort
from portal.windows.service import Author, NewWindow

SCOPE = "windows"
LONGEST_NAME = 120
MOST_NAMES = 200


def _names(description: str, most: int = MOST_NAMES) -> fields.List[Any]:
    return fields.List(
        fields.String(validate=characters(1, 60)),
        validate=items(1, most),
        metadata={"description": description},
    )


def _time(description: str) -> Any:
    return described(fields.AwareDateTime, description, required=True, format="iso")


class CohortBody(Body):
    """The cohort of a window: a student must match every list that is given."""

    years = _names("Class years.")
    levels = _names("Levels.")
    subjects = _names("Codes of majors and minors.")
    students = _names("Student numbers.", MOST_STUDENTS)


class Times(Change):
    opens_at = _time("When the window opens, with its time zone.")
    closes_at = _time("The first moment that is too late.")


class NewTimes(Times):
    name = fields.String(
        required=True,
        validate=characters(1, LONGEST_NAME),
        metadata={"description": "Students see it.", "pattern": r"\S"},
    )
    cohort = fields.Nested(
        CohortBody, metadata={"description": "Without one, the window is for everyone."}
    )


class Extension(Change):
    closes_at = _time("The new end, later than the one now.")


class ChangedWindow(Answer):
    semester_id = fields.Integer()
    window_id = fields.Integer(attribute="window.id")
    name = fields.String(attribute="window.name")
    opens_at = Moment(attribute="window.opens")
    closes_at = Moment(attribute="window.closes")
    state = one_of("scheduled", "closed", "canceled", attribute="window.state")
    cohort = described(fields.Dict, "Empty: everyone.", attribute="window.cohort")


@program_change(
    f"{SEMESTER}/windows",
    SCOPE,
    NewTimes,
    ChangedWindow,
    status=201,
    stored=lambda: {"window": service.new_id()},
)
def create_window(body: dict[str, Any], semester_id: int) -> Act:
    """Schedule a window."""
    term = catalog_of(semester_id).term.id
    if not body["name"].isprintable() or not body["name"].strip():
        raise invalid("/name", _("Enter a name that students will recognize."))
    opens, closes = _times(body)
    cohort = _cohort(body.get("cohort", {}))
    wanted = NewWindow(body["name"].strip(), opens, closes, cohort)

    def act(row: ApiRequest) -> tuple[dict[str, Any], str]:
        window = row.data["window"]
        author = Author(visitor().id, body["reason"].strip())
        try:
            service.schedule(term, window, wanted, author.by, author.reason)
        except WindowRefused as refusal:
            raise Refusal(REFUSED[refusal.code]) from refusal
        return _changed(term, window), _("Scheduled.")

    return act


@program_change(f"{WINDOW}/move", SCOPE, Times, ChangedWindow)
def move_window(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """Move a window that has not opened to other times."""
    opens, closes = _times(body)
    times = {"opens": opens, "closes": closes}
    return _change(body, (semester_id, window_id), service.move, times)


@program_change(f"{WINDOW}/extend", SCOPE, Extension, ChangedWindow)
def extend_window(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """Let an open window close later."""
    times = {"closes": _near(body["closes_at"], "/closes_at")}
    return _change(body, (semester_id, window_id), service.extend, times)


@program_change(f"{WINDOW}/close", SCOPE, Change, ChangedWindow)
def close_window(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """Close an open window now."""
    return _change(body, (semester_id, window_id), service.close, {}, state="closed")


@program_change(f"{WINDOW}/cancel", SCOPE, Change, ChangedWindow)
def cancel_window(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """Cancel a window that has not opened."""
    return _change(body, (semester_id, window_id), service.cancel, {}, state="canceled")


def _change(
    body: dict[str, Any],
    where: tuple[int, int],
    do: Callable[..., object],
    times: Mapping[str, int],
    state: str = "scheduled",
) -> Act:
    existing_window(*where)
    author = Author(visitor().id, body["reason"].strip())

    def act(row: ApiRequest) -> tuple[dict[str, Any], str]:
        try:
            do(*where, **times, author=author)
        except WindowRefused as refusal:
            # An earlier try may have died after the ledger's step.
            if row.tries == 1 or not _is_so(where, times, state):
                raise Refusal(REFUSED[refusal.code]) from refusal
        return _changed(*where), _("Saved.")

    return act


def _is_so(where: tuple[int, int], times: Mapping[str, int], state: str) -> bool:
    window = existing_window(*where)
    return window.state == state and all(getattr(window, name) == at for name, at in times.items())


def _changed(term: int, window: int) -> dict[str, Any]:
    return {"semester_id": term, "window": existing_window(term, window)}


def _times(body: dict[str, Any]) -> tuple[int, int]:
    """Return the times (ms) of a body; raise InvalidRequest."""
    opens, closes = (_near(body[f"{name}_at"], f"/{name}_at") for name in ("opens", "closes"))
    if opens >= closes:
        raise invalid("/closes_at", _("The end must be after the start."))
    return opens, closes


def _near(at: datetime, pointer: str) -> int:
    """Return a time in ms; raise InvalidRequest for one that is years away."""
    found = milliseconds(at)
    if abs(found - backend().ledger.now()) > FARTHEST:
        raise invalid(pointer, TOO_FAR % {"field": pointer.strip("/")})
    return found


def _cohort(given: Mapping[str, list[str]]) -> Cohort:
    """Return the cohort of a body; raise InvalidRequest for unknown names."""
    with transaction() as session:
        offered = cohorts.choices(session)
        for kind, names in given.items():
            if kind != "students" and set(names) - offered[kind].keys():
                unknown = sorted(set(names) - offered[kind].keys())
                message = _("No student matches %(names)s.", names=", ".join(unknown[:5]))
                raise invalid(f"/cohort/{kind}", message)
        numbers = [each.replace("\0", "") for each in given.get("students", ())]
        if numbers and (unknown := cohorts.unknown_students(session, numbers)):
            message = _("No student has the number %(numbers)s.", numbers=", ".join(unknown[:5]))
            raise invalid("/cohort/students", message)
    return {kind: sorted(set(names)) for kind, names in given.items()}
