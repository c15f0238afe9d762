"""A term without windows, and the browser of an admin."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Term
from tests.cast import Cast, a_term
from tests.web.visitors import browser_of


@pytest.fixture
def term(app: Flask, cast: Cast) -> Term:  # noqa: ARG001
    """Return a term without windows."""
    return a_term()


@pytest.fixture
def admin(app: Flask, term: Term) -> FlaskClient:  # noqa: ARG001
    """Return the browser of Max, who is logged in."""
    return browser_of(app, "max")
