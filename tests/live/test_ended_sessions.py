"""Sessions that end and roles that change: every process and open page knows it at once."""

from collections.abc import Iterator
from pathlib import Path
from time import time

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.applications import service
from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.live.publish import sessions_ended
from portal.people import caches, visitors
from portal.people.models import Account, Student
from portal.web.http.sessions import LONGEST
from tests import cast as builders
from tests.applications.stories import a_visiting_application, decider
from tests.cast import Cast
from tests.live.conftest import Open
from tests.live.nodes import Node, a_node
from tests.live.tabs import Tab
from tests.live.test_slow_pages import until
from tests.web.visitors import browser_of

REFUSED, RESTART = 1008, 1012


@pytest.mark.usefixtures("hub")
def test_a_process_without_pages_gets_it(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches._seen, "seconds", 3600)  # noqa: SLF001  so that it does not look
    account = cast.ada.account_id or 0
    session = visitors.find(account).get_id()
    assert visitors.from_session(session)
    with transaction() as db:
        changed = update(Account).where(Account.id == account)
        db.execute(changed.values(session_epoch=Account.session_epoch + 1))

    def over() -> bool:
        sessions_ended(account)  # the hub may still be on its way to the ledger
        return visitors.from_session(session) is None

    until(over)


@pytest.fixture(scope="module")
def checking(connected: Backend, logs: Path) -> Iterator[Node]:  # noqa: ARG001
    """Return a web server that checks the session of each page every second."""
    with a_node(logs, app="tests.live.frequent_checks:app") as node:
        yield node


def cookie_of(client: FlaskClient) -> str:
    stored = client.get_cookie("fairseat")
    assert stored
    return f"fairseat={stored.value}"


def answers(tab: Tab) -> bool:
    """Return whether the page is still connected."""
    before = len(tab.frames)
    tab.client.send("{}")
    return bool(tab.hear(lambda tab: len(tab.frames) > before))


def test_logout_closes_the_open_pages_of_the_account_at_once(
    application: Flask, cast: Cast, open_tab: Open
) -> None:
    client = browser_of(application, "ada")
    page, other = open_tab(None, Cookie=cookie_of(client)), open_tab(cast.ben.account_id)
    assert answers(page)
    assert answers(other)
    client.post("/logout")
    assert page.closed() == REFUSED
    assert answers(other)


def test_open_page_ends_twelve_hours_after_the_login(
    application: Flask, cast: Cast, open_tab: Open, checking: Node
) -> None:
    old, new = browser_of(application, "ada"), browser_of(application, "ada")
    with old.session_transaction() as stored:
        stored["since"] = time() - LONGEST.total_seconds() + 5
    page, other = (open_tab(None, checking, Cookie=cookie_of(each)) for each in (old, new))
    assert page.closed() == REFUSED
    assert answers(other)
    assert cast.ada


def test_open_page_ends_with_its_session_though_no_message_came(
    application: Flask, cast: Cast, open_tab: Open, checking: Node
) -> None:
    ended, other = (browser_of(application, "ada") for _ in range(2))
    page, open_page = (open_tab(None, checking, Cookie=cookie_of(each)) for each in (ended, other))
    assert answers(page)
    with ended.session_transaction() as stored, transaction() as db:
        names = {stored["is"]: time() + 3600}
        changed = update(Account).where(Account.id == cast.ada.account_id)
        db.execute(changed.values(ended_sessions=names))
    assert page.closed() == REFUSED
    assert answers(open_page)


def test_open_page_of_someone_who_becomes_a_student_connects_again_and_shows_seats(
    cast: Cast, open_tab: Open, term: Term, section: Section
) -> None:
    vera = builders.an_account("vera", email="vera@example.org")
    made = a_visiting_application(vera, term.id, courses="CSC 1100")
    page = open_tab(vera.id)
    assert answers(page)
    mia = builders.an_account("mia", is_admin=True)
    for admin in (cast.max, mia):  # two stages need two people
        service.approve(made, decider(made, admin.id))
    assert page.closed() == REFUSED
    again = open_tab(vera.id)
    again.ask(term.id, [section.id])
    again.shows(section.id, 2)


@pytest.mark.usefixtures("cast")
def test_open_page_connects_again_when_a_role_is_new_though_no_message_came(
    open_tab: Open, checking: Node
) -> None:
    vera = builders.an_account("vera")
    page = open_tab(vera.id, checking)
    assert answers(page)
    builders.added(Student(account_id=vera.id, number="V1"))
    assert page.closed() == RESTART
