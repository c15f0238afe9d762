"""GET /admin/now: the updates that the windows page polls."""

import re

from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.models import Term
from portal.recorder.recorder import drain
from portal.reports import progress
from portal.waiting_room import room
from tests.cast import Cast, a_coming_window, a_course, a_section, an_open_window
from tests.ledger_claims import claim


def mark_of(page: str) -> str:
    found = re.search(r'data-refresh="/admin/now\?mark=(\w+)"', page)
    assert found
    return found[1]


def test_current_page_gets_only_its_figures(admin: FlaskClient, term: Term) -> None:
    window = an_open_window(term)
    mark = mark_of(admin.get("/admin").text)
    part = admin.get(f"/admin/now?mark={mark}").text
    assert f'id="standing-{window.id}"' in part
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
        progress._tallies.clear() if refused == 1 else None  # noqa: SLF001 - a new process
        found = progress.read((term.id, window.id))
        assert (found.seats, found.refused) == (1, refused)
