"""What the tests of imports share."""

from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text

from portal.backend import Backend
from tests.cast import Cast
from tests.owner_role import as_owner
from tests.web.visitors import browser_of


@pytest.fixture
def boss(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    """Max, logged in."""
    return browser_of(app, "max")


@pytest.fixture
def nobody_may_teach(backend: Backend) -> Iterator[None]:  # noqa: ARG001
    """PostgreSQL refuses every row that says who teaches, the last that an import writes."""
    with as_owner() as session:
        refused = "ADD CONSTRAINT nobody CHECK (instructor_id < 0) NOT VALID"
        session.execute(text(f"ALTER TABLE section_instructors {refused}"))
    yield
    with as_owner() as session:
        session.execute(text("ALTER TABLE section_instructors DROP CONSTRAINT nobody"))
