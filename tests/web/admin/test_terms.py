"""GET /admin: the terms and their windows."""

from flask import Flask

from portal.backend import backend
from tests.cast import Cast, a_coming_window, a_term, an_ended_window, an_open_window
from tests.web.visitors import browser_of


def admin_page(app: Flask) -> str:
    return browser_of(app, "max").get("/admin").text


def test_page_without_a_term_says_what_to_do(app: Flask, cast: Cast) -> None:
    assert "No terms yet" in admin_page(app)
    assert cast.max


def test_term_without_windows_is_not_scheduled(app: Flask, cast: Cast) -> None:
    a_term()
    page = admin_page(app)
    assert "Not scheduled" in page
    assert "No windows scheduled." in page
    assert cast.max


def test_upcoming_window_can_be_moved_or_canceled(app: Flask, cast: Cast) -> None:
    term = a_term()
    window = a_coming_window(term, minutes=10)
    page = admin_page(app)
    assert "Opens in 10 minutes" in page
    address = f"/admin/terms/{term.id}/windows/{window.id}"
    assert f"{address}/move" in page
    assert f"{address}/cancel" in page
    assert f"{address}/extend" not in page
    assert cast.max


def test_open_window_can_be_extended_or_closed(app: Flask, cast: Cast) -> None:
    term = a_term()
    window = an_open_window(term, minutes=30)
    page = admin_page(app)
    assert "Closes in 30 minutes" in page
    address = f"/admin/terms/{term.id}/windows/{window.id}"
    assert f"{address}/extend" in page
    assert f"{address}/close" in page
    assert f"{address}/move" not in page
    assert cast.max


def test_ended_window_has_no_actions(app: Flask, cast: Cast) -> None:
    term = a_term()
    window = an_ended_window(term)
    page = admin_page(app)
    assert "Ended" in page
    deeds = ("move", "cancel", "extend", "close")
    assert not any(f"/windows/{window.id}/{deed}" in page for deed in deeds)
    assert cast.max


def test_canceled_window_says_so(app: Flask, cast: Cast) -> None:
    term = a_term()
    window = a_coming_window(term)
    backend().ledger.cancel_window(term.id, window.id, "tests")
    assert "Canceled" in admin_page(app)
    assert cast.max


def test_times_are_in_the_institutions_zone(app: Flask, cast: Cast) -> None:
    window = a_coming_window(a_term())
    page = admin_page(app)
    assert "America/New York" in page
    assert f'value="{window.opens}"' not in page
    assert " am E" in page or " pm E" in page
    assert cast.max


def test_page_counts_the_students_of_a_window(app: Flask, cast: Cast) -> None:
    a_coming_window(a_term(), cohort={"students": [cast.ada.number]})
    page = admin_page(app)
    assert f"students {cast.ada.number}" in page
    assert "1 student<" in page
