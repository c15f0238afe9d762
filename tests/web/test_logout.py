"""POST /logout."""

from flask import Flask

from tests.cast import Cast
from tests.web.visitors import browser_of


def test_it_ends_the_session(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "ada")
    assert client.post("/logout").location == "/login"
    assert client.get("/api/v1/me").status_code == 401
    assert cast.ada


def test_it_takes_a_form_and_not_a_link(app: Flask, cast: Cast) -> None:
    assert browser_of(app, "ada").get("/logout").status_code == 405
    assert cast.ada
