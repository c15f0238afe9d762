"""What students see and are told of seats that are kept for a cohort."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.catalog.models import Pool, Reserve, Section, Term
from portal.core.db import transaction
from portal.people.models import Account, Student
from portal.recorder.recorder import drain
from portal.registration import plan_store
from portal.registration.plans import add
from portal.registration.requests import SectionRequest
from portal.windows.warmup import warm_up
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.sections.forms import said
from tests.web.pages import address, cell, press
from tests.web.visitors import browser_of

SOON = datetime.now(UTC) + timedelta(days=2)


def changed(section: Section, *rows: Any, **values: Any) -> None:
    """Store rows of the section, and let the ledger and every page know."""
    with transaction() as session:
        session.add_all(rows)
        session.flush()
        newer = {"version": Section.version + 1, **values}
        session.execute(update(Section).where(Section.term_id == section.term_id).values(newer))
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    warm_up(section.term_id)


@pytest.fixture
def section(term: Term, cast: Cast) -> Any:  # noqa: ARG001
    """Two seats: one is kept for seniors for two days, one for graduates for good."""
    made = builders.a_section(builders.a_course(), term, capacity=2)
    seniors = Reserve(section_id=made.id, seats=1, cohort={"years": ["Senior"]}, until=SOON)
    changed(made, seniors)
    return made


@pytest.fixture
def senior(app: Flask, section: Section) -> FlaskClient:  # noqa: ARG001
    builders.a_student("sena", year="Senior")
    return browser_of(app, "sena")


@pytest.fixture
def ada(app: Flask, section: Section) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ada")


def seats_now(client: FlaskClient, section: Section) -> str:
    return said(client.get(address(section, "pick")))


def test_a_plan_says_for_whom_they_are_kept(
    senior: FlaskClient, ada: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    with transaction() as session:
        sena = session.scalars(select(Student.id).join(Account).filter_by(username="sena")).one()
    for student in (cast.ada.id, sena):
        plan_store.change(
            term.id, student, 0, lambda plan: add(plan, (SectionRequest(section.id),))
        )
    for address_ in (f"/terms/{term.id}/plan", address(section, "plan")):
        assert "1 seat is reserved for students of class year Senior" in said(ada.get(address_))
        assert "1 seat is reserved for you and others" in said(senior.get(address_))


def test_the_list_says_for_whom_and_counts_what_is_left_to_all(
    ada: FlaskClient, term: Term
) -> None:
    page = said(ada.get(f"/terms/{term.id}"))
    assert "1 seat is reserved for students of class year Senior until" in page
    assert "1 of 2 open" in page
    assert "1 reserved" in page


def test_whom_they_are_for_is_told_so(senior: FlaskClient, term: Term, section: Section) -> None:
    page = senior.get(f"/terms/{term.id}")
    assert "1 seat is reserved for you and others: students of class year Senior until" in said(
        page
    )
    assert "data-kept" in cell(page.text, section)


def test_nobody_on_a_list_is_named_to_others(
    ada: FlaskClient, cast: Cast, section: Section, term: Term
) -> None:
    cohort = {"students": [cast.ben.number]}
    changed(section, Reserve(section_id=section.id, seats=1, cohort=cohort))
    page = said(ada.get(f"/terms/{term.id}"))
    assert "1 seat is reserved for students on a list." in page
    assert cast.ben.number not in page


def test_once_their_time_is_over_nothing_is_said_of_them(
    ada: FlaskClient, section: Section, term: Term
) -> None:
    past = datetime.now(UTC) - timedelta(hours=1)
    with transaction() as session:
        session.execute(update(Reserve).values(until=past))
    changed(section)
    page = said(ada.get(f"/terms/{term.id}"))
    assert "kept" not in page
    assert "2 of 2 open" in page


def test_where_only_kept_seats_are_left_the_others_are_asked_to_wait(
    app: Flask, ada: FlaskClient, senior: FlaskClient, section: Section, term: Term
) -> None:
    press(ada, section, "pick")
    ben = browser_of(app, "ben")
    assert "0 of 2 open 1 reserved, none waiting" in seats_now(ben, section)
    assert "Join the waitlist of" in seats_now(ben, section)
    assert "1 of 2 seats are open to you." in seats_now(senior, section)
    assert "Join the waitlist of" not in seats_now(senior, section)
    found = f"/terms/{term.id}?open=1"
    assert "CSC 1100" in said(senior.get(found))
    assert "data-kept" not in cell(ben.get(f"/terms/{term.id}").text, section)


def test_a_refusal_names_for_whom_they_are_and_until_when(
    app: Flask, ada: FlaskClient, section: Section
) -> None:
    ben = browser_of(app, "ben")
    form = ben.get(address(section, "pick"))
    assert form.status_code == 200
    press(ada, section, "pick")
    answer = ben.post(address(section, "pick"), data={"request": "r" * 20, "csrf_token": "x"})
    assert answer.status_code == 422
    told = said(answer)
    assert (
        "The last 1 seat in CSC 1100-01 is reserved for students of class year Senior until" in told
    )
    assert 'data-reason="full"' in answer.text
    assert "Join waitlist" in told


def test_who_they_are_for_gets_one_ahead_of_those_who_wait_and_the_receipt_says_so(
    app: Flask, ada: FlaskClient, senior: FlaskClient, section: Section, term: Term
) -> None:
    press(ada, section, "pick")
    press(browser_of(app, "ben"), section, "pick", wait="1")
    assert press(senior, section, "pick").status_code == 303
    drain(section.term_id, seconds=0)
    history = said(senior.get(f"/terms/{term.id}/history"))
    assert (
        "You added CSC 1100-01. The seat is reserved for students of class year Senior." in history
    )


def test_of_several_only_those_that_are_left_for_one_count(
    app: Flask, senior: FlaskClient, section: Section
) -> None:
    changed(section, Reserve(section_id=section.id, seats=1, cohort={"levels": ["Graduate"]}))
    builders.a_student("stan", year="Senior")
    assert "1 of 2 seats are open to you." in seats_now(senior, section)
    press(browser_of(app, "stan"), section, "pick")
    assert "0 of 2 open 1 reserved" in seats_now(senior, section)
    assert "are open to you" not in seats_now(senior, section)


def test_sections_that_share_seats_name_each_other(
    ada: FlaskClient, section: Section, term: Term
) -> None:
    other = builders.a_section(builders.a_course("MAT-1000"), term)
    with transaction() as session:
        pool = Pool(term_id=term.id, name="Shared", capacity=3)
        session.add(pool)
        session.flush()
        number = pool.id
    changed(section, pool_id=number)
    page = said(ada.get(f"/terms/{term.id}"))
    assert "Shares seats with MAT 1000-02" in page
    assert "Shares seats with CSC 1100-01" in page
    assert "Shares seats with CSC 1100-01" in seats_now(ada, other)


def test_subjects_are_told_by_their_names(section: Section, ada: FlaskClient) -> None:
    builders.a_subject("CSC")
    changed(section, Reserve(section_id=section.id, seats=1, cohort={"subjects": ["CSC"]}))
    told = "1 seat is reserved for majors and minors in Field of CSC (CSC)."
    assert told in seats_now(ada, section)
