"""A job that fails is tried again, and given up after its second failure: kept, and told of."""

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from click.testing import CliRunner, Result
from flask.testing import FlaskClient
from rq import Queue, Worker
from rq.serializers import JSONSerializer
from rq.worker import BaseWorker

from portal.backend import Backend
from portal.cli import main
from portal.ops import dead
from portal.ops.dead import DeadLetter, Watch
from portal.record.wake import wake
from tests import cast
from tests.record.processes import caught_up, ready, recorded, running, wait_for
from tests.record.rush import Rush, a_rush

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


@pytest.fixture
def poisoned(backend: Backend) -> Rush:
    """A term in whose journal there is something that nobody can read."""
    rush = a_rush(sections=1, students=1)
    backend.redis.xadd(journal(rush), {"event": "nonsense"}, id=f"{seq(backend, rush) + 1}-0")
    return rush


@pytest.fixture
def given_up(backend: Backend, poisoned: Rush) -> DeadLetter:
    """A job about it as a worker leaves it behind after its second failure."""
    wake(poisoned.term, ["record"])
    queue = Queue("record", connection=backend.redis, serializer=JSONSerializer)
    (job,) = queue.jobs
    queue.remove(job)
    job.retries_left = 0
    with backend.redis.pipeline() as pipe:
        trace = "Traceback (most recent call last):\n  in drain\nValueError: poison\n"
        job._handle_failure(trace, pipe)  # noqa: SLF001 - as the worker does
        pipe.execute()
    (letter,) = dead.letters(backend.redis)
    return letter


def journal(rush: Rush) -> str:
    return f"{{t:{rush.term}}}:journal"


def seq(backend: Backend, rush: Rush) -> int:
    return int(backend.redis.get(f"{{t:{rush.term}}}:seq") or 0)  # type: ignore[arg-type]


def tries(worker: BaseWorker) -> int:
    """How many jobs of the worker have failed."""
    worker.refresh()
    return int(worker.failed_job_count)


def heal(backend: Backend, rush: Rush) -> None:
    backend.redis.xdel(journal(rush), f"{seq(backend, rush) + 1}-0")


def waiting(backend: Backend) -> int:
    """How many jobs wait for a recorder, now or for their second try."""
    queue = Queue("record", connection=backend.redis)
    return int(queue.count) + len(queue.scheduled_job_registry.get_job_ids())


def jobs(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["jobs", *arguments])


def test_the_second_failure_is_the_last_and_others_are_served_meanwhile(
    backend: Backend, poisoned: Rush
) -> None:
    other = cast.a_term("Spring 2031")
    cast.an_open_window(other)
    with running(("worker", "record"), ("clock",)):
        ready("record")
        wake(poisoned.term, ["record"])
        wake(other.id, ["record"])
        wait_for(lambda: recorded(other.id) and caught_up(other.id))
        wait_for(lambda: dead.counts(backend.redis)["record"])
        (worker,) = Worker.all(connection=backend.redis)
        wait_for(lambda: tries(worker) == 2)
        assert waiting(backend) == 0
    (letter,) = dead.letters(backend.redis)
    assert (letter.queue, letter.term) == ("record", str(poisoned.term))
    assert "JSONDecodeError" in letter.error
    assert "in drain" in letter.trace


def test_what_was_given_up_is_left_alone_for_a_while(
    backend: Backend, given_up: DeadLetter, poisoned: Rush
) -> None:
    wake(poisoned.term, ["record"])
    assert waiting(backend) == 0
    rested = time.time() + dead.KEPT - 61
    backend.redis.zadd("rq:failed:record", {given_up.id: rested})
    wake(poisoned.term, ["record"])
    assert waiting(backend) == 1


def test_what_waits_for_its_second_try_is_not_called_for_again(
    backend: Backend, poisoned: Rush
) -> None:
    with running(("worker", "record")):
        ready("record")
        wake(poisoned.term, ["record"])
        wait_for(lambda: backend.redis.zcard("rq:scheduled:record"))
        wake(poisoned.term, ["record"])
        assert waiting(backend) == 1


def test_a_part_that_is_away_is_no_failure(backend: Backend) -> None:
    rush = a_rush(sections=1, students=1)
    with a_worker_without_postgresql():
        wake(rush.term, ["record"])
        wait_for(lambda: waiting(backend) == 0)
        wait_for(lambda: finished(backend))
    assert sum(dead.counts(backend.redis).values()) == 0
    assert waiting(backend) == 0


