"""What an admin's visit begins with: a term in which nothing is scheduled, and Max, logged in."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Term
from tests.cast import Cast, a_term
from tests.web.visitors import browser_of


@pytest.fixture
def term(app: Flask, cast: Cast) -> Term:  # noqa: ARG001
    """A term without windows."""
    return a_term()


@pytest.fixture
def admin(app: Flask, term: Term) -> FlaskClient:  # noqa: ARG001
    """Max, logged in."""
    return browser_of(app, "max")
