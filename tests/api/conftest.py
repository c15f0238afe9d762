"""What most calls begin with: a term whose window is open, and programs that ask for students."""

from typing import Any

import pytest
from flask import Flask

from tests import cast as builders
from tests.api.callers import Caller, caller
from tests.cast import Cast


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    found = builders.a_term()
    builders.an_open_window(found)
    return found


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
