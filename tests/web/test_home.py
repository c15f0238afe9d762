"""GET /."""

from flask import Flask

from tests.cast import Cast, a_term
from tests.web.visitors import browser_of


def test_a_student_goes_straight_to_the_only_term(app: Flask, cast: Cast) -> None:
    term = a_term()
    assert browser_of(app, "ada").get("/").location == f"/terms/{term.id}"
    assert cast.ada


def test_a_student_chooses_among_several_terms(app: Flask, cast: Cast) -> None:
    a_term("Fall 2030")
    a_term("Summer 2030")
    page = browser_of(app, "ada").get("/").text
    assert "Fall 2030" in page
    assert "Summer 2030" in page
    assert cast.ada


def test_a_student_reads_that_no_term_is_offered(app: Flask, cast: Cast) -> None:
    assert "No term is offered yet" in browser_of(app, "ada").get("/").text
    assert cast.ada


def test_an_instructor_goes_to_the_sections_taught(app: Flask, cast: Cast) -> None:
    assert browser_of(app, "iris").get("/").location == "/teaching"
    assert cast.iris


def test_an_admin_goes_to_the_windows(app: Flask, cast: Cast) -> None:
    assert browser_of(app, "max").get("/").location == "/admin"
    assert cast.max
