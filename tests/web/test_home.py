"""GET /."""

from flask import Flask
from sqlalchemy import update

from portal.catalog.models import Term
from portal.core.db import transaction
from tests.cast import Cast, a_coming_window, a_term, an_ended_window, an_open_window
from tests.web.pages import words
from tests.web.visitors import browser_of


def test_student_is_redirected_to_the_only_term(app: Flask, cast: Cast) -> None:
    term = a_term()
    assert browser_of(app, "ada").get("/").location == f"/terms/{term.id}"
    assert cast.ada


def test_student_chooses_among_several_terms(app: Flask, cast: Cast) -> None:
    a_term("Fall 2030")
    a_term("Summer 2030")
    page = browser_of(app, "ada").get("/").text
    assert "Fall 2030" in page
    assert "Summer 2030" in page
    assert cast.ada


def test_student_is_redirected_to_the_only_open_term(app: Flask, cast: Cast) -> None:
    a_coming_window(a_term("Fall 2030"))
    summer = a_term("Summer 2030")
    an_open_window(summer)
    assert browser_of(app, "ada").get("/").location == f"/terms/{summer.id}"
    assert cast.ada


def test_term_that_is_listed_can_be_opened_at_once(app: Flask, cast: Cast) -> None:
    term = a_term("Fall 2030", state="draft")
    ada = browser_of(app, "ada")
    assert ada.get(f"/terms/{term.id}").status_code == 404
    with transaction() as session:  # as another process does, of which this one hears later
        newer = {"state": "published", "catalog_version": Term.catalog_version + 1}
        session.execute(update(Term).where(Term.id == term.id).values(newer))
    assert ada.get("/").location == f"/terms/{term.id}"
    assert ada.get(f"/terms/{term.id}").status_code == 200
    assert cast.ada


def test_terms_are_listed_with_their_state_next_first(app: Flask, cast: Cast) -> None:
    an_ended_window(a_term("Fall 2030"))
    a_term("Winter 2030")
    a_coming_window(a_term("Spring 2031"), minutes=30)
    a_coming_window(a_term("Summer 2031"), minutes=12)
    text = words(browser_of(app, "ada").get("/").text)
    result = [
        "Summer 2031 Opens in 12 minutes",
        "Spring 2031 Opens in 30 minutes",
        "Winter 2030 Not scheduled",
        "Fall 2030 Ended",
    ]
    places = [text.find(each) for each in result]
    assert -1 not in places
    assert places == sorted(places)
    assert cast.ada


def test_student_sees_that_no_term_is_offered(app: Flask, cast: Cast) -> None:
    assert "No terms yet" in browser_of(app, "ada").get("/").text
    assert cast.ada


def test_instructor_is_redirected_to_own_sections(app: Flask, cast: Cast) -> None:
    assert browser_of(app, "iris").get("/").location == "/teaching"
    assert cast.iris


def test_admin_is_redirected_to_the_windows(app: Flask, cast: Cast) -> None:
    assert browser_of(app, "max").get("/").location == "/admin"
    assert cast.max
