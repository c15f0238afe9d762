"""While the ledger is away every page is read from PostgreSQL, or says when to come back."""

import pytest
from flask import Flask

from portal.backend import Backend
from portal.recorder.recorder import drain
from tests.cast import Cast
from tests.web.all_pages import Values, a_story, pages_of
from tests.web.ledger_outage import SAID, ledger_away
from tests.web.visitors import browser_of

# Decisions, likely refusals, the waiting room and its order, and parts of open pages.
WAITING = {
    *(f"student.{name}" for name in ("ask_plan", "drop", "leave", "pick", "swap", "swaps")),
    *("student.plan_panel", "student.room", "student.ask_to_leave_room"),
    *("student.show_order", "student.order_file", "student.draw_file"),
    *("admin.waiting_room.name_public_value", "admin.waiting_room.enter_public_value"),
    *("admin.windows.change", "admin.waiting_room.act_on", "admin.sections.change_status"),
    *("admin.waiting_room.show", "admin.waiting_room.figures"),
    *(f"admin.room_students.{name}" for name in ("let_in", "expire", "empty")),
}
# Read from PostgreSQL in place of the ledger, so that they must say so.
RECORDED = {
    *("student.term", "student.section", "student.mine", "student.plan", "student.schedule"),
    "student.stage",
    *("instructor.teaching", "instructor.section", "instructor.requests.index"),
    "instructor.requests.ask_seats",
    *("admin.terms.index", "admin.terms.now", "admin.sections.index", "admin.sections.show"),
    *("admin.results.show", "admin.underfilled.index", "admin.students.show"),
    *("admin.requests.index", "admin.requests.show"),
    *("admin.window_reports.show", "admin.window_reports.show_fairness"),
    *("admin.term_editing.copy_windows", "admin.bulk_edit.index"),
}


@pytest.fixture
def story(app: Flask, cast: Cast) -> Values:
    """Everything has happened, and all of it is recorded."""
    result = a_story(app, cast)
    for term in result["term_id"]:
        drain(term)
    return result


# Each address belongs to the longest of these that it begins with.
ROOMS = ("/", "/terms/", "/teaching", "/admin", "/admin/terms/")
WALKS = {
    "ada": ("/", "/terms/"),
    "iris": ("/", "/teaching"),
    "max": ("/", "/admin", "/admin/terms/"),
}


def room_of(address: str) -> str:
    return max((each for each in ROOMS if address.startswith(each)), key=len)


def endpoint(app: Flask, address: str) -> str:
    return str(app.url_map.bind("localhost").match(address)[0])


@pytest.mark.parametrize("username", WALKS)
def test_reads_work_and_decisions_ask_to_retry_without_the_ledger(
    app: Flask, backend: Backend, story: Values, username: str
) -> None:
    client = browser_of(app, username)
    visited = [each for each in pages_of(app, story, username) if room_of(each) in WALKS[username]]
    before = {each: client.get(each).status_code for each in visited}
    assert 200 in before.values()
    with ledger_away(backend):
        for address, status in before.items():
            answer, name = client.get(address), endpoint(app, address)
            if answer.status_code == 503:
                assert status != 200 or name in WAITING, address
                assert answer.headers["Retry-After"], address
            else:
                assert answer.status_code == status, address
            if status == 200 and name not in WAITING:
                assert (SAID.encode() in answer.data) == (name in RECORDED), address