@contextmanager
def a_worker_without_postgresql() -> Iterator[None]:
    kept = os.environ["DATABASE_URL"]
    os.environ["DATABASE_URL"] = NOWHERE
    try:
        with running(("worker", "record")):
            os.environ["DATABASE_URL"] = kept
            ready("record")
            yield
    finally:
        os.environ["DATABASE_URL"] = kept


def finished(backend: Backend) -> bool:
    """Whether a worker has done a job and has none in hand."""
    (worker,) = Worker.all(connection=backend.redis)
    return worker.successful_job_count == 1 and worker.get_state() == "idle"


# The alarm


def alarms(caplog: pytest.LogCaptureFixture) -> list[str]:
    records = [each for each in caplog.records if each.name == "fairseat.alarm"]
    assert all(each.levelno == logging.CRITICAL for each in records)
    return [each.getMessage() for each in records]


def test_it_raises_an_alarm_once(
    backend: Backend, given_up: DeadLetter, caplog: pytest.LogCaptureFixture
) -> None:
    watch = Watch(backend.redis)
    for _ in range(3):
        watch.look()
    (alarm,) = alarms(caplog)
    assert alarm.startswith("ALARM dead-letter: ")
    assert given_up.id in alarm
    assert "ValueError: poison" in alarm


def test_the_latest_of_a_term_speaks_for_those_before_it(
    backend: Backend, given_up: DeadLetter, poisoned: Rush, caplog: pytest.LogCaptureFixture
) -> None:
    watch = Watch(backend.redis)
    watch.look()
    backend.redis.zadd("rq:failed:record", {given_up.id: time.time() + dead.KEPT - 61})
    with running(("worker", "record"), ("clock",)):
        ready("record")
        wake(poisoned.term, ["record"])
        wait_for(lambda: dead.letters(backend.redis)[-1].id != given_up.id)
    watch.look()
    (letter,) = dead.letters(backend.redis)
    assert [letter.id in alarm for alarm in alarms(caplog)] == [False, True]


def test_health_counts_them(client: FlaskClient, given_up: DeadLetter) -> None:
    assert given_up
    said = client.get("/health").json
    assert said
    assert said["dead_letters"] == {"record": 1, "promote": 0, "maintain": 0, "notify": 0}


# fairseat jobs


def test_it_says_that_there_is_none(backend: Backend) -> None:  # noqa: ARG001
    said = jobs()
    assert (said.exit_code, said.stdout) == (0, "")
    assert "No job has been given up." in said.stderr


def test_it_lists_each_with_its_error(given_up: DeadLetter) -> None:
    said = jobs()
    assert said.exit_code == 1
    assert f"{given_up.id}  {given_up.died_at:%Y-%m-%d %H:%M}  record" in said.stdout
    assert "    ValueError: poison\n" in said.stdout
    assert "Traceback" not in said.stdout
    assert "Traceback" in jobs(given_up.id).stdout


def test_it_has_them_tried_again(backend: Backend, given_up: DeadLetter, poisoned: Rush) -> None:
    heal(backend, poisoned)
    assert jobs(given_up.id, "--retry").exit_code == 0
    assert (waiting(backend), jobs().exit_code) == (1, 0)
    with running(("worker", "record")):
        wait_for(lambda: caught_up(poisoned.term))
        wait_for(lambda: not backend.redis.exists(f"rq:job:{given_up.id}"))
    assert jobs().exit_code == 0


def test_what_is_tried_again_has_two_tries(backend: Backend, given_up: DeadLetter) -> None:
    assert jobs("--retry").exit_code == 0
    (job,) = Queue("record", connection=backend.redis, serializer=JSONSerializer).jobs
    assert (job.id, job.retries_left) == (given_up.id, 1)


def test_it_forgets_them(backend: Backend, given_up: DeadLetter) -> None:
    assert jobs(given_up.id, "--discard").exit_code == 0
    assert not backend.redis.exists(f"rq:job:{given_up.id}", "rq:failed:record")
    assert jobs().exit_code == 0


@pytest.mark.usefixtures("backend")
def test_it_knows_no_other_id_and_does_one_thing_at_a_time() -> None:
    assert "There is no 7-x" in jobs("7-x").stderr
    assert jobs("--retry", "--discard").exit_code == 2
