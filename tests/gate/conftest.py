"""Rooms for the tests, and students in them."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from portal.backend import Backend
from portal.gate import room
from portal.gate.meter import meters
from portal.gate.places import Place
from tests import cast as builders
from tests.cast import Cast

Enter = Callable[..., Place]


@pytest.fixture
def guarded(app: Flask) -> Any:
    """The application with its gate, as it is outside of the tests."""
    meters().own.clear()
    app.config["GATE"] = True
    yield app
    app.config["GATE"] = False


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    return builders.a_term()


@pytest.fixture
def enter(backend: Backend, term: Any) -> Enter:  # noqa: ARG001
    """Lets a student, any number, into the room of a window."""
    return lambda window, student: room.enter(term.id, window.id, student)
