"""Every request to the API gets a documented response, and never a 5xx.

`SCHEMATHESIS=300 pytest tests/web/api/test_schemathesis.py` makes so many random requests to each
operation.
"""

import os
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
import schemathesis
from flask import Flask
from schemathesis import Case, HookContext
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, from_schema
from schemathesis.engine.events import EngineEvent, FatalError, NonFatalError, ScenarioFinished
from werkzeug.serving import make_server

from portal.applications import documents
from portal.applications.models import Application
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people.models import Student
from portal.web.api.fields import LARGEST_ID
from tests import cast as builders
from tests.applications.files import a_pdf
from tests.applications.stories import a_draft, an_application
from tests.cast import Cast
from tests.soak import SOAK, rounds
from tests.web.api.callers import ROOT, caller, program

pytestmark = pytest.mark.slow

BY_CHANCE = int(os.environ.get("SCHEMATHESIS", "0"))
REFUSED = rounds(1, soak=3)  # tries as a caller who may do little
# Where a caller has no rights, and only `make soak` tries each limit of each value.
OUT_OF_REACH = {
    "ada": {"include-path-regex": "/admin/"},
    "a program": {"exclude-path-regex": "/admin/"},
}
CONFIG: dict[str, Any] = {
    # A valid id may be unknown, and a key may be used for another request.
    "checks": {
        "positive_data_acceptance": {"expected-statuses": ["2xx", "4xx"]},
        "negative_data_rejection": {"expected-statuses": ["4xx"]},  # also 413: it may be long
    },
    # These two report that no workers run in this test.
    "operations": [
        {
            "include-path": ["/health", "/ready"],
            "checks": {
                "not_a_server_error": {"expected-statuses": ["2xx", "4xx", "503"]},
                "positive_data_acceptance": {"expected-statuses": ["2xx", "503"]},
            },
        }
    ],
    "continue-on-failure": True,
    "warnings": False,
}

OF_APPLICATIONS = {
    f"{method} {ROOT}/applications{rest}"
    for method, rest in (
        ("GET", ""),
        ("POST", ""),
        ("GET", "/{application_id}"),
        ("POST", "/{application_id}/answers"),
        ("POST", "/{application_id}/documents"),
        ("DELETE", "/{application_id}/documents/{document_id}"),
        ("POST", "/{application_id}/submit"),
    )
}

Story = dict[str, list[Any]]


@pytest.fixture
def story(cast: Cast) -> Story:
    """Return the ids that requests may use."""
    term = builders.a_term()
    windows = [builders.an_open_window(term), builders.a_coming_window(term)]
    course = builders.a_course()
    sections = [
        builders.a_section(course, term, capacity=seats, instructor=cast.iris)
        for seats in (0, 1, 9)
    ]
    ids = [each.id for each in sections]
    applications = applications_of(cast.ada, sections)
    return {
        "application_id": applications,
        "document_id": documents_of(applications[0]),
        "student_id": [cast.ada.id, cast.ada.id, cast.ben.id],
        "semester_id": [term.id],
        "section_id": ids,
        "section_ids": ids,
        "instead_of": ids,
        "course_id": [course.id],
        "window_id": [each.id for each in windows],
        "student_number": [cast.ada.number, cast.ben.number],
    }


def applications_of(student: Student, sections: list[Section]) -> list[int]:
    """Return a draft with documents, which comes up most, a complete draft, and one in review."""
    first, second, third = sections
    sent = an_application("permission", student, first, documents=[a_pdf()])
    complete = a_draft("late_add", student, second)
    draft = a_draft("late_add", student, third, documents=[a_pdf(1), a_pdf(2), a_pdf(3)])
    documents.check_due()
    return [draft, draft, complete, sent]


