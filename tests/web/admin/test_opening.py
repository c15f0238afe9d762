"""GET /admin/operations/opening, and the page of a window's opening."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from portal.backend import Backend
from portal.catalog.models import Term
from portal.core import latency
from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import transaction
from portal.ledger.types import WindowView
from portal.operations import figures
from portal.waiting_room import room
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.recorder.rush import Rush, claim
from tests.registration import database_outage
from tests.web.visitors import browser_of

ENTRY = "/admin/operations/opening"
ADVICE = {
    "students": 1200,
    "per_minute": 240,
    "at_once": 3600,
    "processes": 2,
    "processes_now": 1,
    "limit": "web",
}


@pytest.fixture
def window(app: Flask, term: Term) -> WindowView:  # noqa: ARG001
    """Return the open window."""
    return builders.an_open_window(term)


def text(page: str) -> str:
    return " ".join(page.split())


def address(term: Term, window: WindowView, more: str = "") -> str:
    return f"/admin/terms/{term.id}/windows/{window.id}/room{more}"


def figure(page: str, name: str) -> str:
    return page.split(f'data-figure="{name}">')[1].split("<", maxsplit=1)[0].strip()


def a_rehearsal(days: int = 0, *, stopped: bool = False, advice: Any = ADVICE) -> None:
    """Store the end of a rehearsal, some days ago."""
    after = {"stopped": stopped, "advice": advice, "machine": {"host": "crowd-1", "cores": 8}}
    with transaction() as session:
        entry = add_audit_entry(session, "rehearsal.end", "term:1", after=after)
        entry.at = datetime.now(UTC) - timedelta(days=days)


def press(admin: FlaskClient, page: str, **more: str) -> Any:
    """Open a confirmation and press its button, with what it had hidden in its form."""
    hidden = dict(re.findall(r'name="(seen|to)" value="([^"]*)"', admin.get(page).text))
    return admin.post(page, data={"reason": "As rehearsed."} | hidden | more)


def limits(term: Term, window: WindowView) -> tuple[int, int]:
    state = room.state(term.id, window.id)
    return state.per_minute, state.at_once


# Which opening


def test_entry_leads_to_the_open_window_then_to_the_next(
    admin: FlaskClient, term: Term, window: WindowView, backend: Backend
) -> None:
    coming = builders.a_coming_window(term, minutes=5)
    builders.a_coming_window(term, minutes=50)
    assert admin.get(ENTRY).location == address(term, window)
    for each in backend.ledger.windows(term.id):
        if each.opens <= backend.ledger.now():
            backend.ledger.close_window(term.id, each.id, "tests")
    assert admin.get(ENTRY).location == address(term, coming)


def test_of_windows_that_opened_together_the_entry_leads_to_the_newest(
    admin: FlaskClient, term: Term, window: WindowView, backend: Backend
) -> None:
    older, newer = (replace(window, id=window.id + more, opens=window.opens + 1) for more in (1, 2))
    for each in (newer, older):
        backend.ledger.put_window(
            term.id, each.id, each.name, each.opens, each.closes, each.cohort, "tests"
        )
    assert admin.get(ENTRY).location == address(term, newer)


def test_entry_without_a_window_says_so(app: Flask, cast: Cast) -> None:  # noqa: ARG001
    answer = browser_of(app, "max").get(ENTRY)
    assert answer.status_code == 200
    assert "No open or upcoming windows." in answer.text


def test_page_leads_to_the_other_windows_of_the_day(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    coming = builders.a_coming_window(term, minutes=5)
    assert f'href="{address(term, coming)}"' in admin.get(address(term, window)).text


# Figures


def test_seats_and_refusals_are_those_of_the_window(
    admin: FlaskClient, term: Term, window: WindowView, cast: Cast
) -> None:
    section = builders.a_section(builders.a_course(credits=3), term, capacity=1)
    other = builders.an_open_window(term)
    rush = Rush(term.id, [section.id], [], window.id)
    for student in (cast.ada, cast.ben, cast.cleo):
        claim(rush, student.id, section.id, wait=False)
    page = admin.get(address(term, window)).text
    assert figure(page, "seats") == "1"
    assert 'data-reason="full">2<' in page
    assert 'id="opening-seats-title">Seats given per minute<' in page
    page = admin.get(address(term, other)).text
    assert figure(page, "seats") == "0"
    assert "No refusals in the last 15 minutes." in page


def test_response_times_of_students_are_shown_with_percentiles(
    app: Flask, admin: FlaskClient, term: Term, window: WindowView, backend: Backend
) -> None:
    latency.send(backend.redis)  # of the tests before
    backend.redis.delete(*backend.redis.keys(f"{latency.KEY}:*"), "none")
    assert "no student in the last minute" in admin.get(address(term, window)).text
    browser_of(app, "ada").get(f"/terms/{term.id}")
    for seconds in (0.02,) * 190 + (0.6,) * 20:  # that page is one of 211, however long it took
        latency.count(seconds)
    latency.send(backend.redis)
    latency.send(backend.redis)  # nothing is counted twice
    found = latency.answer_times(backend.redis, backend.ledger.now()).last_minute
    assert found
    assert (found.answers, found.p95) == (211, 750)
    page = text(admin.get(address(term, window)).text)
    assert "95th percentile 0.75 s, 99th percentile 0.75 s" in page


def test_parts_of_the_page_are_sent_alone_and_the_page_asks_for_them(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    page, parts = (
        admin.get(address(term, window)).text,
        admin.get(address(term, window, "/figures")).text,
    )
    assert f'data-refresh="{address(term, window, "/figures")}"' in page
    for part in ("alarms", "now", "seats", "answers", "refusals", "room"):
        assert parts.count(f'id="opening-{part}"') == 1
        assert page.count(f'id="opening-{part}"') == 1
    assert "<html" not in parts


def test_page_works_while_postgresql_is_down(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    admin.get(address(term, window))
    with database_outage.away():
        answer = admin.get(address(term, window))
    assert answer.status_code == 200
    assert "PostgreSQL does not respond" in answer.text


# Alarms


def test_alarms_say_what_to_do_and_leave_out_what_does_not_matter(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    page = text(admin.get(address(term, window)).text)
    assert "The queue “Record decisions” has no worker." in page
    assert "Tell the operators to start one." in page
    assert "The queue “Record decisions” has no worker." in page
    assert "The queue “Notifications” has no worker." not in page


def test_a_term_that_is_not_ready_alarms_before_its_opening(admin: FlaskClient, term: Term) -> None:
    for minutes, said in ((60, False), (10, True)):
        coming = builders.a_coming_window(term, minutes=minutes)
        page = text(admin.get(address(term, coming)).text)
        assert ("The term is not ready for its opening yet." in page) == said


def test_slow_answers_alarm(
    admin: FlaskClient, term: Term, window: WindowView, backend: Backend
) -> None:
    slow = "Pages are slow: the 95th percentile of the response time is over 1 s."
    assert slow not in text(admin.get(address(term, window)).text)
    for _ in range(500):
        latency.count(1.5)
    latency.send(backend.redis)
    page = text(admin.get(address(term, window)).text)
    assert slow in page
    assert "Lower the admissions per minute." in page
    room.advance_all([term.id], slow=True)
    page = text(admin.get(address(term, window)).text)
    assert "Fewer students are admitted until pages are fast again" in page
    assert re.search(r"only 9\d% of the limit is admitted at the moment", page)
    room.set_limits(term.id, window.id, 10, 10, off=True)
    page = text(admin.get(address(term, window)).text)
    assert "Lower the admissions per minute." in page
    assert "of the limit is admitted" not in page


def test_a_paused_line_rings_until_one_press_resumes_it(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    room.set_limits(term.id, window.id, 60, 5, off=False)
    assert press(admin, address(term, window, "/pause")).status_code == 303
    figures.forget()
    for page in ("/admin/operations", address(term, window)):
        found = text(admin.get(page).text)
        assert "<span data-rings>Max paused the waiting room of" in found
        assert 'id="bell"' in found
    seen = re.search(r'name="seen" value="([^"]*)"', admin.get(address(term, window)).text)
    assert seen
    form, resume = {"seen": seen[1]}, address(term, window, "/resume")
    assert [admin.post(resume, data=form).status_code for _ in range(2)] == [303, 303]
    assert limits(term, window) == (60, 5)
    figures.forget()
    assert "data-rings" not in admin.get("/admin/operations").text


# The rehearsal's advice


def test_missing_rehearsal_is_shown(admin: FlaskClient, term: Term, window: WindowView) -> None:
    page = text(admin.get(address(term, window)).text)
    assert "No rehearsal has been run on this portal yet." in page
    assert address(term, window, "/advice") not in page
    assert admin.get(address(term, window, "/advice")).status_code == 409


def test_advice_stands_beside_the_limits_with_date_and_machine(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    a_rehearsal()
    page = text(admin.get(address(term, window)).text)
    assert "240 per minute, 3,600 at once" in page
    assert "on crowd-1 (8 cores)" in page
    assert "Web processes: 1. With these limits they admit 1,200 students within 5 min." in page
    assert "days old" not in page


@pytest.mark.parametrize(
    ("rehearsal", "doubt"),
    [
        ({"days": 31}, "It is 31 days old. Rehearse again before the opening."),
        ({"stopped": True}, "Someone stopped it early."),
        ({"advice": ADVICE | {"limit": "none"}}, "It is an estimate"),
        ({"advice": None}, "None: no student was admitted in time."),
    ],
)
def test_doubts_about_a_rehearsal_are_shown(
    admin: FlaskClient, term: Term, window: WindowView, rehearsal: Any, doubt: str
) -> None:
    a_rehearsal(**rehearsal)
    assert doubt in text(admin.get(address(term, window)).text)


def test_advice_is_used_and_set_back(admin: FlaskClient, term: Term, window: WindowView) -> None:
    room.set_limits(term.id, window.id, 60, 5, off=False)
    a_rehearsal()
    page = text(admin.get(address(term, window, "/advice")).text)
    assert "60 per minute, 5 at once" in page
    assert "Rehearsal of " in page
    assert press(admin, address(term, window, "/advice")).status_code == 303
    assert limits(term, window) == (240, 3600)
    page = text(admin.get(address(term, window)).text)
    assert "60 per minute, 5 at once" in page
    assert "Changed by Max" in page
    assert address(term, window, "/advice") not in page  # they are in use
    assert press(admin, address(term, window, "/back")).status_code == 303
    assert limits(term, window) == (60, 5)
    changes = entries("room.limits")
    assert [each.after and each.after["per_minute"] for each in changes] == [240, 60]
    assert {each.reason for each in changes} == {"As rehearsed."}


def test_form_with_older_advice_or_older_limits_is_refused(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    room.set_limits(term.id, window.id, 60, 5, off=False)
    a_rehearsal()
    for more in ({"to": "241 3600 0"}, {"seen": "61 5 0"}):
        answer = press(admin, address(term, window, "/advice"), **more)
        assert answer.status_code == 409
        assert "The limits have changed." in answer.text
    assert press(admin, address(term, window, "/advice"), to="x").status_code == 400
    assert limits(term, window) == (60, 5)


def test_form_sent_twice_sets_the_advice_once(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    room.set_limits(term.id, window.id, 60, 5, off=False)
    a_rehearsal()
    form = {"seen": "60 5 0", "to": "240 3600 0", "reason": "As rehearsed."}
    page = address(term, window, "/advice")
    assert [admin.post(page, data=form).status_code for _ in range(2)] == [303, 303]
    with transaction() as session:
        found = select(func.count()).where(AuditEntry.action == "room.limits")
        assert session.scalar(found) == 1


def test_advice_never_resumes_a_paused_line(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    room.set_limits(term.id, window.id, 0, 5, off=False)
    a_rehearsal()
    page = address(term, window, "/advice")
    assert page not in admin.get(address(term, window)).text
    assert admin.get(page).status_code == 409
    form = {"seen": "0 5 0", "to": "240 3600 0", "reason": "As rehearsed."}
    assert admin.post(page, data=form).status_code == 409
    assert limits(term, window) == (0, 5)
