"""Browsers of students who have logged in."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture
def ada(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ada")


@pytest.fixture
def ben(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ben")
