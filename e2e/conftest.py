"""One portal and one browser for all stories; each story has a term and windows of its own."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Browser, StorageState, sync_playwright

from e2e import campus as places
from e2e.browser import find
from e2e.campus import Campus
from e2e.person import ARGUMENTS, Person
from e2e.portal import Running, running
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Cast

NUMBERS = count(1)


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("portal") / "var") as portal:
        yield portal


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session", autouse=True)
def cast(portal: Running) -> Cast:  # noqa: ARG001
    return builders.assemble()


@pytest.fixture(scope="session")
def campus(cast: Cast) -> Campus:
    """What a tour of all pages shows, in terms of its own."""
    return places.campus(cast)


@pytest.fixture(scope="session")
def sessions() -> dict[str, StorageState]:
    """Who has logged in, so that each does so once."""
    return {}


@pytest.fixture
def meet(
    portal: Running, browser: Browser, sessions: dict[str, StorageState]
) -> Iterator[Callable[..., Person]]:
    """Brings someone on screen, logged in; nobody's console may complain."""
    met: list[Person] = []

    def meet_one(username: str = "", **options: Any) -> Person:
        kept = {"base_url": portal.address, "storage_state": sessions.get(username)}
        context = browser.new_context(**kept, **options)
        context.set_default_timeout(10_000)
        person = Person(context.new_page())
        met.append(person)
        if username and username not in sessions:
            person.log_in(username)
            sessions[username] = context.storage_state()
        return person

    yield meet_one
    for person in met:
        person.page.context.close()
    assert not [complaint for person in met for complaint in person.complaints]


@pytest.fixture
def term(cast: Cast) -> Term:  # noqa: ARG001
    """A term of its own for the story."""
    return builders.a_term(f"Fall {2030 + next(NUMBERS)}")


@pytest.fixture
def course(term: Term) -> Course:  # noqa: ARG001
    return builders.a_course(f"CSC-{1000 + next(NUMBERS)}")


@pytest.fixture
def last_seat(course: Course, term: Term, cast: Cast) -> Section:
    """A section with one seat, which Iris teaches."""
    return builders.a_section(course, term, capacity=1, waitlist=5, teacher=cast.iris)


@pytest.fixture
def section(course: Course, term: Term) -> Section:
    return builders.a_section(course, term, capacity=20)
