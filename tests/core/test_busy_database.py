"""PostgreSQL is there, but many ask at once: what is read for them, and what they are told."""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError

from portal.backend import Backend
from portal.core import cache, db, logs
from portal.core.outage import postgresql
from portal.notifications import inbox
from portal.people import student_profile, visitors
from tests.cast import a_student
from tests.recorder.processes import wait_for
from tests.web.visitors import browser_of

MANY = 60
POOL = 20


@pytest.fixture
def pool(backend: Backend) -> Iterator[Engine]:
    """The engine of this process with its usual pool, all of it free."""
    logs.forget()
    yield db.connect(backend.settings.database_url)
    db.connect(backend.settings.database_url)


@pytest.fixture
def most(pool: Engine) -> Iterator[list[int]]:
    """How many connections were taken, noted whenever one more is."""
    taken: list[int] = []

    def note(*_: object) -> None:
        taken.append(pool.pool.checkedout())  # type: ignore[attr-defined]

    event.listen(pool, "checkout", note)
    yield taken
    event.remove(pool, "checkout", note)


@pytest.fixture
def browsers(app: Flask) -> list[FlaskClient]:
    """Students who have logged in."""
    names = [f"visitor{number}" for number in range(5)]
    for name in names:
        a_student(name)
    return [browser_of(app, name) for name in names]


@pytest.fixture
def full(pool: Engine, browsers: list[FlaskClient]) -> Iterator[ExitStack]:
    """Every connection of the pool is taken, until this is closed."""
    assert browsers
    with ExitStack() as held:
        take_all(pool, held)
        yield held


def take_all(pool: Engine, held: ExitStack) -> None:
    """Take every connection, until `held` is closed."""
    for _ in range(POOL):
        held.enter_context(pool.connect())


def together(ask: Callable[[Any], Any], whom: Sequence[Any]) -> list[Any]:
    """What comes of asking all of them at the same moment."""
    start = Barrier(len(whom))

    def one(each: Any) -> Any:
        start.wait()
        return ask(each)

    with ThreadPoolExecutor(len(whom)) as many:
        return list(many.map(one, whom))


@pytest.fixture
def people(backend: Backend) -> list[tuple[int, int]]:  # noqa: ARG001
    """Accounts and the students who they are; nothing is remembered of any."""
    made = [a_student(f"student{number}") for number in range(MANY)]
    visitors._visitors.clear()  # noqa: SLF001
    student_profile._profiles.clear()  # noqa: SLF001
    inbox._boxes.clear()  # noqa: SLF001
    return [(each.account_id, each.id) for each in made]


def test_a_cold_cache_reads_many_people_over_a_few_connections(
    people: list[tuple[int, int]], most: list[int]
) -> None:
    found = together(visitors.find, [account for account, _ in people])
    assert [each.student_id for each in found] == [student for _, student in people]
    profiles = together(student_profile.profile, [student for _, student in people])
    assert [each.student for each in profiles] == [student for _, student in people]
    assert {each.unread for each in together(inbox.unread, [account for account, _ in people])} == {
        0
    }
    # Threads that look for changes take one or two more.
    assert max(most) <= cache.AT_ONCE + 2


def test_whoever_is_not_there_is_not_found_among_many_either(
    people: list[tuple[int, int]],
) -> None:
    nobody = max(student for _, student in people) + 1
    found = together(_or_error, [student for _, student in people] + [nobody])
    assert isinstance(found.pop(), LookupError)
    assert [each.student for each in found] == [student for _, student in people]


def _or_error(student: int) -> Any:
    try:
        return student_profile.profile(student)
    except LookupError as error:
        return error


@pytest.mark.usefixtures("full")
def test_who_finds_all_connections_taken_reads_that_and_when_to_come_back(
    browsers: list[FlaskClient], caplog: pytest.LogCaptureFixture
) -> None:
    pages = together(lambda browser: browser.get("/account"), browsers)
    assert {page.status_code for page in pages} == {503}
    assert {page.headers["Retry-After"] for page in pages} == {"10"}
    assert all("Too many requests at once" in page.text for page in pages)
    assert not postgresql.away, "whoever is answered later takes it for an outage"
    said = [record.getMessage() for record in caplog.records]
    assert [line for line in said if "away" in line] == []
    assert (
        len([line for line in said if "All connections to PostgreSQL are in use: Queue" in line])
        == 1
    )


@pytest.mark.usefixtures("full")
def test_a_program_gets_the_same_as_problem_details(browsers: list[FlaskClient]) -> None:
    visitors._visitors.clear()  # noqa: SLF001
    answer = browsers[0].get("/api/v1/me")
    assert (answer.status_code, answer.mimetype) == (503, "application/problem+json")
    assert answer.headers["Retry-After"] == "10"
    assert answer.json["title"] == "Too many requests at once"
    assert not postgresql.away


def test_what_is_known_is_shown_while_all_connections_are_taken(
    people: list[tuple[int, int]], pool: Engine
) -> None:
    account, _ = people[0]
    known = visitors.find(account)
    visitors.doubt(account)
    with ExitStack() as held:
        take_all(pool, held)
        assert visitors.find(account) == known


def test_a_server_that_takes_no_more_connections_is_crowded_not_away() -> None:
    refused = Exception("FATAL:  sorry, too many clients already")
    assert db.crowded(OperationalError("SELECT 1", {}, refused))
    assert not db.crowded(OperationalError("SELECT 1", {}, Exception("Connection refused")))


def test_warnings_of_one_cause_make_one_line_and_a_count(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "SECONDS", 0.5)
    logs.forget()
    log = logging.getLogger("portal.tests")
    for number in range(5):
        logs.warn(log, "It failed", number)
    logs.warn(log, "Another failed", "!")
    assert [each.getMessage() for each in caplog.records] == ["It failed: 0", "Another failed: !"]
    wait_for(lambda: "It failed: 4 more like it" in caplog.text)
    logs.warn(log, "It failed", "once more")
    assert "It failed: once more" in caplog.text
