"""A message that makes no sense gets a clear 4xx, and no ledger and no worker hears of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import Backend
from portal.people import tokens
from tests import cast as builders
from tests.cast import Cast
from tests.web.pages import press, seat

NOBODYS = 999_999_999
GONE = "999999999999999999"  # the longest number that an address may have
BROKEN = "9" * 40


@dataclass(frozen=True)
class Scene:
    """Two terms with a section each; Ada has a seat in the first one's."""

    section: Any
    elsewhere: Any
    student: int


@pytest.fixture
def scene(term: Any, cast: Cast) -> Scene:
    spring = builders.a_term("Spring 2031")
    builders.an_open_window(spring)
    section = builders.a_section(builders.a_course(), term)
    seat(cast.ada, section)
    other = builders.a_section(builders.a_course("MAT-1"), spring)
    return Scene(section, other, cast.ada.id)


@pytest.fixture
def program(app: Flask, cast: Cast) -> Callable[..., TestResponse]:
    """Posts JSON to the API in Ada's name."""
    token = tokens.create(cast.ada.account_id, tokens.TokenRequest("tests"))
    sent = {"Authorization": f"Bearer {token}"}
    return lambda path, body: app.test_client().post(f"/api/v1{path}", json=body, headers=sent)


def stored_entries(backend: Backend) -> dict[bytes, Any]:
    """All journals and queues, and how far each is."""
    found: Any = [*backend.redis.scan_iter("{t:*}:journal"), *backend.redis.scan_iter("rq:queue:*")]
    reads = {b"stream": backend.redis.xlen, b"list": backend.redis.llen}
    return {key: reads[backend.redis.type(key)](key) for key in sorted(found)}


ACTS = ("pick", "swap", "drop", "leave", "plan")


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "place",
    [
        "/terms/{term}/sections/{gone}",
        "/terms/{term}/sections/{broken}",
        "/terms/{term}/sections/-1",
        "/terms/{term}/sections/x",
        "/terms/{term}/sections/{elsewhere}",
        "/terms/{gone}/sections/{section}",
        "/terms/{broken}/sections/{section}",
    ],
    ids=["unknown", "endless", "negative", "no number", "of another term", "no term", "endless 2"],
)
def test_page_refuses_an_invalid_section(
    ada: FlaskClient, scene: Scene, backend: Backend, place: str, act: str
) -> None:
    names = {"term": scene.section.term_id, "section": scene.section.id, "gone": GONE}
    here = place.format(**names, broken=BROKEN, elsewhere=scene.elsewhere.id)
    before = stored_entries(backend)
    answer = ada.post(f"{here}/{act}?swap_out={scene.section.id}", data={"version": "0"})
    assert answer.status_code == 404
    assert "Page not found" in answer.text
    assert stored_entries(backend) == before


@pytest.mark.parametrize(
    "fields",
    [
        {"request": "short"},
        {"request": "no key at all!"},
        {"request": "x" * 65},
        {"with-0": "x"},
        {"with-0": BROKEN},
        {f"with-{number}": "1" for number in range(7)},
    ],
    ids=["short key", "no key", "long key", "no number", "endless", "too many"],
)
def test_page_refuses_an_invalid_form(
    ada: FlaskClient, scene: Scene, backend: Backend, fields: dict[str, str]
) -> None:
    before = stored_entries(backend)
    address = f"/terms/{scene.section.term_id}/sections/{scene.section.id}/pick"
    answer = ada.post(address, data=fields)
    assert answer.status_code == 400
    assert "Nothing was changed" in answer.text
    assert stored_entries(backend) == before


BODIES: dict[str, tuple[Callable[[Scene], Any], set[int]]] = {
    "nothing": (lambda _: {}, {422}),
    "no object": (lambda _: [1, 2], {400, 422}),
    "a malformed id": (lambda s: register(s, section_ids=["x"]), {422}),
    "a negative id": (lambda s: register(s, section_ids=[-1]), {422}),
    "an endless id": (lambda s: register(s, section_ids=[int(BROKEN)]), {422}),
    "no sections": (lambda s: register(s, section_ids=[]), {422}),
    "an unknown section": (lambda s: register(s, section_ids=[NOBODYS]), {404}),
    "a section of another term": (lambda s: register(s, section_ids=[s.elsewhere.id]), {404}),
    "an unknown term": (lambda s: register(s, semester_id=NOBODYS), {404, 422}),
    "a malformed term": (lambda s: register(s, semester_id="x"), {422}),
    "another student": (lambda s: register(s, student_id=NOBODYS), {403, 404}),
    "a field that there is not": (lambda s: register(s, colour="red"), {422}),
    "a malformed key": (lambda s: register(s, idempotency_key="!"), {422}),
}


def register(scene: Scene, **changed: Any) -> dict[str, Any]:
    """A body that would do, but for what is `changed`."""
    good = {"student_id": scene.student, "semester_id": scene.section.term_id}
    return {**good, "section_ids": [scene.section.id], **changed}


@pytest.mark.parametrize(("body", "statuses"), BODIES.values(), ids=BODIES)
def test_api_names_the_error(
    program: Callable[..., TestResponse],
    scene: Scene,
    backend: Backend,
    body: Callable[[Scene], Any],
    statuses: set[int],
) -> None:
    before = stored_entries(backend)
    answer = program("/register", body(scene))
    assert answer.status_code in statuses
    assert answer.mimetype == "application/problem+json"
    assert stored_entries(backend) == before


def test_valid_message_is_decided(ada: FlaskClient, scene: Scene, backend: Backend) -> None:
    """So that the others can't pass because nothing ever does."""
    before = stored_entries(backend)
    assert press(ada, scene.section, "drop").status_code == 303
    assert stored_entries(backend) != before
