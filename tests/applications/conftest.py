"""A term whose window has ended: Ada has the seat of one section, and another is free."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal import backend as connections
from portal.applications import fees
from portal.backend import Backend
from portal.backend import backend as the_backend
from portal.catalog.models import Section
from portal.people.models import Account
from portal.recorder.recorder import drain
from portal.registration import limits
from tests import cast as builders
from tests.cast import Cast
from tests.notifications.stories import give_addresses
from tests.recorder.rush import Rush, claim
from tests.web.visitors import browser_of


@pytest.fixture
def term(app: Flask, cast: Cast) -> Any:  # noqa: ARG001
    """It began a week ago."""
    first = date.today() - timedelta(days=7)  # noqa: DTZ011
    return builders.a_term(starts_on=first, ends_on=first + timedelta(days=110))


@pytest.fixture
def held(term: Any, cast: Cast) -> Section:
    """Ada's, who has its only seat."""
    window = builders.an_open_window(term)
    course = builders.a_course("CSC-1100", credits=3)
    section = builders.a_section(course, term, capacity=1, waitlist=0)
    claim(Rush(term.id, [section.id], [cast.ada.id], window.id), cast.ada.id, section.id)
    the_backend().ledger.close_window(term.id, window.id, "tests")
    limits.forget_windows()
    drain(term.id, seconds=0)
    give_addresses()
    return section


@pytest.fixture
def free(term: Any, held: Section) -> Section:  # noqa: ARG001
    return builders.a_section(builders.a_course("MAT-1"), term, capacity=2)


@pytest.fixture
def ada(app: Flask, free: Section) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ada")


@pytest.fixture
def admin(app: Flask, free: Section) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "max")


@pytest.fixture
def mia(cast: Cast) -> Account:  # noqa: ARG001
    """Another admin."""
    return builders.an_account("mia", is_admin=True)


@pytest.fixture
def vera(cast: Cast) -> Account:  # noqa: ARG001
    """Someone without a student record."""
    return builders.an_account("vera", email="vera@example.org")


@pytest.fixture
def paying(backend: Backend) -> None:
    """Fees are charged by the test provider."""
    connections.use(replace(backend, settings=replace(backend.settings, payments="test")))
    fees.breaker.cache_clear()
