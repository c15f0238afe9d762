"""Waiting rooms for tests, and students in them."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.waiting_room import room
from portal.waiting_room.room import QueueEntry
from tests import cast as builders
from tests.cast import Cast
from tests.waiting_room.lobby import proven

Enter = Callable[..., QueueEntry]


@pytest.fixture
def ada(guarded: Flask, cast: Cast) -> FlaskClient:
    return proven(guarded, "ada", cast.ada)


@pytest.fixture
def ben(guarded: Flask, cast: Cast) -> FlaskClient:
    return proven(guarded, "ben", cast.ben)


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    return builders.a_term()


@pytest.fixture
def enter(backend: Backend, term: Any) -> Enter:  # noqa: ARG001
    """Return a function that lets a student join the room of a window."""
    return lambda window, student: room.enter(term.id, window.id, student)
