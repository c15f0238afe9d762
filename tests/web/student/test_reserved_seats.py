"""Students' pages about reserved seats."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.catalog.models import Pool, Reserve, Section, Term
from portal.core.db import transaction
from portal.people.models import Student
from portal.recorder.recorder import drain
from portal.registration import plan_store
from portal.registration.plans import add
from portal.registration.requests import SectionRequest
from portal.windows.warmup import warm_up
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.sections.forms import text_of
from tests.web.pages import address, cell, press
from tests.web.visitors import browser_of

SOON = datetime.now(UTC) + timedelta(days=2)


def changed(section: Section, *rows: Any, **values: Any) -> None:
    """Store rows of the section, and update the ledger and every page."""
    with transaction() as session:
        session.add_all(rows)
        session.flush()
        newer = {"version": Section.version + 1, **values}
        session.execute(update(Section).where(Section.term_id == section.term_id).values(newer))
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    warm_up(section.term_id)


@pytest.fixture
def section(term: Term, cast: Cast) -> Any:  # noqa: ARG001
    """Return a section of two seats: one reserved for seniors for two days, one for graduates."""
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
    return text_of(client.get(address(section, "pick")))


def test_plan_shows_the_cohort_of_reserved_seats(
    senior: FlaskClient, ada: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    with transaction() as session:
        sena = session.scalars(
            select(Student.id).join(Student.account).filter_by(username="sena")
        ).one()
    for student in (cast.ada.id, sena):
        plan_store.change(
            term.id, student, 0, lambda plan: add(plan, (SectionRequest(section.id),))
        )
    for address_ in (f"/terms/{term.id}/plan", address(section, "plan")):
        assert "1 seat is reserved for students of class year Senior" in text_of(ada.get(address_))
        assert "1 seat is reserved for you and others" in text_of(senior.get(address_))


def test_list_shows_the_cohort_and_counts_unreserved_seats(ada: FlaskClient, term: Term) -> None:
    page = text_of(ada.get(f"/terms/{term.id}"))
    assert "1 seat is reserved for students of class year Senior until" in page
    assert "1 of 2 open" in page
    assert "1 reserved" in page


def test_student_of_the_cohort_sees_their_reserved_seats(
    senior: FlaskClient, term: Term, section: Section
) -> None:
    page = senior.get(f"/terms/{term.id}")
    assert "1 seat is reserved for you and others: students of class year Senior until" in text_of(
        page
    )
    assert "data-kept" in cell(page.text, section)


def test_listed_students_are_not_named_to_others(
    ada: FlaskClient, cast: Cast, section: Section, term: Term
) -> None:
    cohort = {"students": [cast.ben.number]}
    changed(section, Reserve(section_id=section.id, seats=1, cohort=cohort))
    page = text_of(ada.get(f"/terms/{term.id}"))
    assert "1 seat is reserved for students on a list." in page
    assert cast.ben.number not in page


def test_ended_reserves_are_not_shown(ada: FlaskClient, section: Section, term: Term) -> None:
    past = datetime.now(UTC) - timedelta(hours=1)
    with transaction() as session:
        session.execute(update(Reserve).values(until=past))
    changed(section)
    page = text_of(ada.get(f"/terms/{term.id}"))
    assert "kept" not in page
    assert "2 of 2 open" in page


def test_others_can_only_wait_if_all_free_seats_are_reserved(
    app: Flask, ada: FlaskClient, senior: FlaskClient, section: Section, term: Term
) -> None:
    press(ada, section, "pick")
    ben = browser_of(app, "ben")
    assert "0 of 2 open 1 reserved, none waiting" in seats_now(ben, section)
    assert "Join the waitlist for" in seats_now(ben, section)
    assert "Open to you: 1 of 2." in seats_now(senior, section)
    assert "Join the waitlist for" not in seats_now(senior, section)
    found = f"/terms/{term.id}?open=1"
    assert "CSC 1100" in text_of(senior.get(found))
    assert "data-kept" not in cell(ben.get(f"/terms/{term.id}").text, section)


def test_refusal_names_cohort_and_end_of_reserved_seats(
    app: Flask, ada: FlaskClient, section: Section
) -> None:
    ben = browser_of(app, "ben")
    form = ben.get(address(section, "pick"))
    assert form.status_code == 200
    press(ada, section, "pick")
    answer = ben.post(address(section, "pick"), data={"request": "r" * 20, "csrf_token": "x"})
    assert answer.status_code == 422
    result = text_of(answer)
    assert (
        "The last 1 seat in CSC 1100-01 is reserved for students of class year Senior until"
        in result
    )
    assert 'data-reason="full"' in answer.text
    assert "Join waitlist" in result


def test_student_of_the_cohort_gets_a_reserved_seat_before_waiting_students(
    app: Flask, ada: FlaskClient, senior: FlaskClient, section: Section, term: Term
) -> None:
    press(ada, section, "pick")
    press(browser_of(app, "ben"), section, "pick", wait="1")
    assert press(senior, section, "pick").status_code == 303
    drain(section.term_id, seconds=0)
    history = text_of(senior.get(f"/terms/{term.id}/history"))
    assert (
        "You added CSC 1100-01. The seat is reserved for students of class year Senior." in history
    )


def test_only_reserves_with_seats_left_count(
    app: Flask, senior: FlaskClient, section: Section
) -> None:
    changed(section, Reserve(section_id=section.id, seats=1, cohort={"levels": ["Graduate"]}))
    builders.a_student("stan", year="Senior")
    assert "Open to you: 1 of 2." in seats_now(senior, section)
    press(browser_of(app, "stan"), section, "pick")
    assert "0 of 2 open 1 reserved" in seats_now(senior, section)
    assert "are open to you" not in seats_now(senior, section)


def test_sections_of_a_pool_name_each_other(ada: FlaskClient, section: Section, term: Term) -> None:
    other = builders.a_section(builders.a_course("MAT-1000"), term)
    with transaction() as session:
        pool = Pool(term_id=term.id, name="Shared", capacity=3)
        session.add(pool)
        session.flush()
        number = pool.id
    changed(section, pool_id=number)
    for each, named in ((section, "MAT 1000-02"), (other, "CSC 1100-01")):
        page = text_of(ada.get(address(each, "").rstrip("/")))
        assert f"Shares seats with {named}" in page
    assert "Shares seats with CSC 1100-01" in seats_now(ada, other)


def test_subjects_are_shown_by_name(section: Section, ada: FlaskClient) -> None:
    builders.a_subject("CSC")
    changed(section, Reserve(section_id=section.id, seats=1, cohort={"subjects": ["CSC"]}))
    result = "1 seat is reserved for majors and minors in Field of CSC (CSC)."
    assert result in seats_now(ada, section)
