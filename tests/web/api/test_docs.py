"""docs/api.md: every example runs in the page's order and gets the documented response."""

import json
import re
import shlex
from pathlib import Path
from string import Template
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.core.settings import ROOT
from portal.waiting_room import room
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.api.callers import caller, program

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORTAL = "http://localhost"
MORE = "…"  # stands for omitted content
# Ids, moments and codes are other ones each time.
VARIES = re.compile(r"(.+_)?id|.+_at|now|receipt|access_token|poll_after")
# Values of a response, by the names that later requests use.
KEPT = {"student_id": "STUDENT", "request_id": "REQUEST", "access_token": "PASS"}


def test_every_example_gets_the_documented_response(guarded: Flask, cast: Cast) -> None:
    known = a_story(guarded, cast)
    client, answer = guarded.test_client(), {}
    blocks = BLOCK.findall(PAGE)
    assert len(blocks) > 12
    for kind, text in blocks:
        if kind == "python":
            result: dict[str, Any] = {"answer": answer}
            exec(text, result)  # noqa: S102 - our own page
            known["CAPTCHA"] = result["captcha"]
            continue
        requested, status, expected = parts(text)
        if "$REQUEST" in requested:
            room.set_limits(int(known["SEMESTER"]), int(known["WINDOW"]), 6000, 100, off=False)
        response = curl(client, requested, known)
        assert response.status_code == int(status), f"{requested}\n{response.text}"
        answer = response.json
        compare(expected, answer, requested)
        known |= stored_values(answer)


def a_story(app: Flask, cast: Cast) -> dict[str, str]:
    """Create the examples' data, and return its ids by the names in the examples."""
    term = builders.a_term()
    window = builders.an_open_window(term)
    course = builders.a_course("CSC-1100", title="Data Structures")
    meetings = (Meets(room="Hall 1"),)
    section = builders.a_section(
        course, term, capacity=30, crn="10412", meetings=meetings, instructor=cast.iris
    )
    full = builders.a_section(builders.a_course("MAT-2000", 3), term, capacity=0)
    needs = {"prerequisites": {"course": "PHY-1000"}}
    barred = builders.a_section(builders.a_course("CSC-3000", 3), term, **needs)
    room.set_limits(term.id, window.id, 0, 100, off=False)
    with app.app_context():
        room.enter(term.id, window.id, cast.ben.id)  # who comes first
    return {
        "PORTAL": PORTAL,
        "TOKEN": caller(app, "ada").token,
        "SERVICE": program(app).token,
        "SEMESTER": str(term.id),
        "WINDOW": str(window.id),
        "SECTION": str(section.id),
        "FULL": str(full.id),
        "BARRED": str(barred.id),
    }


def parts(text: str) -> tuple[str, str, Any]:
    """Return the request of an example, and the status and body of its response."""
    found = re.fullmatch(r"\$ (.*?)\n(\d{3})\n(.*)", text, re.DOTALL)
    assert found, text
    return found[1], found[2], json.loads(found[3])


def curl(client: FlaskClient, command: str, known: dict[str, str]) -> TestResponse:
    """Return the request that the command would send."""
    name, *words = shlex.split(Template(command).substitute(known))
    assert name == "curl"
    headers, body, address = {}, None, ""
    while words:
        word = words.pop(0)
        if word == "-H":
            header, _, value = words.pop(0).partition(": ")
            headers[header] = value
        elif word == "-d":
            body = words.pop(0)
        else:
            address = word.removeprefix(PORTAL)
    method = "GET" if body is None else "POST"
    return client.open(address, method=method, data=body, headers=headers)


def compare(expected: Any, found: Any, where: str) -> None:
    """Fail unless the response equals the page's, apart from values that vary."""
    if expected in (MORE, {MORE: MORE}):
        return
    assert type(expected) is type(found), f"{where}: {expected!r}, {found!r}"
    if isinstance(expected, dict):
        assert set(expected) == set(found), where
        for name, value in expected.items():
            if not (isinstance(value, int | str) and VARIES.fullmatch(name)):
                compare(value, found[name], f"{where} {name}")
            else:
                assert type(value) is type(found[name]), f"{where} {name}"
    elif isinstance(expected, list):
        assert len(expected) == len(found), where
        for one, other in zip(expected, found, strict=True):
            compare(one, other, where)
    else:
        assert expected == found, where


def stored_values(answer: Any) -> dict[str, str]:
    """Return the values that later examples refer to."""
    facts = {**answer, **(answer.get("data") or {})}
    return {name: str(facts[field]) for field, name in KEPT.items() if facts.get(field)}


def test_page_names_every_operation() -> None:
    result = Path(ROOT / "portal" / "web" / "api").glob("*.py")
    routes = [
        route
        for file in result
        for route in re.findall(r'@bp\.(?:get|post)\("(/[a-z/]+)"', file.read_text("utf-8"))
    ]
    assert len(routes) > 7
    for route in routes:
        assert route in PAGE, route
