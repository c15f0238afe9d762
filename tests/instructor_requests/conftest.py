"""A class of Iris's with a line, and what she asks for."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.backend import backend
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.instructor_requests import service
from portal.instructor_requests.models import InstructorRequest
from portal.ledger.types import SeatCounts
from portal.recorder.recorder import drain
from tests.audit_trail import entries
from tests.cast import Cast, Meets, a_course, a_section, a_term, an_open_window
from tests.notifications.stories import give_addresses
from tests.recorder.rush import Rush, claim
from tests.web.visitors import browser_of


@pytest.fixture
def section(app: Flask, cast: Cast) -> Section:
    """One seat, which Ada has; Ben and Cleo wait."""
    assert app
    term = a_term()
    window = an_open_window(term)
    meets = (Meets(room="Hall 1"),)
    section = a_section(
        a_course("CSC-1100", credits=3), term, capacity=1, instructor=cast.iris, meetings=meets
    )
    students = [cast.ada.id, cast.ben.id, cast.cleo.id]
    rush = Rush(term.id, [section.id], students, window.id)
    for student in students:
        claim(rush, student, section.id)
    drain(term.id, seconds=0)
    give_addresses()
    return section


@pytest.fixture
def iris(app: Flask, section: Section) -> FlaskClient:
    assert section
    return browser_of(app, "iris")


@pytest.fixture
def admin(app: Flask, section: Section) -> FlaskClient:
    assert section
    return browser_of(app, "max")


@pytest.fixture
def asked(section: Section, cast: Cast) -> int:
    """Three seats instead of one."""
    return service.request_seats(section.id, 3, "So many wait.", cast.iris.account_id or 0)


def the(asked: int) -> InstructorRequest:
    with transaction() as session:
        return session.get_one(InstructorRequest, asked)


def every() -> list[InstructorRequest]:
    with transaction() as session:
        return list(session.scalars(select(InstructorRequest).order_by(InstructorRequest.id)))


def audit_actions() -> list[str]:
    """What the audit trail has noted, in order."""
    return [each.action for each in entries()]


def seats(section: Section) -> SeatCounts:
    """As the ledger has them."""
    return backend().ledger.seats_of(section.term_id, [section.id])[section.id]


def kept(section: Section) -> Section:
    """As the catalog has it."""
    with transaction() as session:
        return session.get_one(Section, section.id)
