"""What most calls begin with: a term whose window is open, and programs that ask for students."""

import pytest
from flask import Flask

from tests.api.callers import Caller, caller
from tests.cast import Cast


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
