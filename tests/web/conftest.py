"""What most visits begin with: a term whose window is open, and students who have logged in."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests import cast as builders
from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    found = builders.a_term()
    builders.an_open_window(found)
    return found


@pytest.fixture
def ada(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ada")


@pytest.fixture
def ben(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ben")
