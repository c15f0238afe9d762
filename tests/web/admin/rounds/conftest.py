"""A term without windows, and the browser of an admin."""

import pytest
from flask import Flask

from portal.catalog.models import Term
from tests.cast import Cast, a_term


@pytest.fixture
def term(app: Flask, cast: Cast) -> Term:  # noqa: ARG001
    """Return a term without windows."""
    return a_term()