def documents_of(application: int) -> list[int]:
    with transaction() as session:
        return [each.id for each in session.get_one(Application, application).documents]


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    """Serve the application over HTTP and return its address."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def named(story: Story) -> Iterator[None]:
    """Replace most valid ids by ones of the story."""

    def before_call(_: HookContext, case: Case, __: Any) -> None:
        for part in ("path_parameters", "query", "body"):
            found = of_story(getattr(case, part), story)
            if found != getattr(case, part):
                setattr(case, part, found)

    schemathesis.hook(before_call)
    yield
    schemathesis.hooks.unregister(before_call)


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("who", "tries", "reached"),
    [
        ("ada", rounds(3, soak=15), {200, 202, 400, 403, 404, 405, 409, 415, 422}),
        ("iris", REFUSED, {200, 403}),
        ("max", REFUSED, {200, 403}),
        ("a program", rounds(4, soak=8), {200, 202, 400, 403, 404, 405, 409, 415, 422}),
        ("nobody", 3, {200, 401}),
    ],
)
def test_every_response_is_documented(
    app: Flask, address: str, who: str, tries: int, reached: set[int]
) -> None:
    headers = headers_of(app, who)
    settings = CONFIG | effort(BY_CHANCE or tries) | {"headers": headers}
    if not (BY_CHANCE or SOAK):
        without_limits = {"phases": {"coverage": {"enabled": False}}}
        refused = OUT_OF_REACH.get(who, {"include-path-regex": "/"})
        settings |= {"operations": [*CONFIG["operations"], refused | without_limits]}
    config = SchemathesisConfig.from_dict(settings)
    schema = schemathesis.openapi.from_url(f"{address}{ROOT}/openapi.json", config=config)
    wrong, statuses, worked = [], set[int](), set[str]()
    for event in from_schema(schema).execute():
        wrong += wrongs(event)
        if isinstance(event, ScenarioFinished):
            found = event.recorder.interactions.values()
            statuses |= {each.response.status_code for each in found if each.response}
            worked |= operations_that_worked(event)
    assert not wrong, "\n\n".join(wrong)
    assert statuses >= reached
    if who == "ada":
        assert worked >= OF_APPLICATIONS


def operations_that_worked(event: ScenarioFinished) -> set[str]:
    """Return the operations that a request got past the checks of its address and body."""
    interactions = event.recorder.interactions
    return {
        case.value.operation.label
        for number, case in event.recorder.cases.items()
        if (found := interactions.get(number)) and found.response
        if found.response.status_code in {200, 201, 202, 409}
    }


def headers_of(app: Flask, who: str) -> dict[str, str]:
    """Return the headers of a person's or a program's requests."""
    if who == "nobody":
        return {}
    return (program(app) if who == "a program" else caller(app, who)).headers()


def effort(tries: int) -> dict[str, Any]:
    """Return how many requests each operation gets; the same ones unless random."""
    generation = {"max-examples": tries, "deterministic": not BY_CHANCE, "database": "none"}
    learns: dict[str, Any] = {"extra-data-sources": {"responses": bool(BY_CHANCE)}}
    phases = {
        "coverage": learns,
        "fuzzing": learns | {"error-feedback": {"enabled": bool(BY_CHANCE)}},
        "stateful": {"max-steps": 4, "generation": generation},
    }
    found = {"generation": generation, "phases": phases}
    return found if BY_CHANCE else found | {"seed": 1}


def wrongs(event: EngineEvent) -> Iterator[str]:
    """Return the failures, each with its request."""
    if isinstance(event, FatalError):
        yield str(event.exception)
    elif isinstance(event, NonFatalError):
        yield f"{event.label}: {event.value}"
    elif isinstance(event, ScenarioFinished):
        for case, checks in event.recorder.checks.items():
            for check in checks:
                if check.status != Status.SUCCESS and check.failure_info:
                    yield f"{check.failure_info.failure}\n{event.recorder.cases[case].value!r}"


def of_story(value: Any, story: Story, name: str = "") -> Any:
    """Return the strategy with ids of the story in most id fields."""
    if isinstance(value, dict):
        return {key: of_story(each, story, key) for key, each in value.items()}
    if isinstance(value, list):
        return [of_story(each, story, name) for each in value]
    known = story.get(name)
    if known and name == "student_number" and isinstance(value, str) and len(value) % 8:
        return known[len(value) % len(known)]
    fits = type(value) is int and 0 < value <= LARGEST_ID and value % 8
    return known[value % len(known)] if known and fits else value
