"""The page shows who gets a seat that an admin's drop frees."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.catalog.models import Reserve, Section, Term
from portal.core.db import transaction
from portal.recorder.recorder import drain
from portal.windows.warmup import warm_up
from tests.cast import Cast, added
from tests.ledger_claims import claim
from tests.web.admin.students.forms import look, text_of
from tests.web.pages import press
from tests.web.student.seat_pools import share
from tests.web.visitors import browser_of


@pytest.fixture
def pooled(cast: Cast, section: Section, other: Section) -> Section:
    """Let two sections share one seat: Ada has it in the first, Ben waits for the second."""
    share(1, section, other)
    claim(cast.ada, section)
    assert claim(cast.ben, other).outcome == "waitlisted"
    return section


def test_freed_seat_goes_to_a_waitlist_of_the_pool(
    admin: FlaskClient, cast: Cast, pooled: Section
) -> None:
    page = text_of(look(admin, cast.ada, drop=pooled))
    assert "The seat goes to the first eligible student on the waitlists of CSC 1200-02." in page


def test_both_waitlists_are_named(admin: FlaskClient, cast: Cast, pooled: Section) -> None:
    claim(cast.cleo, pooled)
    page = text_of(look(admin, cast.ada, drop=pooled))
    assert "waitlists of CSC 1100-01 or CSC 1200-02" in page


def test_move_within_a_pool_frees_no_seat(
    admin: FlaskClient, cast: Cast, pooled: Section, other: Section
) -> None:
    page = text_of(look(admin, cast.ada, other, pooled))
    assert "The student is dropped from CSC 1100-01." in page
    assert "It goes to" not in page


def test_reserved_seat_goes_to_its_cohort(
    app: Flask, admin: FlaskClient, cast: Cast, section: Section
) -> None:
    added(Reserve(section_id=section.id, seats=1, cohort={"students": [cast.ada.number]}))
    with transaction() as session:
        session.execute(update(Section).values(version=Section.version + 1))
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    warm_up(section.term_id)
    press(browser_of(app, "ada"), section, "pick")
    drain(section.term_id)
    assert claim(cast.ben, section).outcome == "waitlisted"
    page = text_of(look(admin, cast.ada, drop=section))
    assert (
        "The seat is reserved. It goes to the first student on the waitlist who may take it."
        in page
    )


def test_freed_seat_without_a_pool_goes_to_the_first_waiting_student(
    admin: FlaskClient, cast: Cast, section: Section
) -> None:
    claim(cast.ada, section)
    claim(cast.ben, section)
    assert "The seat goes to the first eligible student on the waitlist." in text_of(
        look(admin, cast.ada, drop=section)
    )
