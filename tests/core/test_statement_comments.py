"""What PostgreSQL shows of a statement names the route or the job, and the correlation id."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from threading import Thread
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from rq import Queue
from sqlalchemy import Engine, text
from werkzeug.test import TestResponse

from portal.backend import Backend, backend
from portal.core.correlation import following
from portal.core.db import read_only
from tests.cast import Cast
from tests.notifications.stories import a_story
from tests.recorder.processes import ready, running, wait_for
from tests.recorder.test_kill import busy
from tests.web.pages import press
from tests.web.visitors import browser_of

WAITING = text(
    "SELECT query FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@contextmanager
def locked(owner: Engine, table: str) -> Iterator[None]:
    """Every statement about the table waits."""
    with owner.begin() as connection:
        connection.execute(text(f"LOCK {table} IN ACCESS EXCLUSIVE MODE"))
        yield


def waiting() -> str:
    """Return the statements that wait for a lock, as PostgreSQL shows them."""
    with read_only() as connection:
        return "\n".join(connection.scalars(WAITING))


def asked(owner: Engine, table: str, ask: Callable[[], TestResponse], sign: str) -> tuple[str, str]:
    """Return the statements that wait for the table during a request, and the request's code."""
    answers: list[TestResponse] = []
    with locked(owner, table):
        asking = Thread(target=lambda: answers.append(ask()))
        asking.start()
        wait_for(lambda: sign in waiting())
        seen = waiting()
    asking.join()
    return seen, answers[0].headers["X-Correlation-Id"]


def test_a_statement_of_a_request_names_its_route(
    client: FlaskClient, cast: Cast, owner: Engine
) -> None:
    form = {"username": cast.ada.number, "password": "no"}
    seen, code = asked(owner, "accounts", lambda: client.post("/login", data=form), "route='")
    assert seen.endswith(f"/*correlation='{code}',route='%2Flogin'*/")


def test_a_route_with_parameters_is_url_encoded(client: FlaskClient, owner: Engine) -> None:
    address = f"/calendar/1-{'x' * 43}.ics"
    seen, code = asked(owner, "calendar_feeds", lambda: client.get(address), "route='")
    assert seen.endswith(f"/*correlation='{code}',route='%2Fcalendar%2F%3Csecret%3E.ics'*/")


def test_a_statement_of_a_job_names_its_function_and_the_request_that_enqueued_it(
    app: Flask, cast: Cast, owner: Engine
) -> None:
    story = a_story(cast)
    story.record()  # so that the claim wakes the recorder
    ada = browser_of(app, "ada")
    with running(("worker", "record")):
        ready("record")
        # Until it has done what was enqueued before, the claim enqueues nothing.
        wait_for(lambda: not Queue("record", connection=backend().redis).count)
        wait_for(lambda: not busy(backend()))
        with locked(owner, "stored_answers"):
            answer = press(ada, story.section, "pick")
            wait_for(lambda: "job='" in waiting())
            code = answer.headers["X-Correlation-Id"]
            assert waiting().endswith(f"/*correlation='{code}',job='jobs.record.drain'*/")


def test_another_statement_names_its_process(backend: Backend, owner: Engine) -> None:  # noqa: ARG001
    with locked(owner, "checkpoints"), running(("scheduler",)):
        wait_for(lambda: waiting().endswith("/*process='scheduler'*/"))


ODD = {"code": "*/ SELECT '%s'", "job": "jobs.%(x)s<int:term>"}
ENCODED = "/*correlation='%2A%2F%20SELECT%20%27%25s%27',job='jobs.%25%28x%29s%3Cint%3Aterm%3E'*/"


@pytest.mark.usefixtures("backend")
def test_names_of_parameters_stay_and_nothing_can_end_the_comment() -> None:
    with following(**ODD), read_only() as connection:
        found = connection.execute(text("SELECT :x AS x, '5%' AS y, current_query()"), {"x": 7})
        assert tuple(found.one())[:2] == (7, "5%")
        found = connection.execute(text("SELECT '5%' AS y, current_query()")).one()
    assert found.y == "5%"
    assert found.current_query.endswith(ENCODED)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("given", [None, (), {}, (7,), {"x": 7}])
def test_the_comment_is_the_same_with_parameters_and_without(given: Any) -> None:
    place = "%(x)s" if isinstance(given, dict) else "%s"
    with following(**ODD), read_only() as connection, connection.connection.cursor() as cursor:
        cursor.execute(f"SELECT {place if given else 7}, current_query()", given)
        value, query = cursor.fetchone()
    assert value == 7
    assert query.endswith(ENCODED)


@pytest.mark.usefixtures("backend")
def test_copying_and_statements_with_many_sets_of_parameters_are_commented() -> None:
    copied = StringIO()
    with following(**ODD), read_only() as connection, connection.connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE queries (number integer, query text)")
        cursor.executemany("INSERT INTO queries VALUES (%s, current_query())", [(1,), (2,)])
        cursor.copy_expert("COPY (SELECT query FROM queries) TO STDOUT", copied)
        cursor.copy_expert("COPY (SELECT current_query()) TO STDOUT", copied)
    lines = copied.getvalue().splitlines()
    assert len(lines) == 3
    assert all(line.endswith(ENCODED) for line in lines)
