"""GET /admin/operations: the state of the running portal."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.backend import backend as connected
from portal.catalog.models import Pool, Section, Term
from portal.core import breakers, redis_clients
from portal.core.ledger_servers import OneServer
from portal.ledger.client import Ledger
from portal.operations import figures
from portal.people.models import Student
from portal.recorder.recorder import drain
from portal.registration.reasons import REASONS
from portal.waiting_room import room
from tests import cast as builders
from tests.cast import Cast
from tests.recorder.rush import Rush, claim
from tests.registration import database_outage
from tests.web.visitors import browser_of

PAGE = "/admin/operations"

pytestmark = pytest.mark.usefixtures("term")  # a window is open


def text(page: str) -> str:
    return " ".join(page.split())


def ask(term: Term, section: Section, *students: Student, wait: bool = False) -> None:
    """Claim a seat in the section for each student, directly in the ledger."""
    (window,) = connected().ledger.windows(term.id)
    rush = Rush(term.id, [section.id], [], window.id)
    for student in students:
        claim(rush, student.id, section.id, wait=wait)


def figure(page: str, name: str) -> str:
    """Return a figure of the page by its name."""
    return page.split(f'data-figure="{name}">')[1].split("<", maxsplit=1)[0].strip()


def test_top_bar_links_to_the_page(admin: FlaskClient) -> None:
    assert f'href="{PAGE}"' in admin.get("/admin").text


def test_page_adds_up_the_seats_of_a_term(admin: FlaskClient, term: Term, cast: Cast) -> None:
    course = builders.a_course(credits=3)
    section = builders.a_section(course, term, capacity=1, prior_enrolled=0)
    builders.a_section(course, term, capacity=30, prior_enrolled=10)
    builders.a_section(course, term, capacity=5, prior_enrolled=2, status="CONFIRMED")
    canceled = builders.a_section(course, term, capacity=500, status="CANCELED")
    ask(term, section, cast.ada, cast.ben, wait=True)
    sections = f"/admin/terms/{term.id}/sections"
    for page in (PAGE, sections):
        shown = admin.get(page).text
        found = [figure(shown, name) for name in ("offered", "taken", "free", "waiting")]
        assert found == ["36", "13", "23", "1"]
    assert "data-figure" not in admin.get(f"{sections}/{canceled.id}").text


def test_shared_seats_count_once(admin: FlaskClient, term: Term) -> None:
    course, pool = builders.a_course(), builders.added(Pool(term_id=term.id, name="A", capacity=30))
    for _ in range(2):
        builders.a_section(course, term, capacity=20, pool_id=pool.id)
    page = admin.get(PAGE).text
    assert figure(page, "offered") == "30"
    assert figure(page, "free") == "30"


def test_page_counts_claims(admin: FlaskClient, term: Term, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(credits=3), term, capacity=1)
    ask(term, section, cast.ada, cast.ben, cast.cleo)
    page = admin.get(PAGE).text
    assert "3 in 15 minutes" in page
    assert float(figure(page, "rate")) > 0


def test_each_refusal_reason_has_its_own_short_name() -> None:
    labels = [str(kind.label) for kind in REASONS.values()]
    assert all(labels)
    assert len(set(labels)) == len(labels)


def test_page_shows_unrecorded_events_and_the_lag(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    section = builders.a_section(builders.a_course(credits=3), term, capacity=9)
    ask(term, section, cast.ada)
    drain(term.id)
    ask(term, section, cast.ben, cast.cleo)
    page = admin.get(PAGE).text
    assert figure(page, "unrecorded") == "2"
    assert "99th percentile" in page


def test_page_of_delays_says_what_happened_in_plain_words(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    section = builders.a_section(builders.a_course(credits=3), term, capacity=1)
    ask(term, section, cast.ada)
    ask(term, section, cast.ben, wait=True)
    drain(term.id)
    page = text(admin.get(f"{PAGE}/lag").text)
    for label in ("A student enrolled", "A student joined a waitlist"):
        assert f'<th scope="row">{label} <code' in page


def test_page_shows_windows_and_links_to_their_limits(
    admin: FlaskClient, backend: Backend, term: Term
) -> None:
    (window,) = backend.ledger.windows(term.id)
    room.set_limits(term.id, window.id, 600, 1, off=False)
    for student in (900_001, 900_002, 900_003):
        room.enter(term.id, window.id, student)
    page = text(admin.get(PAGE).text)
    assert "Closes in 59 minutes" in page or "Closes in 60 minutes" in page
    assert "600 per minute, 1 at once" in page
    assert f"/admin/terms/{term.id}/windows/{window.id}/room" in page
    assert 'data-label="Waiting">2<' in page


@pytest.mark.parametrize("opens", ["now", "later"])
def test_page_shows_paused_queues_with_time_and_admin(
    admin: FlaskClient, term: Term, opens: str
) -> None:
    window = builders.an_open_window(term) if opens == "now" else builders.a_coming_window(term)
    address = f"/admin/terms/{term.id}/windows/{window.id}/room"
    seen = admin.get(address).text.split('name="seen" value="')[1].split('"')[0]
    paused = "Max paused the waiting room of Selection, Fall 2030 at "
    assert paused not in text(admin.get(PAGE).text)
    why = {"reason": "A fire alarm.", "seen": seen}
    assert admin.post(f"{address}/pause", data=why).status_code == 303
    room.enter(term.id, window.id, 900_001)
    figures.forget()
    page = text(admin.get(PAGE).text)
    assert paused in page
    assert "No one is admitted." in page
    assert ("1 student is waiting." in page) == (opens == "now")
    assert "Everything works" not in page


def test_page_shows_failures_first(admin: FlaskClient) -> None:
    page = text(admin.get(PAGE).text)
    assert "No scheduler is running" in page
    assert "The queue “Record decisions” has no worker." in page
    assert "Everything works" not in page


def test_page_names_services_whose_breaker_is_open_in_any_process(
    admin: FlaskClient, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(connected().settings), "smtp", "smtp://127.0.0.1:1")
    warning = "Mail server: calls keep failing"
    breakers.report(backend.redis, "mail", 0, 30.0)
    assert warning in text(admin.get(PAGE).text)
    breakers.report(backend.redis, "mail", 0, -1.0)
    assert warning not in text(admin.get(PAGE).text)


def test_page_works_while_postgresql_is_down(admin: FlaskClient, term: Term) -> None:
    builders.a_section(builders.a_course(credits=3), term, capacity=7)
    admin.get(PAGE)
    with database_outage.away():
        page = text(admin.get(PAGE).text)
    assert "PostgreSQL does not respond" in page
    assert figure(page, "offered") == "7"


def test_page_works_while_redis_is_down(
    admin: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = redis_clients.commands("redis://127.0.0.1:1")
    monkeypatch.setattr(connected(), "redis", nobody)
    monkeypatch.setattr(connected(), "ledger", Ledger(OneServer(nobody)))
    page = text(admin.get(PAGE).text)
    assert "Redis does not respond. Students can’t register" in page
    assert "Not available right now." in page


def test_page_without_scripts_reloads(admin: FlaskClient) -> None:
    assert '<noscript><meta http-equiv="refresh" content="10"></noscript>' in admin.get(PAGE).text


def test_page_without_a_socket_polls_its_fragments(admin: FlaskClient, app: Flask) -> None:
    parts = admin.get("/live/fragments?operations=true").text
    assert parts.startswith("<section")
    assert 'id="ops-now"' in parts
    assert 'href="/admin/operations/flags/live_push"' in parts
    assert browser_of(app, "ada").get("/live/fragments?operations=true").status_code == 403
