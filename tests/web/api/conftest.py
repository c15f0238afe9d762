"""A term whose window is open, and programs of students."""

from typing import Any

import pytest
from flask import Flask

from tests import cast as builders
from tests.cast import Cast
from tests.web.api.callers import Caller, caller


@pytest.fixture
def ada(app: Flask, cast: Cast) -> Caller:  # noqa: ARG001
    return caller(app, "ada")


@pytest.fixture
def ben(app: Flask, cast: Cast) -> Caller:  # noqa: ARG001
    return caller(app, "ben")


@pytest.fixture
def iris(app: Flask, cast: Cast) -> Caller:  # noqa: ARG001
    return caller(app, "iris")


@pytest.fixture
def admin(app: Flask, cast: Cast) -> Caller:  # noqa: ARG001
    return caller(app, "max")


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(), term)


@pytest.fixture
def body(term: Any, section: Any, cast: Cast) -> dict[str, Any]:
    """Return the body of Ada's registration for the section."""
    return {"student_id": cast.ada.id, "semester_id": term.id, "section_ids": [section.id]}
