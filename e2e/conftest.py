"""One portal and one browser for all stories; each story has a term and windows of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Browser, StorageState, expect, sync_playwright

from e2e import campus as places
from e2e.browser import ARGUMENTS, find
from e2e.campus import Campus
from e2e.courses import a_course
from e2e.person import PATIENCE, Meet, Person
from e2e.portal import Running, running
from e2e.sessions import session, zone_of
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Cast

NUMBERS = count(1)
TIMEOUT = PATIENCE * 1000  # ms for what a page is to show or do

expect.set_options(timeout=TIMEOUT)


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("portal") / "var") as portal:
        yield portal
        portal.audit()
        portal.audit_stories()


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
def session_of(portal: Running, browser: Browser, cast: Cast) -> Callable[..., StorageState]:  # noqa: ARG001
    """The session of someone who has logged in, and has `proven` to be no robot."""
    begin = cache(partial(session, browser, portal.address, zone=zone_of(browser)))
    for username in ("ada", "ben", "cleo"):
        begin(username, proven=True)  # now, as later the countdown of a story runs
    return begin


@pytest.fixture(autouse=True)
def rested(portal: Running) -> None:
    """Clear the rate limits of decisions that earlier stories used up."""
    redis = portal.backend.redis
    for pattern in ("limit:*", "*:rate:*"):
        for meter in redis.scan_iter(pattern, count=10_000):
            redis.delete(meter)


@pytest.fixture(autouse=True)
def story(portal: Running, cast: Cast) -> Iterator[None]:  # noqa: ARG001
    """Only the terms of a story and of the campus are there meanwhile."""
    with portal.story():
        yield


@contextmanager
def meeting(
    portal: Running, browser: Browser, session_of: Callable[..., StorageState]
) -> Iterator[Meet]:
    """Give what brings someone on screen, logged in; no one's console may show an error."""
    met: list[Person] = []

    def meet_one(username: str = "", *, proven: bool = True, **options: Any) -> Person:
        kept = session_of(username, proven=proven) if username else None
        context = browser.new_context(base_url=portal.address, storage_state=kept, **options)
        context.set_default_timeout(TIMEOUT)
        person = Person(context.new_page())
        met.append(person)
        return person

    yield meet_one
    for person in met:
        person.page.context.close()
    assert not [complaint for person in met for complaint in person.complaints]


@pytest.fixture
def meet(
    portal: Running, browser: Browser, session_of: Callable[..., StorageState]
) -> Iterator[Meet]:
    """Brings someone on screen for the story, in a browser of their own."""
    with meeting(portal, browser, session_of) as meet_one:
        yield meet_one


@pytest.fixture
def term(cast: Cast) -> Term:  # noqa: ARG001
    """A term of its own for the story."""
    return builders.a_term(f"Fall {2030 + next(NUMBERS)}")


@pytest.fixture
def course(term: Term) -> Course:  # noqa: ARG001
    return a_course()


@pytest.fixture
def last_seat(course: Course, term: Term, cast: Cast) -> Section:
    """A section with one seat, which Iris teaches."""
    return builders.a_section(course, term, capacity=1, waitlist=5, instructor=cast.iris)


@pytest.fixture
def section(course: Course, term: Term) -> Section:
    return builders.a_section(course, term, capacity=20)


@pytest.fixture
def others(term: Term) -> list[Section]:
    """Two sections of other courses, with room for everyone."""
    return [builders.a_section(a_course(it), term) for it in ("MAT", "PHY")]
