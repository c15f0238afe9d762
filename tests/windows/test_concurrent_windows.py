"""Several windows and terms are open at once: each decides and ends separately."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.ledger.types import Outcome, WindowView
from portal.registration import limits
from portal.waiting_room import room
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.web.admin.windows.windows import closes
from tests.web.visitors import browser_of


@pytest.fixture
def terms(app: Flask, cast: Cast) -> list[Term]:
    """Return two terms that overlap."""
    assert app
    assert cast
    return [builders.a_term("Fall 2030"), builders.a_term("Spring 2031")]


@pytest.fixture
def sections(terms: list[Term]) -> list[Section]:
    """Return a section in each term, of different courses."""
    return [
        builders.a_section(builders.a_course(f"CSC-{at}"), term) for at, term in enumerate(terms)
    ]


def only(student: builders.Student) -> dict[str, list[str]]:
    return {"students": [student.number]}


def codes(section: Section, student: builders.Student, window: WindowView) -> list[str]:
    """Return the codes that refuse the section in that window."""
    return [reason.code for reason in claim(student, section, window).reasons]


def page(client: FlaskClient, path: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", client.get(path).text).split())


def phase_of(client: FlaskClient, path: str) -> str:
    """Return the phase in a page's banner, as its scripts read it."""
    return "".join(re.findall(r'id="banner"[^>]*data-phase="(\w+)"', client.get(path).text))


def test_seat_in_one_term_does_not_affect_another(
    cast: Cast, terms: list[Term], sections: list[Section]
) -> None:
    windows = [builders.an_open_window(term) for term in terms]
    for section, window in zip(sections, windows, strict=True):
        assert claim(cast.ada, section, window).outcome is Outcome.ENROLLED


def test_window_opens_only_its_term(cast: Cast, terms: list[Term], sections: list[Section]) -> None:
    window = builders.an_open_window(terms[0])
    assert codes(sections[1], cast.ada, window) == ["window_unscheduled"]


def test_student_with_two_windows_can_register_until_both_end(
    app: Flask, cast: Cast, terms: list[Term], sections: list[Section]
) -> None:
    first = builders.an_open_window(terms[0], minutes=60)
    second = builders.an_open_window(terms[0], minutes=120, cohort=only(cast.ada))
    ada, ben = browser_of(app, "ada"), browser_of(app, "ben")
    closes(terms[0], first)
    position = f"/terms/{terms[0].id}"
    assert phase_of(ada, position) == "open"
    assert phase_of(ben, position) == "ended"
    assert claim(cast.ada, sections[0], second).outcome is Outcome.ENROLLED
    closes(terms[0], second)
    limits.forget_windows()
    assert phase_of(ada, position) == "ended"


def test_windows_of_cohorts_end_separately(
    cast: Cast, terms: list[Term], sections: list[Section]
) -> None:
    hers = builders.an_open_window(terms[0], cohort=only(cast.ada))
    his = builders.an_open_window(terms[0], cohort=only(cast.ben))
    closes(terms[0], hers)
    assert codes(sections[0], cast.ada, hers) == ["window_ended"]
    assert claim(cast.ben, sections[0], his).outcome is Outcome.ENROLLED


def test_open_window_is_shown_before_an_upcoming_one(
    app: Flask, cast: Cast, terms: list[Term], sections: list[Section]
) -> None:
    builders.an_open_window(terms[0], minutes=30)
    builders.a_coming_window(terms[0], minutes=60, cohort=only(cast.ada))
    assert "Closes in 30 minutes" in page(browser_of(app, "ada"), f"/terms/{terms[0].id}")
    assert sections


def test_every_window_has_its_own_waiting_room(
    cast: Cast, terms: list[Term], backend: Backend
) -> None:
    hers = builders.an_open_window(terms[0], cohort=only(cast.ada))
    his = builders.an_open_window(terms[0], cohort=only(cast.ben))
    room.set_limits(terms[0].id, hers.id, 6000, 0, off=False)
    assert room.enter(terms[0].id, hers.id, cast.ada.id).kind == "waiting"
    assert room.enter(terms[0].id, his.id, cast.ben.id).kind == "called"
    assert backend.redis.ping()


def test_pages_distinguish_terms(
    app: Flask, cast: Cast, terms: list[Term], sections: list[Section]
) -> None:
    builders.an_open_window(terms[0], minutes=30)
    builders.an_open_window(terms[1], minutes=90)
    for person, position in (("ada", "/"), ("max", "/admin")):
        text = page(browser_of(app, person), position)
        assert "Fall 2030" in text
        assert "Spring 2031" in text
        assert "Closes in 30 minutes" in text
        assert "Closes in 90 minutes" in text
    assert cast.max
    assert sections
