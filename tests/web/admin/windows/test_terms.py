"""GET /admin: the terms and their windows, and the updates that the page polls."""

import re

from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.models import Term
from portal.operations import term_overview
from portal.recorder.recorder import drain
from portal.waiting_room import room
from tests.cast import (
    Cast,
    a_coming_window,
    a_course,
    a_section,
    a_term,
    an_ended_window,
    an_open_window,
)
from tests.ledger_claims import claim
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


def test_address_of_a_term_s_windows_leads_to_them(app: Flask, cast: Cast) -> None:
    term = a_term()
    answer = browser_of(app, "max").get(f"/admin/terms/{term.id}/windows")
    assert answer.status_code == 302
    assert answer.location == f"/admin#term-{term.id}"
    assert f'id="term-{term.id}"' in browser_of(app, "max").get(answer.location).text
    assert browser_of(app, "max").get("/admin/terms/99/windows").status_code == 404
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
    actions = ("move", "cancel", "extend", "close")
    assert not any(f"/windows/{window.id}/{action}" in page for action in actions)
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
    assert "All times in Eastern Time" in page
    assert f'value="{window.opens}"' not in page
    assert " am E" in page or " pm E" in page
    assert cast.max


def test_page_counts_the_students_of_a_window(app: Flask, cast: Cast) -> None:
    a_coming_window(a_term(), cohort={"students": [cast.ada.number]})
    page = admin_page(app)
    assert f"students {cast.ada.number}" in page
    assert "1 student<" in page


def mark_of(page: str) -> str:
    found = re.search(r'data-refresh="/admin/now\?mark=(\w+)"', page)
    assert found
    return found[1]


def test_current_page_gets_only_its_figures(admin: FlaskClient, term: Term) -> None:
    window = an_open_window(term)
    mark = mark_of(admin.get("/admin").text)
    part = admin.get(f"/admin/now?mark={mark}").text
    assert f'id="figures-{window.id}"' in part
    assert 'id="overviews"' not in part


def test_outdated_page_gets_everything(admin: FlaskClient, term: Term) -> None:
    mark = mark_of(admin.get("/admin").text)
    window = a_coming_window(term)
    part = admin.get(f"/admin/now?mark={mark}").text
    assert 'id="overviews"' in part
    assert f'id="window-{window.id}"' in part
    assert "<html" not in part
    assert mark_of(part) != mark


def test_opening_is_announced(admin: FlaskClient, term: Term) -> None:
    window = a_coming_window(term)
    mark = mark_of(admin.get("/admin").text)
    backend().ledger.move_window(term.id, window.id, window.opens - 10**6, window.closes, "tests")
    assert "Extend" in admin.get(f"/admin/now?mark={mark}").text


def test_page_counts_waiting_students_and_decisions(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    window = an_open_window(term, cohort={"students": [cast.ada.number, cast.ben.number]})
    section = a_section(a_course(), term, capacity=1, waitlist=0)
    room.enter(term.id, window.id, cast.ada.id)
    for student in (cast.ada, cast.ben):
        claim(student, section, window, wait=False)
    claim(cast.cleo, section, an_open_window(term, cohort={"years": ["Freshman"]}), wait=False)
    drain(term.id)
    page = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", admin.get("/admin/now").text))
    assert "Admitted 1" in page
    assert "Enrollments 1 Refused 1 " in page  # Cleo asked in the other one


def test_figures_continue_from_the_last_reading(term: Term, cast: Cast) -> None:
    window = an_open_window(term)
    section = a_section(a_course(), term, capacity=1, waitlist=0)
    for refused, student in enumerate((cast.ada, cast.ben, cast.cleo)):
        claim(student, section, window, wait=False)
        drain(term.id)
        term_overview._known.clear() if refused == 1 else None  # noqa: SLF001 - a new process
        found = term_overview.read_progress((term.id, window.id))
        assert (found.seats, found.refused) == (1, refused)
