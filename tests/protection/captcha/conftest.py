"""Students who have yet to show that they are no robots."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture
def ada(guarded: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(guarded, "ada")


@pytest.fixture
def ben(guarded: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(guarded, "ben")
