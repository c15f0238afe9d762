"""A term whose window has ended: Ada has the seat of one section, and another is free."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal import backend as connections
from portal.applications import fees, service
from portal.backend import Backend
from portal.backend import backend as the_backend
from portal.catalog.models import Department, Section, Term
from portal.people.models import Account
from portal.recorder.recorder import drain
from portal.registration import limits
from tests import cast as builders
from tests.applications.deciders import set_decider, set_instructor
from tests.applications.stories import a_draft, an_application, decider
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


@pytest.fixture
def science() -> Department:
    """The department of every course of the tests."""
    return builders.a_department("SCI")


@pytest.fixture
def iris(app: Flask, admin: FlaskClient, science: Department, cast: Cast) -> FlaskClient:
    """The browser of Iris, who decides for the department."""
    set_instructor(cast.iris, department_id=science.id)
    assert set_decider(admin, cast.iris, "1").status_code == 303
    return browser_of(app, "iris")


@pytest.fixture
def made(free: Section, cast: Cast) -> int:
    """An application of Ada's that waits for the department."""
    return an_application("credit_overload", cast.ada, free)


@pytest.fixture
def elsewhere(free: Section, term: Term, cast: Cast) -> int:
    """Ben's, about a section of another department."""
    course = builders.a_course("ART-1", department_id=builders.a_department("ART").id)
    section = builders.a_section(course, term)
    assert free
    return an_application("credit_overload", cast.ben, section)


@pytest.fixture
def others(made: int, elsewhere: int, free: Section, held: Section, cast: Cast) -> dict[str, int]:
    """Applications that don't wait for the department, by the reason."""
    withdrawn = an_application("credit_overload", cast.ben, free)
    service.withdraw(withdrawn, cast.ben.account_id)
    last = an_application("credit_overload", cast.cleo, free)
    service.approve(last, decider(last, cast.max.id))
    asked = an_application("credit_overload", cast.dan, free)
    service.ask_more(asked, decider(asked, cast.max.id))
    declined = an_application("credit_overload", cast.dan, held)
    service.decline(declined, decider(declined, cast.max.id))
    assert made
    return {
        "of another department": elsewhere,
        "of one stage, the registrar's": an_application("late_add", cast.ben, free),
        "at the second stage": last,
        "a draft": a_draft("credit_overload", cast.ben, held),
        "withdrawn": withdrawn,
        "asked for more": asked,
        "declined": declined,
        "none": 999_999,
        "too large a number": 2**31,
    }
