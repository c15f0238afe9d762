"""What PostgreSQL shows of a statement names the route or the job, and the correlation id."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, text

from portal.backend import Backend
from portal.core.correlation import following
from portal.core.db import read_only
from portal.core.queue import enqueue
from tests.cast import Cast
from tests.notifications.stories import a_story
from tests.recorder.processes import ready, running, wait_for

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


def test_a_statement_of_a_request_names_its_route(
    client: FlaskClient, cast: Cast, owner: Engine
) -> None:
    answers: list[Any] = []

    def log_in() -> None:
        answers.append(client.post("/login", data={"username": cast.ada.number, "password": "no"}))

    with locked(owner, "accounts"):
        asking = Thread(target=log_in)
        asking.start()
        wait_for(lambda: "route='/login'" in waiting())
        seen = waiting()
    asking.join()
    code = answers[0].headers["X-Correlation-Id"]
    assert seen.endswith(f"/*correlation='{code}',route='/login'*/")


def test_a_statement_of_a_job_names_its_function(cast: Cast, owner: Engine) -> None:
    story = a_story(cast)
    with running(("worker", "record")):
        ready("record")
        with locked(owner, "events"):
            story.claim(cast.ada)
            enqueue(story.term.id, ["record"])
            wait_for(lambda: "job='jobs.record.drain'*/" in waiting())


def test_another_statement_names_its_process(backend: Backend, owner: Engine) -> None:  # noqa: ARG001
    with locked(owner, "checkpoints"), running(("scheduler",)):
        wait_for(lambda: waiting().endswith("/*process='scheduler'*/"))


@pytest.mark.usefixtures("backend")
def test_names_of_parameters_stay_and_nothing_can_end_the_comment() -> None:
    with following("*/ SELECT '%s'", job="jobs.%(x)s<int:term>"), read_only() as connection:
        found = connection.execute(text("SELECT :x AS x, current_query()"), {"x": 7}).one()
    assert found.x == 7
    assert found.current_query.endswith("/*correlation='_/_SELECT___s_',job='jobs.__x_s:term'*/")
